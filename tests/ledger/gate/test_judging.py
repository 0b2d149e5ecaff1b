"""The gate's rule: what is stopped, what passes, and of what it does not know."""

import random

import pytest

from bootlab.errors import InputError
from bootlab.experiments.verdict import Times
from bootlab.ledger.gate.judging import GateVerdict, Limit, judge_either_way, judge_exact, judge_noisy, parse_limit

MS = 1_000_000


def family(center_ns: int, draw: random.Random, *, fresh: int = 0, nulls: int = 5) -> Times:
    """Return boots of a system that moves by some 0.4 ms for no reason."""
    times = [center_ns + int(draw.gauss(0, 100_000)) for _ in range(3 + nulls + fresh)]
    return Times(times[:3], times[3 : 3 + nulls], times[3 + nulls :])


def answer(change_ns: int, seed: int, limit_ns: int | None = None) -> GateVerdict:
    """Return what a gate says that boots what it wants."""
    draw = random.Random(seed)
    before, after = family(100 * MS, draw), family(100 * MS + change_ns, draw)
    judged = judge_exact(before, after, limit_ns, fresh_before=True)
    while any(judged.wants):
        more = [[100 * MS + int(draw.gauss(0, 100_000)) for _ in range(judged.wants[0])],
                [100 * MS + change_ns + int(draw.gauss(0, 100_000)) for _ in range(judged.wants[1])]]  # fmt: skip
        before = Times(before.seeds, before.null, [*before.fresh, *more[0]])
        after = Times(after.seeds, after.null, [*after.fresh, *more[1]])
        judged = judge_exact(before, after, limit_ns, fresh_before=True)
    return judged.verdict


def test_what_does_nothing_passes() -> None:
    said = [answer(0, seed) for seed in range(2000)]
    assert said.count(GateVerdict.LONGER) == 0
    assert said.count(GateVerdict.CANNOT_SAY) == 0


def test_twice_the_smallest_change_is_stopped_every_time() -> None:
    for seed in range(500):
        draw = random.Random(seed)
        smallest = judge_exact(family(100 * MS, draw), family(100 * MS, draw), None, fresh_before=True).smallest_ns
        assert answer(2 * smallest, seed) is GateVerdict.LONGER


def test_a_limit_below_the_smallest_change_is_no_limit() -> None:
    before = Times([100, 110, 105], [103, 108, 101])
    judged = judge_exact(before, Times([900, 901, 902]), 5, fresh_before=True)
    assert judged.verdict is GateVerdict.CANNOT_SAY
    assert judged.smallest_ns == 40
    assert "below what can be seen" in judged.why


def test_a_side_on_record_is_not_booted_again_so_less_is_seen() -> None:
    draw = random.Random(1)
    before, after = family(100 * MS, draw), family(101 * MS, draw)
    booted, on_record = (judge_exact(before, after, None, fresh_before=fresh) for fresh in (True, False))
    assert booted.smallest_ns * 7 == on_record.smallest_ns * 4
    complete = Times(before.seeds, before.null, family(100 * MS, draw).all)
    assert judge_exact(complete, after, None, fresh_before=False).smallest_ns == booted.smallest_ns


def test_shorter_is_told() -> None:
    assert answer(-3 * MS, 1) is GateVerdict.SHORTER


def test_what_is_longer_by_less_than_it_may_be_passes() -> None:
    assert answer(2 * MS, 1, limit_ns=5 * MS) is GateVerdict.UNCHANGED
    assert answer(8 * MS, 1, limit_ns=5 * MS) is GateVerdict.LONGER


def test_a_system_that_never_moves_has_a_limit_of_its_own() -> None:
    before = Times([100, 100, 100], [100, 100, 100])
    assert (
        judge_exact(before, Times([100, 100, 100], [100, 100]), None, fresh_before=True).verdict
        is GateVerdict.UNCHANGED
    )
    assert (
        judge_exact(before, Times([105, 105, 105], [105, 105]), None, fresh_before=True).verdict is GateVerdict.LONGER
    )


def test_on_a_noisy_clock_an_interval_that_holds_the_limit_is_no_answer() -> None:
    draw = random.Random(3)

    def boots(center_ms: float) -> list[int]:
        return [int((center_ms + draw.gauss(0, 1)) * MS) for _ in range(15)]

    # One in forty is called shorter by chance, as on this clock everywhere.
    assert judge_noisy(boots(100), boots(100.5), 5 * MS).verdict is GateVerdict.UNCHANGED
    assert judge_noisy(boots(100), boots(110), 5 * MS).verdict is GateVerdict.LONGER
    assert judge_noisy(boots(100), boots(80), 5 * MS).verdict is GateVerdict.SHORTER
    near = judge_noisy(boots(100), boots(105), 5 * MS)
    assert near.verdict is GateVerdict.CANNOT_SAY
    assert judge_noisy(boots(100), boots(100), 1).verdict is GateVerdict.CANNOT_SAY
    with pytest.raises(InputError):
        judge_noisy(boots(100)[:4], boots(100), None)


@pytest.mark.parametrize(
    ("words", "limit"),
    [("2ms", Limit(ns=2 * MS)), ("500us", Limit(ns=500_000)), ("0.1s", Limit(ns=100 * MS)), ("7ns", Limit(ns=7)),
     ("1%", Limit(share=0.01))],
)  # fmt: skip
def test_limits(words: str, limit: Limit) -> None:
    assert parse_limit(words) == limit


def test_a_share_is_of_what_it_was() -> None:
    assert Limit(share=0.01).of(100 * MS) == MS
    assert Limit().of(100) is None


@pytest.mark.parametrize(
    "words",
    ["", "2", "ms", "-1ms", "0ms", "nan%", "1e9s", "2 parsecs", "infms", "1_0ms", "\u0663ms",
     "1e400ms", "2ms\n", "2  ms", "1.ms", "9999999s"],
)  # fmt: skip
def test_what_is_no_limit_is_refused(words: str) -> None:
    with pytest.raises(InputError, match="not a time or a share"):
        parse_limit(words)


def test_either_way_a_change_that_gets_a_verdict_counts() -> None:
    before = Times([100, 110, 105], [103, 108, 101])
    for change, verdict in ((500, GateVerdict.LONGER), (-60, GateVerdict.SHORTER), (3, GateVerdict.UNCHANGED)):
        after = Times([one + change for one in before.seeds], [one + change for one in before.null])
        judged = judge_either_way(before, after, None)
        assert (judged.verdict, judged.longer_ns, judged.smallest_ns) == (verdict, change, 40)


def test_either_way_what_is_near_wants_fresh_boots_and_a_limit_leaves_out_what_is_less() -> None:
    before = Times([100, 110, 105], [103, 108, 101])
    near = judge_either_way(before, Times([125, 130, 126]), None)
    assert (near.verdict, near.wants) == (GateVerdict.CANNOT_SAY, (8, 5))
    fresh = Times(before.seeds, before.null, [100, 101, 102, 103, 104, 105, 106, 107])
    for limit, verdict in ((None, GateVerdict.LONGER), (50, GateVerdict.UNCHANGED), (20, GateVerdict.CANNOT_SAY)):
        judged = judge_either_way(fresh, Times([125, 130, 126], [], [127, 128, 129, 125, 126]), limit)
        assert (judged.verdict, judged.wants) == (verdict, (0, 0))
    assert "below what can be seen" in judged.why
