"""What a trial says of the boots that began at a mark: how many, which not and why, and what it saved the host."""

from pathlib import Path

from bootlab.experiments.comparing import Compared
from bootlab.experiments.from_mark import FromMarkResult
from bootlab.experiments.trial.result import TryResult
from bootlab.report.boots.page import try_page
from bootlab.report.boots.view import compare_view
from bootlab.report.trial.text import try_result
from bootlab.report.trial.words import from_mark_words
from tests.replayed import new_run
from tests.report.boots.test_text import printed
from tests.report.steps import four_steps, four_systems
from tests.report.trials import trial

TOLD = FromMarkResult(
    mark="late",
    kept=3,
    began=7,
    powered_on={"another kernel.cmdline": 5, "rootfs: changed where it was read before late": 1},
    checked="equal",
    skipped_s=41.2,
    spent_s=9.1,
)


def through(**changes: object) -> TryResult:
    return trial().model_copy(update={"from_mark": TOLD.model_copy(update=changes)})


def test_a_trial_whose_boots_are_powered_on_says_nothing_of_it() -> None:
    assert from_mark_words(trial().from_mark) == [] and "from_mark" not in trial().model_dump()


def test_boots_are_counted_and_each_reason_is_named() -> None:
    assert from_mark_words(through().from_mark) == [
        "7 boots began at late, where 3 machines were kept, and 6 at power-on: "
        "41 host s not run again, 9 spent on keeping and comparing",
        "  5 at power-on: another kernel.cmdline",
        "  1 at power-on: rootfs: changed where it was read before late",
        "  the boot that was run both ways: equal",
    ]
    for text in (printed(try_result(through())), try_page(through())):
        assert "another kernel.cmdline" in text and "7 boots began at late" in text


def test_what_ended_it_is_told_and_that_none_was_checked() -> None:
    lines = from_mark_words(through(given_up="mark late: not reached", checked="", began=0).from_mark)
    assert lines[-2:] == [
        "  given up: mark late: not reached",
        "  the boot that was run both ways: there was none to be: of none that began there a disk had changed",
    ]


def test_a_comparison_says_it_behind_its_verdict(tmp_path: Path) -> None:
    steps, systems, run = four_steps(), four_systems(), new_run(tmp_path)
    for result, series in ((steps, systems), (steps.whole, [systems[0], systems[-1]])):
        assert "from_mark" not in result.model_dump()
        told = result.model_copy(update={"from_mark": TOLD})
        lines = compare_view(run, Compared(told, tuple(series))).lines
        assert list(lines[-4:]) == from_mark_words(TOLD)
        assert len(compare_view(run, Compared(result, tuple(series))).lines) == len(lines) - 4
