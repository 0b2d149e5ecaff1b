"""Comparisons: what differs is told without where files lie, and steps add up to the whole."""

import pytest

from bootlab.errors import InputError
from bootlab.experiments.comparing import compare_series, compare_steps
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import BoardModel
from tests.report.steps import four_steps, four_systems, shifted, with_a_failure, with_nulls


def test_the_steps_add_up_to_the_whole_and_each_has_its_own_verdict() -> None:
    result = four_steps()
    assert [step.verdict for step in result.steps] == ["faster", "no difference shown", "slower"]
    savings = [step.saved_ns or 0 for step in result.steps]
    assert savings[2] == 500 - 90_000_000
    assert sum(savings) == result.whole.saved_ns
    assert (result.whole.before, result.whole.after) == ("fixture-debian-cloud", "slower")
    assert result.whole.verdict == "faster"


def test_a_step_is_judged_by_the_null_changes_of_the_system_before_it() -> None:
    systems = four_systems()[:3]
    sides = with_nulls(systems)
    # The middle system moves by 2 ms for no reason: the step to it is as sure as ever, that from it is none.
    sides[1] = (systems[1], shifted(systems[1], "null", 2_000_000))
    systems[2] = shifted(systems[1], "third", -1_000_000)
    sides[2] = (systems[2], [])
    result = compare_steps(sides)
    assert [step.verdict for step in result.steps] == ["faster", "no difference shown"]
    assert [(step.spread_ns or 0) > 2_000_000 for step in result.steps] == [False, True]


def test_a_system_that_is_not_ready_leaves_both_its_steps_without_a_verdict_and_the_whole_with_one() -> None:
    result, _ = with_a_failure()
    assert [step.verdict for step in result.steps] == ["no verdict", "no verdict"]
    assert "was not ready: hung: nothing for 5 s" in result.steps[0].detail
    assert result.whole.verdict == "faster"


def test_sides_on_different_clocks_are_refused_wherever_they_stand() -> None:
    systems = four_systems()
    systems[3] = [record.model_copy(update={"clock": "wall"}) for record in systems[3]]
    with pytest.raises(InputError, match="slower on the wall clock"):
        compare_steps(with_nulls(systems))


def test_differences_are_words_of_the_kernels_and_of_qemu_s_command_line_not_paths() -> None:
    before, after = four_systems()[:2]
    common = ["qemu-system-x86_64", "-seed", "1", "-kernel"]
    one = [*common, "/cache/a,b/vmlinux", "-append", "quiet root=/dev/vda", "-drive", "id=d,file=/cache/a,,b,if=none"]
    two = [*common, "/other/vmlinux", "-append", "root=/dev/vda lpj=1", "-drive", "id=d,file=/other/b,if=none"]
    two += ["-machine", "q35,acpi=off"]

    def differences(left: list[str], right: list[str]) -> list[str]:
        sides = [[r.model_copy(update={"argv": argv}) for r in s] for s, argv in ((before, left), (after, right))]
        found = compare_series(*sides).differences
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
        return [difference for difference in compare_series(*sides).differences if "board model" in difference]

    slow, quick = BoardModel(storage_mib_s=14.9), BoardModel(storage_mib_s=57)
    assert models(slow, quick) == [
        f"board model: {slow.identity} (card 14.9 MiB/s) -> {quick.identity} (card 57 MiB/s)"
    ]
    assert models(None, slow) == [f"board model: none -> {slow.label}"]
    assert models(slow, slow) == models(None, None) == []
    camera = BoardModel(camera_ms=1200)
    assert models(camera, camera.model_copy(update={"camera_power": "spl"})) == []


def test_boots_that_are_missing_leave_no_verdict_and_say_which() -> None:
    before, after = four_systems()[:2]
    null = before[1:]

    def said(*sides: list[BootRecord], null: list[BootRecord] = null) -> str:
        result = compare_series(*sides, null)
        assert (result.verdict, result.saved_ns, result.spread_ns) == ("no verdict", None, None)
        return result.detail

    assert compare_series(before, after, null).verdict == "faster"
    assert said(before[:2], after[:2]).startswith("2 and 2 boots")
    assert said(before, after[:2]).endswith("needs 3 seeds a side, and null changes")
    assert ", 0 null changes: needs 3 seeds a side, and null changes" in said(before, after, null=[])
    other_seeds = [record.model_copy(update={"seed": record.seed + 10}) for record in after]
    assert said(before, other_seeds) == "the sides have different seeds"
    hung = [record.model_copy(update={"outcome": Outcome.HUNG, "detail": "silent", "marks": {}}) for record in null]
    assert "was not ready: hung: silent" in said(before, after, null=hung)
    assert "was not ready: hung: silent" in said(before, [*after[:-1], hung[-1]])


def test_a_noisy_clock_needs_five_boots_a_side_and_no_null_changes() -> None:
    before, after = four_systems()[:2]
    sides = [[record.model_copy(update={"clock": "wall"}) for record in (side * 2)[:5]] for side in (before, after)]
    assert compare_series(*sides).verdict == "faster"
    few = compare_series(sides[0], sides[1][:4])
    assert (few.verdict, few.detail) == ("no verdict", "5 and 4 boots: a noisy clock needs 5 a side at least")


def test_virtual_clocks_that_count_otherwise_are_refused() -> None:
    before, after = four_systems()[:2]
    other = [record.model_copy(update={"ns_per_instruction": 2}) for record in after]
    with pytest.raises(InputError, match="cannot compare") as caught:
        compare_series(before, other, before[1:])
    assert caught.value.hint == "the two sides need the same clock and ns per instruction"


def test_alike_systems_show_no_difference_and_list_none() -> None:
    before = four_systems()[0]
    result = compare_series(before, before, [*before[1:], before[0]])
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
    found = {phase.name: phase for phase in compare_series(before, renamed, before[1:]).phases}
    assert found[last].after_ns is None and found[last].before_ns is not None
    assert found["only after"].before_ns is None and found["only after"].after_ns is not None
