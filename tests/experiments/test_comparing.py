"""Comparisons: what differs is told without where files lie, and steps add up to the whole."""

import pytest

from bootlab.errors import InputError
from bootlab.experiments.comparing import compare_series, compare_steps
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
