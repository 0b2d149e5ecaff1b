"""Tailorings in Markdown."""

from bootlab.experiments.comparing import compare_series
from bootlab.experiments.tailor.grown_code import GrownCode
from bootlab.experiments.tailor.reasons import Needed
from bootlab.experiments.tailor.result import Tried
from bootlab.experiments.tailor.tailored import TailorStep
from bootlab.report.tailor.markdown import tailor_markdown
from tests.report.steps import families, four_systems
from tests.report.tailor.test_reasons import COMPARISON, RESULT, VALUES

STEPS = [
    TailorStep("as it is", 0, 1341, True, "", 343_207_502, 27_314_488, 240.0, False),
    TailorStep("cut 1", 203, 701, False, "check failed: mount | no such device", None, 16_750_512, 90.0, True),
]
TRIED = [
    Tried(
        option=f"OPTION_{number}", value="n", at_once=True, instructions=10_000 - number, by_name=3, by_pointer=1,
        example="call",
    )
    for number in range(9)
]  # fmt: skip


def test_each_kernel_has_its_row_and_what_is_left_is_named() -> None:
    systems = four_systems()
    systems[1] = [one.model_copy(update={"hashes": {**one.hashes, "kernel": "f" * 64}}) for one in systems[1]]
    before, after = families(systems)[:2]
    result = RESULT.model_copy(
        update={
            "steps": STEPS,
            "trials": TRIED,
            "needed": [Needed("PROC_FS", "check failed: mount")],
            "untried": ["SYSFS"],
            "values": VALUES,
            "grown": [
                GrownCode("cut 1", "mm/mm_init.o", "init_page", 784_225, 1_470_361, ("MAP",), "MAP", "MAP: +0.6 ms")
            ],
            "comparison": compare_series(before, after),
        }
    )
    text = tailor_markdown(result, systems[0], systems[1])
    assert text.splitlines()[0] == "| kernel | turned by name | options on | bytes loaded | ms to ready | check |"
    assert "| as it is | 0 | 1,341 | 27,314,488 | 343.21 | passed |" in text
    assert "| cut 1 | 203 | 701 | 16,750,512 | | check failed: mount \\| no such device |" in text
    assert "| turned, 2 of 2 by name; 3 went in all | others with it | bytes | instructions | why |" in text
    assert "| `MULTIUSER=n` | 1 | 1,308,371 | 1,638,771 | given up by name |" in text
    assert "ran (8 of 9) |" in text and "| `OPTION_7=n` | 9,993 | 3 | 1 |" in text and "OPTION_8" not in text
    grown = "| cut 1 | `init_page` in mm/mm_init.o | 784,225 | 1,470,361 | `MAP` | MAP: +0.6 ms |"
    assert grown in text
    assert "| `ROOM=12` | 17 | 0.20 | stays | +0.200 ms saved |" in text
    assert "| `HZ_100=y` | n | | goes | check failed: late |" in text
    flat = text.replace("\n", " ")
    assert "Kept after a try without: PROC_FS: check failed: mount." in flat
    assert "Not tried for want of builds (`--builds`): SYSFS." in flat
    assert "given up by name: MULTIUSER; ready: " in flat
    assert f"kernel {systems[0][0].hashes['kernel'][:12]} to ffffffffffff" in flat
    assert flat.count(systems[0][0].hashes["qemu"][:12]) == 1


def test_a_tailoring_by_price_says_so_and_a_kernel_that_never_was_ready_is_none_faster() -> None:
    boots = four_systems()[0]
    priced = COMPARISON.model_copy(update={"price": "lean", "after_ns": None, "spread_ns": None})
    steps = [TailorStep("as it is", 0, 4, True, "", 9_000_000, 100, 1.0, False, price_ns=2_000_000)]
    text = tailor_markdown(RESULT.model_copy(update={"steps": steps, "comparison": priced}), boots, boots)
    assert "| bytes loaded | price under lean ms | ms to ready |" in text and "| 2.00 | 9.00 |" in text
    assert "price under lean: 2.00 to never" in text.replace("\n", " ")
