"""Code that executes more since a cut: which it is, and which options may be to blame."""

from collections.abc import Mapping

import pytest

from bootlab.experiments.tailor.grown_code import GrownCode, find_grown, find_suspects
from bootlab.experiments.tailor.kernel_use import Use
from bootlab.experiments.tailor.unused_options import Drop

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


def test_suspects_change_the_function_and_are_worth_less_than_what_grew() -> None:
    """Each is put back as it was, with all that went or came with it; what the object does not mention is not tried."""
    asked = list[dict[str, str]]()

    def length(options: Mapping[str, str]) -> int | None:
        asked.append(dict(options))
        return None if "BROKEN" in options else 400 if options.get("LIBRARY") == "y" else 500

    drops = [
        drop("NET", 100, "IPV6", "LIBRARY"), drop("MAP", 499), drop("PRINTK", 500), drop("OTHER", 3),
        drop("FULL", 9, "NONE", value="y"), drop("BROKEN", 50),
    ]  # fmt: skip
    before = {"NET": "y", "LIBRARY": "y", "IPV6": "m", "NONE": "y", "MAP": "y"}
    reads = {"LIBRARY", "PRINTK", "MAP", "NONE", "BROKEN"}
    found = find_suspects(GROWN, drops, before, reads, length)
    assert (found.suspects, found.uncompiled, found.is_open) == (("NET",), ("BROKEN",), True)
    assert asked == [
        {},
        {"FULL": "n", "NONE": "y"},
        {"BROKEN": "n"},
        {"NET": "y", "IPV6": "m", "LIBRARY": "y"},
        {"MAP": "y"},
    ]
    nothing = "no option of that cut changes the function's length"
    assert find_suspects(GROWN, drops[1:2], before, reads, length).detail == nothing
    one_broken = find_suspects(GROWN, drops[-1:], before, reads, length).detail
    assert one_broken == f"{nothing}; not compiled by itself, so not known: BROKEN"


@pytest.mark.parametrize("now", [None, 0])
def test_an_object_that_does_not_compile_again_blames_nobody(now: int | None) -> None:
    found = find_suspects(GROWN, [drop("NET", 1)], {}, {"NET"}, lambda options: now)
    assert found.suspects == () and "does not compile again" in found.detail and not found.is_open


def test_what_most_of_the_growth_has_left_has_shrunk() -> None:
    assert GROWN.has_shrunk({("mm/init.o", "a"): 1000, ("mm/init.o", "b"): 250, ("a.o", "b"): 9000})
    assert not GROWN.has_shrunk({("mm/init.o", "a"): 1251})
    assert GROWN.has_shrunk({}), "gone"
