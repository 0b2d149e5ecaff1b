"""The advice of a profile in Markdown."""

from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.findings.analysis import Analysis
from bootlab.report.profile.markdown import advice_markdown
from tests.report.analysed import analysis_of, small_profile


@pytest.fixture
def analysis(tmp_path: Path) -> Analysis:
    return analysis_of(small_profile(tmp_path))


def rows(text: str) -> list[list[str]]:
    """Return the table's cells, without its head."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")
    ][2:]


def test_the_lines_add_up_to_the_boot(analysis: Analysis) -> None:
    *lines, whole = rows(advice_markdown(analysis))
    assert whole[0] == "power-on to ready"
    assert sum(float(line[1]) for line in lines) == pytest.approx(float(whole[1]), abs=0.01 * len(lines))


def test_what_takes_little_is_in_the_last_line(analysis: Analysis) -> None:
    items = [one.model_copy(update={"share": 0.019}) for one in analysis.advice.items]
    small = replace(analysis, advice=analysis.advice.model_copy(update={"items": items}))
    only, whole = rows(advice_markdown(small))
    assert only[0].startswith(f"everything else, {len(items)} causes")
    assert only[1] == whole[1]


def test_a_profile_that_was_cut_off_says_so(analysis: Analysis) -> None:
    part = replace(analysis, advice=analysis.advice.model_copy(update={"complete": False, "reached_ready": False}))
    text = advice_markdown(part)
    assert "power-on to its end" in text
    assert "cut off" in text


def test_a_name_of_the_guest_ends_no_cell(tmp_path: Path) -> None:
    hostile = analysis_of(small_profile(tmp_path), hostile="a | b `c` <d>")
    assert all(len(row) == 4 for row in rows(advice_markdown(hostile).replace("\\|", "")))
