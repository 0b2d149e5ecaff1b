"""The first page of a ledger's site: where each system stands, what changed lately, what is known to cost time."""

from collections.abc import Sequence
from typing import Final

from bootlab.report.ledger.history_chart import sparkline
from bootlab.report.ledger.issue_table import issue_table
from bootlab.report.ledger.site import SystemSite, day_of
from bootlab.report.ledger.system_page import STYLES, steps_that_count, verdict_mark
from bootlab.report.ledger.text import changed_words, commit_words
from bootlab.report.parts.figures import count, ms, percent
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.markup import Content, Html, tag
from bootlab.report.parts.sections import key_figure, key_figures, minus, scroll, section
from bootlab.report.parts.whole_page import shell
from bootlab.report.profile.table_columns import columns_of

_LATELY: Final = 40


def index_page(systems: Sequence[SystemSite], unread: Sequence[str] = ()) -> str:
    """Return the page. `unread`: what of the ledger could not be read."""
    entries = sum(len(one.steps) for one in systems)
    remarks = [*unread, *(remark for one in systems for remark in one.history.remarks)]
    issues = [(one.name, one.page, row) for one in systems for row in one.issues]
    sections = [
        *(tag("p", remark, class_="caution", role="note") for remark in remarks),
        section("systems", "Where each system stands", _standings(systems)),
        section("steps", "What changed", _steps(systems)),
        section("issues", "Known issues", issue_table(issues, systems=True)) if issues else Html(),
    ]
    keys = key_figures(
        key_figure("systems", "baseline", count(len(systems)), "", ""),
        key_figure("entries", "baseline", count(entries), "", _span(systems)),
    )
    head = tag("header", tag("p", tag("b", "bootlab"), " boot ledger", class_="kicker"),
               tag("h1", "What each system takes to boot"), keys,
               tag("p", "Each system's page names its clock. A verdict is what its seeds and null changes bear out.",
                   class_="clock"))  # fmt: skip
    return shell("Boot ledger", head, sections, styles=STYLES)


def _span(systems: Sequence[SystemSite]) -> str:
    days = sorted(day_of(step.entry) for one in systems for step in (one.steps[0], one.steps[-1]))
    return f"{days[0]} to {days[-1]}" if days else ""


def _standings(systems: Sequence[SystemSite]) -> Html:
    columns = [
        *columns_of("system", "history|", "ready, ms>", "last step, ms>", "verdict", "when", "commit`", "entries>")
    ]
    rows = []
    for one in systems:
        step = one.steps[-1]
        entry = step.entry
        rows.append([
            Cell(tag("a", one.name, href=one.page), one.name),
            Cell(sparkline(one.steps)),
            Cell(ms(entry.ready_ns) or entry.outcome, entry.ready_ns),
            Cell(minus(ms(-step.saved_ns, sign=True)) if step.saved_ns is not None else "",
                 -step.saved_ns if step.saved_ns is not None else None),
            Cell(verdict_mark(step)),
            Cell(day_of(entry), entry.order[0]),
            Cell(tag("code", commit_words(entry))),
            Cell(count(len(one.steps)), len(one.steps)),
        ])  # fmt: skip
    caption = (
        "Its last entry, and the step to it. Lines run from a system's shortest boot to its longest, not from zero."
    )
    return scroll("systems", table(caption, columns, rows, kind="raw standings", sortable=True), "whole")


def _steps(systems: Sequence[SystemSite]) -> Content:
    found = [(step.entry.order, one, step) for one in systems for step in steps_that_count(one.steps)]
    found.sort(key=lambda row: row[0], reverse=True)
    if not found:
        return tag("p", "No entry differs from the one before it by more than chance.")
    columns = [*columns_of("when", "system", "commit`", "changed by, ms>", "%>", "verdict"), Column("inputs")]
    rows = []
    for _, one, step in found[:_LATELY]:
        saved_ns, ready_ns = step.saved_ns, step.entry.ready_ns
        before_ns = saved_ns + ready_ns if saved_ns is not None and ready_ns is not None else None
        rows.append([
            Cell(day_of(step.entry), step.entry.order[0]),
            Cell(tag("a", one.name, href=one.page), one.name),
            Cell(tag("code", commit_words(step.entry))),
            Cell(minus(ms(-saved_ns, sign=True)) if saved_ns is not None else step.entry.outcome, saved_ns),
            Cell(minus(percent(-saved_ns, before_ns, sign=True)) if saved_ns is not None else ""),
            Cell(verdict_mark(step)),
            Cell(changed_words(step)),
        ])  # fmt: skip
    more = f" {len(found) - _LATELY} older ones are on the systems' pages." if len(found) > _LATELY else ""
    caption = f"Entries that differ from the one before by more than chance, and those that were not ready.{more}"
    return scroll("what changed", table(caption, columns, rows, kind="raw", sortable=True), "whole")
