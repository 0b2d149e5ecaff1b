"""Comparisons and series in Markdown."""

from itertools import pairwise

from bootlab.experiments.comparing import Compared, compare_series, compare_steps
from bootlab.experiments.series import SeriesResult
from bootlab.measure.record import Outcome
from bootlab.report.boots.markdown import compare_markdown, series_markdown
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


def test_a_series_has_a_row_a_boot_and_a_failed_one_its_outcome() -> None:
    boots = four_systems()[0]
    boots[1] = boots[1].model_copy(update={"outcome": Outcome.HUNG, "detail": "silent"})
    result = SeriesResult(system="x", clock="virtual", ready=None, identical=False, boots=boots, run="run")
    lines = series_markdown(result).splitlines()
    assert lines[0] == "| seed | ms to ready | instructions | idle ms |"
    assert "hung" in lines[3]
