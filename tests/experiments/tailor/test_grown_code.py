"""Code that executes more since a cut: which it is, and which options may be to blame."""

from collections.abc import Mapping
from pathlib import Path

from bootlab.experiments.tailor.grown_code import GrownCode, find_grown, find_suspects, put_back
from bootlab.experiments.tailor.kernel_use import Use
from bootlab.experiments.tailor.unused_options import Drop
from tests.build.source.test_option_dependencies import tree

GROWN = GrownCode("cut 1", "mm/init.o", "init_page", 1000, 1500)


def drop(option: str, instructions: int, *lost: str, value: str = "n") -> Drop:
    return Drop(option, lost, (), (), 0, instructions, Use.EARLY, value)


def test_what_grew_by_a_hundredth_of_the_boot_is_found_by_its_object() -> None:
    """A function that another one of its object has taken in did not grow."""
    before = {("mm/init.o", "init_page"): 100, ("mm/init.o", "init"): 50, ("a.o", "outer"): 300, ("a.o", "inner"): 10}
    after = {
        ("mm/init.o", "init_page"): 190, ("mm/init.o", "init"): 60, ("a.o", "inner"): 312, ("new.o", "more"): 500,
        ("b.o", "rest"): 8900,
    }  # fmt: skip
    before[("b.o", "rest")] = 8890
    assert find_grown(before, after, "cut 1") == [GrownCode("cut 1", "mm/init.o", "init_page", 150, 250)]


def test_suspects_change_the_function_and_are_worth_less_than_what_grew(tmp_path: Path) -> None:
    found = tree(tmp_path, "CONFIG_EXPERT=y\nCONFIG_ACPI=y\n# CONFIG_NET is not set\nCONFIG_FULL=y\n")
    asked = list[dict[str, str]]()

    def length(options: Mapping[str, str]) -> int | None:
        asked.append(dict(options))
        return 400 if "NET" in options else 500

    drops = [drop("NET", 100, "IPV6"), drop("IPV6", 499), drop("PRINTK", 500), drop("FULL", 3, value="y")]
    reads = {"NET", "LIBRARY", "PRINTK", "IPV6"}
    suspects = find_suspects(GROWN, drops, found, reads, length)
    assert suspects.suspects == ("NET",)
    # Nobody is asked of IPV6 without the network; what the object does not mention is not compiled.
    assert asked == [{}, {"NET": "y", "LIBRARY": "y"}]


def test_an_option_that_is_on_again_leaves_away_what_had_gone_with_it() -> None:
    drops = (drop("NET", 100, "IPV6", "LIBRARY"), drop("ACPI", 5))
    back = put_back(drops, "NET")
    assert [(one.option, one.value) for one in back] == [("ACPI", "n"), ("IPV6", "n"), ("LIBRARY", "n")]
    assert "NET, which is on again" in back[1].why
    assert put_back((drop("FULL", 1, "NONE", value="y"),), "FULL") == ()
