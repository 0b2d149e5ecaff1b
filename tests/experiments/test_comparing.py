"""Comparisons: what differs is told without where files lie, and steps add up to the whole."""

from dataclasses import replace

import pytest
from pydantic import ValidationError

from bootlab.errors import InputError
from bootlab.experiments.comparing import Comparison, Steps, compare_series
from bootlab.experiments.family import Family
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import BoardModel
from tests.report.priced import priced_series
from tests.report.steps import families, four_steps, four_systems, shifted, steps_of, with_a_failure


def compared(before: list[BootRecord], after: list[BootRecord], null: list[BootRecord]) -> Comparison:
    """Return the comparison of two series that were booted twice more, so that what differs plainly is confirmed."""
    return compare_series(Family(tuple(before), tuple(null)), Family(tuple(after), fresh=tuple(after[:2])))


def test_the_steps_add_up_to_the_whole_and_each_has_its_own_verdict() -> None:
    result = four_steps()
    assert [step.verdict for step in result.steps] == ["shorter", "no difference shown", "longer"]
    savings = [step.saved_ns or 0 for step in result.steps]
    assert savings[2] == 500 - 90_000_000
    assert sum(savings) == result.whole.saved_ns
    assert (result.whole.before, result.whole.after) == ("fixture-debian-cloud", "longer")
    assert result.whole.verdict == "shorter"


def test_a_step_is_judged_by_the_null_changes_of_the_system_before_it() -> None:
    systems = four_systems()[:3]
    # The middle system moves by 2 ms for no reason: the step to it is as sure as ever, that from it is none.
    systems[2] = shifted(systems[1], "third", -1_000_000)
    sides = families(systems)
    sides[1] = replace(sides[1], null=tuple(shifted(systems[1], "null", 2_000_000)))
    result = steps_of(sides)
    assert [step.verdict for step in result.steps] == ["shorter", "no difference shown"]
    assert [(step.spread_ns or 0) > 2_000_000 for step in result.steps] == [False, True]


def test_a_system_that_is_not_ready_leaves_both_its_steps_without_a_verdict_and_the_whole_with_one() -> None:
    result, _ = with_a_failure()
    assert [step.verdict for step in result.steps] == ["no verdict", "no verdict"]
    assert "was not ready: hung: nothing for 5 s" in result.steps[0].detail
    assert result.whole.verdict == "shorter"


def test_a_comparison_names_the_boots_that_it_rests_on() -> None:
    before, after = families(four_systems()[:2])
    result = compare_series(before, replace(after, null=()))
    runs = [record.run for record in before.members]
    assert result.before_runs == result.null_runs == result.fresh_before_runs == runs
    assert result.after_runs == result.fresh_after_runs == [record.run for record in after.members]


def test_moved_ticks_are_told_of_both_sides_or_as_a_difference() -> None:
    still, other = four_systems()[:2]
    moved = [one.model_copy(update={"ticks_moved_ns": 5}) for one in still]
    alike, unlike = compared(moved, moved, moved), compared(moved, other, moved)
    assert "its kernel's ticks moved" in alike.detail and not alike.differences
    assert "ticks moved" not in unlike.detail
    assert "kernel's ticks moved (clock.tick_us), only before" in unlike.differences


def test_what_boots_on_record_cannot_confirm_is_told_with_what_it_would_take() -> None:
    """A near difference: seen in the seeds, and no fresh boots are there."""
    before = four_systems()[0]
    spread = max(record.ready_ns or 0 for record in before) - min(record.ready_ns or 0 for record in before)
    near = [Family(tuple(side), tuple(before)) for side in (before, shifted(before, "near", -2 * spread))]
    result = compare_series(*near)
    assert (result.verdict, result.saved_ns) == ("no difference shown", 2 * spread)
    assert result.detail.endswith(
        "; not confirmed: wants 8 fresh boots before and 5 after, boots on record have no more"
    )
    assert "not confirmed" not in compare_series(near[0], near[0]).detail


def test_a_comparison_of_0_1_is_read_in_the_words_of_its_clock() -> None:
    old = four_steps().model_dump(mode="json")
    for one in (*old["steps"], old["whole"]):
        one["verdict"] = {"shorter": "faster", "longer": "slower"}.get(one["verdict"], one["verdict"])
        for name in ("null_runs", "fresh_before_runs", "fresh_after_runs"):
            del one[name]
    read = Steps.model_validate(old)
    assert [step.verdict for step in read.steps] == ["shorter", "no difference shown", "longer"]
    assert (read.whole.verdict, read.whole.null_runs) == ("shorter", [])
    assert Comparison.model_validate({**old["whole"], "clock": "wall"}).verdict == "faster"
    with pytest.raises(ValidationError):
        Comparison.model_validate({**old["whole"], "verdict": ["faster"]})


def test_a_series_with_one_seed_is_no_three() -> None:
    before, after = four_systems()[:2]
    alike = [record.model_copy(update={"seed": 1}) for record in after]
    assert compared(alike, alike, before).detail.endswith("of 1 and 1 seeds: a verdict needs 3 seeds a side")


def test_sides_on_different_clocks_are_refused_wherever_they_stand() -> None:
    systems = four_systems()
    systems[3] = [record.model_copy(update={"clock": "wall"}) for record in systems[3]]
    with pytest.raises(InputError, match="longer on the wall clock"):
        steps_of(families(systems))


def test_differences_are_words_of_the_kernels_and_of_qemu_s_command_line_not_paths() -> None:
    before, after = four_systems()[:2]
    common = ["qemu-system-x86_64", "-seed", "1", "-kernel"]
    one = [*common, "/cache/a,b/vmlinux", "-append", "quiet root=/dev/vda", "-drive", "id=d,file=/cache/a,,b,if=none"]
    two = [*common, "/other/vmlinux", "-append", "root=/dev/vda lpj=1", "-drive", "id=d,file=/other/b,if=none"]
    two += ["-machine", "q35,acpi=off"]

    def differences(left: list[str], right: list[str]) -> list[str]:
        sides = [[r.model_copy(update={"argv": argv}) for r in s] for s, argv in ((before, left), (after, right))]
        found = compared(*sides, []).differences
        return [difference for difference in found if "command line" in difference]

    assert differences(one, one) == []
    assert differences(one, two) == [
        "kernel command line, only before: quiet",
        "kernel command line, only after: lpj=1",
        "QEMU command line, only after: -machine q35,acpi=off",
    ]


def test_another_board_model_is_a_difference_and_who_powers_the_camera_is_none() -> None:
    before, after = four_systems()[:2]

    def models(one: BoardModel | None, other: BoardModel | None) -> list[str]:
        sides = [[r.model_copy(update={"board_model": m}) for r in s] for s, m in ((before, one), (after, other))]
        return [difference for difference in compared(*sides, []).differences if "board model" in difference]

    slow, quick = BoardModel(storage_mib_s=14.9), BoardModel(storage_mib_s=57)
    assert models(slow, quick) == [
        f"board model: {slow.identity} (storage 14.9 MiB/s) -> {quick.identity} (storage 57 MiB/s)"
    ]
    assert models(None, slow) == [f"board model: none -> {slow.label}"]
    assert models(slow, slow) == models(None, None) == []
    camera = BoardModel(camera_ms=1200)
    assert models(camera, camera.model_copy(update={"camera_power": "spl"})) == []


def test_boots_that_are_missing_leave_no_verdict_and_say_which() -> None:
    before, after = four_systems()[:2]
    null = before

    def said(*sides: list[BootRecord], null: list[BootRecord] = null) -> str:
        result = compared(*sides, null)
        assert (result.verdict, result.saved_ns, result.spread_ns) == ("no verdict", None, None)
        return result.detail

    assert compared(before, after, null).verdict == "shorter"
    assert said(before[:2], after[:2]).startswith("2 and 2 boots")
    assert said(before, after[:2]) == "3 and 2 boots, of 3 and 2 seeds: a verdict needs 3 seeds a side"
    assert said(before, after, null=[]) == (
        "nothing says how far fixture-debian-cloud moves for no reason: that takes 3 boots with null changes (a word "
        "on the command line that means nothing), and on record are none; compare its system file, or a run of bootlab "
        "try"
    )
    assert "and on record is one;" in said(before, after, null=null[:1])
    other_seeds = [record.model_copy(update={"seed": record.seed + 10}) for record in after]
    assert said(before, other_seeds) == "the sides have different seeds"
    hung = [record.model_copy(update={"outcome": Outcome.HUNG, "detail": "silent", "marks": {}}) for record in null]
    assert "was not ready: hung: silent" in said(before, after, null=hung)
    assert "was not ready: hung: silent" in said(before, [*after[:-1], hung[-1]])


def test_a_noisy_clock_needs_five_boots_a_side_and_no_null_changes() -> None:
    before, after = four_systems()[:2]
    sides = [[record.model_copy(update={"clock": "wall"}) for record in (side * 2)[:5]] for side in (before, after)]
    assert compared(*sides, []).verdict == "faster"
    few = compared(sides[0], sides[1][:4], [])
    assert (few.verdict, few.detail) == ("no verdict", "5 and 4 boots: a noisy clock needs 5 a side at least")


def test_virtual_clocks_that_count_otherwise_are_refused() -> None:
    before, after = four_systems()[:2]
    other = [record.model_copy(update={"ns_per_instruction": 2}) for record in after]
    with pytest.raises(InputError, match="cannot compare") as caught:
        compared(before, other, before)
    assert caught.value.hint == "the two sides need the same clock and ns per instruction"


def test_alike_systems_show_no_difference_and_list_none() -> None:
    before = four_systems()[0]
    result = compared(before, before, before)
    assert (result.verdict, result.saved_ns, result.differences) == ("no difference shown", 0, [])
    assert all(phase.before_ns == phase.after_ns for phase in result.phases)


def test_a_phase_that_one_side_lacks_is_listed_with_none() -> None:
    before, after = four_systems()[:2]
    last = after[0].phases[-1].name
    renamed = [
        record.model_copy(
            update={"phases": [*record.phases[:-1], record.phases[-1].model_copy(update={"name": "only after"})]}
        )
        for record in after
    ]
    found = {phase.name: phase for phase in compared(before, renamed, before).phases}
    assert found[last].after_ns is None and found[last].before_ns is not None
    assert found["only after"].before_ns is None and found["only after"].after_ns is not None


def test_a_priced_side_is_compared_with_a_priced_one_only_and_by_its_price() -> None:
    before, after = priced_series(), priced_series("series-after.json")
    result = compare_series(Family(tuple(before), tuple(before)), Family(tuple(after)))
    assert result.price == "lean" and result.before_ns is not None and result.counted_before_ns is not None
    assert result.before_ns in [one.judged_ns for one in before]
    assert result.before_ns != result.counted_before_ns
    plain = [one.model_copy(update={"price": None}) for one in after]
    with pytest.raises(InputError, match="priced under lean, .* under no host model"):
        compare_series(Family(tuple(before), tuple(before)), Family(tuple(plain)))
