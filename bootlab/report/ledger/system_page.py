"""A system's page in the site of a ledger: its history as charts, known issues, any two entries side by side."""

from collections.abc import Mapping, Sequence
from typing import Final

from bootlab.ledger.entry import LedgerEntry
from bootlab.ledger.steps import LedgerStep, series_of
from bootlab.report.ledger.history_chart import MARKS, history_chart
from bootlab.report.ledger.issue_table import issue_table
from bootlab.report.ledger.site import INDEX, RunPage, SystemSite, day_of, label_of
from bootlab.report.ledger.site_data import entries_block, functions_block
from bootlab.report.ledger.text import (
    changed_words,
    clock_words,
    commit_words,
    timing_names,
    timing_words,
    verdict_words,
)
from bootlab.report.parts.figures import count, ms, percent, spread_words
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.markup import Content, Html, join, tag
from bootlab.report.parts.sections import key_figure, key_figures, minus, scroll, section, short_hash_list
from bootlab.report.parts.whole_page import page_header, shell
from bootlab.report.profile.pictures import without_scripts
from bootlab.report.profile.table_columns import columns_of

STYLES: Final = ("lines.css", "ledger.css")
_SCRIPTS: Final = ("elements.js", "profile_data.js", "ledger_chart.js", "ledger_compare.js")
_STEPS: Final = 8
_NO_SCRIPTS: Final = "Zooming and comparing need scripts. The tables are complete without them."


def system_page(site: SystemSite) -> str:
    """Return the page of a system with at least one entry."""
    last = site.steps[-1]
    functions, profiles, left = functions_block(site)
    sections = [
        tag("nav", tag("a", "all systems", href=f"../{INDEX}"), aria_label="Site", class_="site-nav"),
        *(tag("p", remark, class_="caution", role="note") for remark in site.history.remarks),
        section("history", "History", without_scripts(_NO_SCRIPTS), *_charts(site)),
        section("issues", "Known issues", issue_table([(site.name, "", row) for row in site.issues], systems=False))
        if site.issues else Html(),
        section("compare", "Two entries side by side", tag("div", class_="compare", hidden=True),
                lead=_compare_words(profiles, left)),
        section("entries", "Every entry", _entries(site)),
    ]  # fmt: skip
    head = page_header(
        "boot ledger", site.name, clock_words(last), _keys(site), short_hash_list(last.entry.inputs)
    )  # fmt: skip
    blocks = [entries_block(site, profiles), functions]
    return shell(f"{site.name}: boot ledger", head, sections, styles=STYLES, scripts=_SCRIPTS, data=blocks)


def run_cell(page: RunPage | None) -> Cell:
    """Return a link to the page of a kept run, or why there is none."""
    page = page or RunPage()
    if page.name:
        return Cell(tag("a", "page", href=f"../{page.name}"), 1)
    return Cell(tag("span", page.why, class_="quiet"), 0)


def verdict_mark(step: LedgerStep) -> Html:
    """Return the verdict on a step, coloured as everywhere."""
    kind = step.verdict.value.replace(" ", "-") if step.verdict is not None else "no-verdict"
    return tag("span", verdict_words(step), class_=f"verdict {kind}")


def _charts(site: SystemSite) -> list[Html]:
    step_of = {step.entry.key: step for step in site.steps}
    series = series_of(site.history.entries)
    parts: list[Html] = []
    for number, entries in enumerate(series):
        steps = [step_of[entry.key] for entry in entries]
        if len(series) > 1:
            parts.append(tag("h3", clock_words(steps[-1])))
        parts += [history_chart(number, steps), _steps(steps)]
    return parts


def _steps(steps: Sequence[LedgerStep]) -> Html:
    """Return the marks of a chart in words, the latest first."""
    found = steps_that_count(steps)[::-1]
    lines = [
        tag("li", f"{label_of(one.entry)}: ", *_step_words(one)) for one in found[:_STEPS]
    ]  # fmt: skip
    if more := len(found) - len(lines):
        lines.append(tag("li", f"and {count(more)} before, in the table below", class_="quiet"))
    return tag("ul", *lines, class_="steps") if lines else Html()


def _step_words(step: LedgerStep) -> list[Content]:
    if step.entry.ready_ns is None:
        return [tag("span", step.entry.outcome, class_="verdict longer"), f" {step.entry.detail}"]
    return [verdict_mark(step), f", saved {minus(ms(step.saved_ns, sign=True))} ms"]


def _compare_words(profiles: Mapping[str, int], left: int) -> Content:
    if not profiles:
        return "Phases and inputs. Functions would be here, too, if profiles of these entries were kept here."
    more = f" The page has no room for {left} older profiles." if left else ""
    return f"Phases, inputs, and the functions of the {len(profiles)} entries whose profiles are kept here.{more}"


def _keys(site: SystemSite) -> Html:
    last = site.steps[-1]
    entry, span = last.entry, [one for one in site.steps if one.entry.ready_ns is not None]
    figures: list[Content] = [
        key_figure("last entry", "recommended", ms(entry.ready_ns) or entry.outcome,
                   "ms to ready" if entry.ready_ns is not None else "",
                   join([f"{day_of(entry)} ", tag("code", commit_words(entry))])),
    ]  # fmt: skip
    if last.saved_ns is not None:
        figures.append(
            key_figure("last step", "", minus(ms(-last.saved_ns, sign=True)), "ms", verdict_mark(last))
        )  # fmt: skip
    alike = series_of([one.entry for one in span])
    if alike and len(alike[0]) > 1:
        first, end = alike[0][0], alike[0][-1]
        assert first.ready_ns is not None and end.ready_ns is not None
        change = end.ready_ns - first.ready_ns
        share = minus(percent(change, first.ready_ns, sign=True))
        figures.append(key_figure(f"since {day_of(first)}", "baseline", minus(ms(change, sign=True)), "ms",
                                  f"{share} %, over {count(len(alike[0]))} entries that compare"))  # fmt: skip
    return key_figures(*figures)


def _entries(site: SystemSite) -> Html:
    timings = timing_names(site.history.entries)
    columns = [
        *columns_of("when", "commit`", "ready, ms>", "spread", "saved, ms>"),
        *columns_of(*(f"{name}, ms>" for name in timings)),
        *columns_of("verdict", "changed"),
        *(Column(title, sortable=False) for title in ("report", "profile", "note")),
    ]
    rows = [
        [
            Cell(day_of(step.entry), step.entry.order[0]),
            Cell(tag("code", commit_words(step.entry))),
            _ready(step.entry),
            Cell(spread_words(step.entry.spread_ns, step.entry.ready_ns), step.entry.spread_ns),
            Cell(minus(ms(step.saved_ns, sign=True)), step.saved_ns),
            *(Cell(timing_words(step.entry, name), step.entry.timings_ns.get(name)) for name in timings),
            Cell(verdict_mark(step)),
            Cell(changed_words(step)),
            run_cell(site.reports.get(step.entry.key)),
            run_cell(site.profiles.get(step.entry.key)),
            Cell(step.entry.note),
        ]
        for step in reversed(site.steps)
    ]
    caption = "The latest first. Saved: against the last entry before it whose figures compare."
    return scroll("every entry", table(caption, columns, rows, kind="raw", sortable=True))


def _ready(entry: LedgerEntry) -> Cell:
    if entry.ready_ns is None:
        return Cell(tag("span", entry.outcome, tag("span", entry.detail, class_="detail"), class_="verdict longer"))
    return Cell(ms(entry.ready_ns), entry.ready_ns)


def steps_that_count(steps: Sequence[LedgerStep]) -> list[LedgerStep]:
    """Return the steps with a verdict that something changed, and the entries that were not ready; latest last."""
    return [one for one in steps if one.entry.ready_ns is None or one.verdict in MARKS]
