"""The stretches of a boot that its users feel, as tables of a boot, a series and two sides. Figures are made up."""

import re

from rich.console import Group

from bootlab.measure.record import BootRecord
from bootlab.report.boots import text
from bootlab.report.boots.page import boot_page, compare_page, series_page
from bootlab.report.boots.timings import timing_change, timing_lines, timing_section, timings_markdown
from tests.report.boots.test_text import printed, series

MS = 1_000_000


def felt(**timings_ms: float | None) -> BootRecord:
    taken = {name: None if ms is None else int(ms * MS) for name, ms in timings_ms.items()}
    return series("series-before.json")[0].model_copy(update={"timings_ns": taken})


def test_a_system_without_timings_shows_none() -> None:
    records = series("series-before.json")
    assert timing_lines(records) == [] and timing_change(records, records) == []
    assert timing_section(records) == "" and timing_section(records, records) == ""


def test_a_boot_tells_each_and_what_was_not_seen() -> None:
    shown = printed(text.boot(felt(perceived=400.5, desktop=None)))
    assert re.search(r"perceived +400\.50", shown) and re.search(r"desktop +not seen", shown)
    assert "400.50" in boot_page(felt(perceived=400.5)) and "not seen" in boot_page(felt(desktop=None))


def test_a_series_tells_medians_and_how_far_they_lie_apart() -> None:
    boots = [felt(perceived=ms) for ms in (400.0, 420.0, 410.0, None)]
    shown = printed(Group(*timing_lines(boots)))
    assert "timings: medians" in shown and re.search(r"perceived \(in 3 of 4\) +410\.00 +400\.00 +420\.00", shown)
    assert "perceived (in 3 of 4)" in series_page(boots)
    assert "Medians of 4 boots. Timings say" in series_page(boots)


def test_two_sides_are_laid_side_by_side() -> None:
    before, after = [felt(perceived=400.0, gone=1.0, never=2.0)], [felt(perceived=300.0, new=1.0, never=None)]
    shown = printed(Group(*timing_change(before, after)))
    assert re.search(r"perceived +400\.00 +300\.00 +-100\.00 +-25\.0", shown)
    assert re.search(r"never +2\.00 +not seen *$", shown, re.MULTILINE)
    assert re.search(r"gone +1\.00 +not asked *$", shown, re.MULTILINE)
    assert re.search(r"new +not asked +1\.00 *$", shown, re.MULTILINE)
    some = printed(Group(*timing_change([*before, felt(perceived=None)], after)))
    assert re.search(r"perceived +400\.00 \(in 1 of 2\) +300\.00", some)
    assert "perceived" in printed(text.comparison(before, after))
    assert "300.00" in compare_page(before, after)


def test_a_document_has_medians_their_ends_and_how_much_less_the_last_system_takes() -> None:
    first = [felt(perceived=ms, gone=1.0) for ms in (400.0, 420.0, 410.0)]
    last = [felt(perceived=205.0, desktop=None)] * 3
    lines = timings_markdown(["a", "b"], [first, last]).splitlines()
    assert lines[0] == "| timing, ms | a | b | less % |"
    assert lines[2:] == [
        "| perceived | 410.00 (400.00 to 420.00) | 205.00 | 50.0 |",
        "| gone | 1.00 | not asked | |",
        "| desktop | not asked | not seen | |",
    ]
    assert timings_markdown(["a"], [series("series-before.json")]) == ""
