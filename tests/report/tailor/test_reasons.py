"""Every option of a tailoring as text: a line each."""

from bootlab.experiments.comparing import Comparison
from bootlab.experiments.tailor.reasons import Followed
from bootlab.experiments.tailor.result import Dropped, TailorResult
from bootlab.experiments.tailor.unused_options import Kept
from bootlab.experiments.tailor.values import TriedValue
from bootlab.report.tailor.reasons import reasons
from bootlab.techniques.model.verdict import Verdict

COMPARISON = Comparison(
    before="small", after="small", clock="virtual", before_ns=2_000_000, after_ns=1_000_000, saved_ns=1_000_000,
    spread_ns=1000, verdict=Verdict.SHORTER, detail="+1.000 ms saved", differences=[], phases=[], before_runs=[],
    after_runs=[],
)  # fmt: skip
DROPS = [
    Dropped(
        option="MULTIUSER", value="n", why="given up by name", bytes=1308371, instructions=1638771, objects=[],
        with_it=["AUDIT"], gained=[],
    ),
    Dropped(
        option="NO_TESTS", value="y", why="takes out tests by being on", bytes=5, instructions=7, objects=[],
        with_it=["SELF_TESTS"], gained=[],
    ),
]  # fmt: skip
RESULT = TailorResult(
    system="small", keep=[], give_up=["MULTIUSER"], options_before=4, options_after=2, gained=["NO_TESTS"], builds=2,
    steps=[], dropped=DROPS, followed=[Followed("CRC64", "all that selected it went: DM, MD")],
    kept=[
        Kept("EXT4_FS", "executed: ext4_mount in fs/ext4/super.o", "used"),
        Kept("NO_TESTS", "takes out tests by being on", "turned on"),
    ],
    trials=[], needed=[], untried=[], comparison=COMPARISON, config="tailored.config", reasons="reasons.txt",
    kernel="bzImage", run="runs/0001",
)  # fmt: skip
"""What a tailoring may come to."""


VALUES = [
    TriedValue("ROOM", "12", "17", "stays", 200_000, "+0.200 ms saved"),
    TriedValue("HZ_100", "y", "n", "goes", None, "check failed: late"),
    TriedValue("PORTS", "1", "4", "not tried", None, "no build was left"),
]


def test_a_value_that_was_tried_has_its_line() -> None:
    lines = reasons(RESULT.model_copy(update={"values": VALUES})).splitlines()
    assert [line.split(maxsplit=2) for line in lines if line.startswith("~")] == [
        ["~", "HZ_100=y", "goes, it is n again: check failed: late"],
        ["~", "PORTS=1", "not tried: no build was left"],
        ["~", "ROOM=12", "stays: +0.200 ms saved"],
    ]


def test_each_option_has_its_line() -> None:
    head, *lines = reasons(RESULT).splitlines()
    assert head.startswith("# small: every option")
    assert [line.split(maxsplit=2) for line in lines if not line.startswith("#")] == [
        ["-", "AUDIT", "went with MULTIUSER"],
        ["-", "CRC64", "all that selected it went: DM, MD"],
        ["=", "EXT4_FS", "executed: ext4_mount in fs/ext4/super.o"],
        ["-", "MULTIUSER", "given up by name; 1,308,371 bytes, 1,638,771 instructions"],
        ["+", "NO_TESTS", "turned on: takes out tests by being on"],
        ["-", "SELF_TESTS", "went for NO_TESTS=y"],
    ]
