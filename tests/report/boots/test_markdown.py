"""Comparisons and series in Markdown."""

from itertools import pairwise

from bootlab.experiments.comparing import Compared, compare_series, compare_steps
from bootlab.experiments.series import SeriesResult
from bootlab.measure.record import Outcome, PowerOnRecord, WakeRecord
from bootlab.report.boots.markdown import boot_markdown, compare_markdown, series_markdown
from tests.report.steps import families, four_systems


def test_steps_have_a_row_each_and_inputs_that_are_alike_stand_once() -> None:
    systems = four_systems()
    systems[3] = [one.model_copy(update={"hashes": {**one.hashes, "kernel": "f" * 64}}) for one in systems[3]]
    sides = families(systems)
    text = compare_markdown(Compared(compare_steps(list(pairwise(sides)), (sides[0], sides[-1])), tuple(systems)))
    lines = text.splitlines()
    assert lines[0] == "| system | ms to ready | saved ms | verdict | in all |"
    systems_end, phases = lines.index(""), lines[lines.index("") + 1 :]
    assert systems_end == 2 + 4
    assert "| longer |" in lines[5]
    assert phases[0].count("|") == 1 + 1 + 4
    assert phases[2].startswith("| firmware | 5.66 | 5.66 | 5.66 | 5.66 |")
    said = " ".join(phases[phases.index("") + 1 :])
    assert "All: " in said and "longer: kernel ffffffffffff" in said
    assert said.count(systems[0][0].hashes["qemu"][:12]) == 1


def test_no_side_moves_by_more_than_the_one_that_moved_most_be_it_where_the_whole_was_judged() -> None:
    systems = four_systems()
    sides = families(systems)
    steps = compare_steps(list(pairwise(sides)), (sides[0], sides[-1]))
    whole = steps.whole.model_copy(update={"spread_ns": 620_050_000})
    text = compare_markdown(Compared(steps.model_copy(update={"whole": whole}), tuple(systems)))
    assert "no side moves by more than 620.05 ms for no reason" in " ".join(text.split())


def test_two_systems_are_one_step() -> None:
    systems = four_systems()[:2]
    before, after = families(systems)
    lines = compare_markdown(Compared(compare_series(before, after), tuple(systems))).splitlines()
    assert lines.index("") == 2 + 2
    assert "at most 0.1% get a verdict" in " ".join(lines)


def test_timings_of_two_systems_stand_side_by_side() -> None:
    before, after = (
        [one.model_copy(update={"timings_ns": {"perceived": ns}}) for one in boots]
        for boots, ns in zip(four_systems()[:2], (400_000_000, 300_000_000), strict=True)
    )
    sides = families([before, after])
    text = compare_markdown(Compared(compare_series(*sides), (before, after)))
    assert "| perceived | 400.00 | 300.00 | 25.0 |" in text.splitlines()


def test_a_boot_has_its_phases_and_the_devices_that_woke() -> None:
    boot = four_systems()[0][0]
    text = boot_markdown(boot)
    assert text.splitlines()[0] == "| phase | ms |" and "| ready |" in text and "| driver |" not in text
    woken = [WakeRecord(device="1-1", driver="usb", duration_ns=296_120_000)]
    asked = boot.model_copy(update={"power_on": PowerOnRecord(kind="suspended", devices=woken)})
    assert "not told of" not in boot_markdown(asked)
    assert "| device that woke | driver | ms |\n|---|---|---:|\n| 1-1 | usb | 296.12 |" in boot_markdown(asked)
    few = PowerOnRecord(kind="suspended", devices=woken, devices_untold="2 devices more, 0.003 ms together")
    said = boot_markdown(boot.model_copy(update={"power_on": few}))
    assert "\n\nDevices not told of: 2 devices more, 0.003 ms together.\n\n" in said


def test_a_series_has_a_row_a_boot_and_a_failed_one_its_outcome() -> None:
    boots = four_systems()[0]
    boots[1] = boots[1].model_copy(update={"outcome": Outcome.HUNG, "detail": "silent"})
    result = SeriesResult(system="x", clock="virtual", ready=None, identical=False, boots=boots, run="run")
    lines = series_markdown(result).splitlines()
    assert lines[0] == "| seed | ms to ready | instructions | idle ms |"
    assert "hung" in lines[3]
