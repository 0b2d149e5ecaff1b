"""What each entry saves against the one before it."""

import pytest

from bootlab.errors import InputError
from bootlab.ledger.steps import changed_inputs, step, steps_of
from bootlab.techniques.model.verdict import Verdict
from tests.ledger.entries import MS, entry


def test_each_is_compared_with_the_one_before() -> None:
    first, second, third = steps_of([entry("a", 100), entry("b", 90), entry("c", 95)])
    assert (first.saved_ns, first.verdict, first.why) == (None, None, "the first of its kind")
    assert (second.saved_ns, second.verdict) == (10 * MS, Verdict.SHORTER)
    assert (third.saved_ns, third.verdict) == (-5 * MS, Verdict.LONGER)
    assert third.changed == ("kernel",)


def test_a_failed_one_is_not_what_the_next_is_compared_with() -> None:
    failed = entry("b", 0, outcome="panicked", detail="no init", seeds=[], seeds_ns=[], null_ns=[])
    _, second, third = steps_of([entry("a", 100), failed, entry("c", 90)])
    assert (second.verdict, second.why) == (None, "panicked: no init")
    assert (third.saved_ns, third.verdict) == (10 * MS, Verdict.SHORTER)


def test_entries_of_another_clock_are_a_history_of_their_own() -> None:
    wall = entry("b", 500, clock="wall", ns_per_instruction=None)
    _, second, third = steps_of([entry("a", 100), wall, entry("c", 90)])
    assert second.why == "the first of its kind"
    assert third.saved_ns == 10 * MS


def test_what_lies_inside_the_spread_is_no_difference() -> None:
    assert step(entry("a", 100), entry("b", 100.01)).verdict is Verdict.NO_DIFFERENCE_SHOWN


def test_a_near_difference_says_what_would_tell() -> None:
    found = step(entry("a", 100), entry("b", 99.95))
    assert found.verdict is Verdict.NO_DIFFERENCE_SHOWN
    assert "fresh boots" in found.why


def test_no_verdict_without_null_changes_or_with_other_seeds() -> None:
    bare = entry("a", 100, null_ns=[])
    assert "3 null changes" in step(bare, entry("b", 90)).why
    assert step(entry("a", 100, seeds=[4, 5, 6]), entry("b", 90)).why == "not the same seeds"
    assert step(bare, entry("b", 90)).saved_ns == 10 * MS, "the difference is shown all the same"


def test_on_the_wall_clock_two_hosts_do_not_compare() -> None:
    def timed(name: str, ready_ms: float, cores: int) -> object:
        times = [int((ready_ms + 0.1 * number) * MS) for number in range(6)]
        return entry(name, ready_ms, clock="wall", seeds=[1] * 6, seeds_ns=times, null_ns=[],
                     host={"cores": cores, "load_1_min": ready_ms})  # fmt: skip

    assert step(timed("a", 100, 2), timed("b", 80, 2)).verdict is Verdict.FASTER  # type: ignore[arg-type]
    assert "not the same host" in step(timed("a", 100, 2), timed("b", 80, 4)).why  # type: ignore[arg-type]
    third = steps_of([timed("a", 100, 2), timed("b", 50, 4), timed("c", 80, 2)])[-1]  # type: ignore[list-item]
    assert third.saved_ns is not None and third.saved_ns < 30 * MS, "against the one of the same host"


def test_what_another_tool_recorded_gets_no_verdict() -> None:
    recorded = [
        entry(name, ready, clock="recorded", seeds=[0], seeds_ns=[ready * MS]) for name, ready in (("a", 9), ("b", 5))
    ]
    found = step(*recorded)
    assert (found.saved_ns, found.verdict) == (4 * MS, None)
    with pytest.raises(InputError):
        step(recorded[0], entry("b", 1))


def test_inputs_that_came_or_went_have_changed() -> None:
    before = entry("a", 1, inputs={"kernel": "1", "qemu": "q", "dtb": "d"})
    after = entry("b", 1, inputs={"kernel": "2", "qemu": "q", "initramfs": "i"})
    assert changed_inputs(before, after) == ("kernel", "dtb", "initramfs")
