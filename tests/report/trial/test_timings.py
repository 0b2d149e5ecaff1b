"""What techniques do to the stretches of a boot that users feel: below the baseline, each as what it saved."""

import re

from rich.console import Group

from bootlab.experiments.trial.result import TryResult
from bootlab.report.boots.page import try_page
from bootlab.report.trial.markdown import try_markdown
from bootlab.report.trial.text import try_result
from bootlab.report.trial.timings import timing_rows, timing_table, timings_markdown, timings_of_page
from bootlab.report.trial.words import kept_steps
from tests.report.boots.test_text import printed
from tests.report.trials import trial

MS = 1_000_000


def felt() -> TryResult:
    """Return a trial whose techniques each take 10 ms off what users feel, all but the first, which never showed it."""
    whole = trial()
    base = whole.baseline.model_copy(update={"timings_ns": {"login": 90 * MS}, "timing_spreads_ns": {"login": 2 * MS}})
    first, *others = [one for one in whole.alone if one.saved_ns is not None]
    alone = [first, *(one.model_copy(update={"timings_ns": {"login": 80 * MS}}) for one in others)]
    alone += [one for one in whole.alone if one.saved_ns is None]
    stack = [step.model_copy(update={"timings_ns": {"login": 75 * MS}}) for step in whole.stack]
    return whole.model_copy(update={"baseline": base, "alone": alone, "stack": stack})


def test_a_trial_without_timings_shows_none() -> None:
    assert timing_rows(trial()) == [] and timing_table(trial()) == [] and timings_of_page(trial()) == ""
    assert timings_markdown(trial()) == "" and "timings" not in try_markdown(trial())


def test_each_row_is_what_was_saved_of_the_baseline() -> None:
    result = felt()
    rows = {row.name: row.saved_ns["login"] for row in timing_rows(result)}
    measured = [one for one in result.alone if one.saved_ns is not None]
    assert rows[measured[0].technique] is None
    assert rows[measured[1].technique] == 10 * MS
    kept = [step.technique for step in kept_steps(result, "recommended")]
    assert [name for name in rows if name.startswith("recommended, step")] == [
        f"recommended, step {number}: {name}" for number, name in enumerate(kept, 1)
    ]
    assert not set(rows) & {one.technique for one in result.alone if one.saved_ns is None}


def test_it_is_shown_in_the_terminal_and_on_the_page() -> None:
    shown = printed(Group(*timing_table(felt())))
    assert re.search(r"baseline +90\.00", shown) and re.search(r"moves by, for no reason +2\.00", shown)
    assert "not seen" in shown and "the verdict is on power-on to ready" in " ".join(shown.split())
    assert "moves by, for no reason" in printed(try_result(felt()))
    page = try_page(felt())
    assert "What users feel" in page and page.count("moves by, for no reason") == 1


def test_a_document_has_what_each_came_to_and_what_that_saved() -> None:
    lines = timings_markdown(felt()).splitlines()
    assert lines[0] == "| timings, medians | login ms (saved) |" and "| baseline | 90.00 |" in lines
    assert any(line.endswith(" | 80.00 (10.00) |") for line in lines) and any(
        line.endswith("not seen |") for line in lines
    )
    assert lines[-1] == "| moves by, for no reason | 2.00 |" and timings_markdown(felt()) in try_markdown(felt())
