"""A ledger for a terminal: where each system stands, the history of one, two entries side by side, known issues."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from bootlab.ledger.entry import LedgerEntry
from bootlab.ledger.file import History
from bootlab.ledger.issue_costs import IssueRow, cost_of
from bootlab.ledger.known_issues import KnownIssue
from bootlab.ledger.steps import LedgerStep
from bootlab.report.boots.timings import NOT_SEEN
from bootlab.report.parts.figures import clock_sentence, count, ms, percent, visible
from bootlab.report.parts.terminal_tables import keep_whole, plain_table

_LEAST_INPUTS = 3
"""More inputs that changed than these are counted, not named."""


def standings(latest: Sequence[LedgerStep], histories: Sequence[History]) -> RenderableType:
    """Return one line a system: its last entry, and the step to it."""
    rows = plain_table("system", "entries>", "last entry", "commit", "ready ms>", "saved ms>", "verdict")
    keep_whole(rows, rows.columns[1:6])
    for step, history in zip(latest, [one for one in histories if one.entries], strict=True):
        entry = step.entry
        cells = [_day(entry), commit_words(entry), _ready(entry), ms(step.saved_ns, sign=True), verdict_words(step)]
        rows.add_row(Text(visible(entry.system)), count(len(history.entries)), *cells)
    return Group(rows, *_remarks(histories))


def log(history: History, steps: Sequence[LedgerStep]) -> RenderableType:
    """Return the history of one system, the latest first."""
    rows = plain_table("date", "commit", "ready ms>", "saved ms>", "verdict", "inputs changed", "note")
    keep_whole(rows, rows.columns[:4])
    for step in reversed(steps):
        entry = step.entry
        rows.add_row(
            _day(entry),
            commit_words(entry),
            _ready(entry),
            ms(step.saved_ns, sign=True),
            verdict_words(step),
            Text(changed_words(step)),
            Text(visible(entry.note)),
        )
    head = Text.assemble((visible(history.system), "bold"), f", {len(history.entries)} entries")
    clocks = [Text(line, style="dim") for line in _clocks(steps)]
    return Group(head, rows, *_felt(steps), Text(), *clocks, *_remarks([history]))


def side_by_side(before: LedgerEntry, step: LedgerStep) -> RenderableType:
    """Return two entries phase by phase, with what else differs."""
    after = step.entry
    rows = plain_table("phase", f"{commit_words(before)}>", f"{commit_words(after)}>", "saved ms>")
    keep_whole(rows, rows.columns[1:])
    for name, first_ns, second_ns in phases_of(before, after):
        saved = ms(first_ns - second_ns, sign=True) if first_ns is not None and second_ns is not None else ""
        rows.add_row(Text(visible(name)), ms(first_ns), ms(second_ns), saved)
    rows.add_section()
    rows.add_row("power-on to ready", _ready(before), _ready(after), ms(step.saved_ns, sign=True), style="bold")
    if timings := timing_names([before, after]):
        rows.add_section()
        for name in timings:
            first_ns, second_ns = before.timings_ns.get(name), after.timings_ns.get(name)
            saved = ms(first_ns - second_ns, sign=True) if first_ns is not None and second_ns is not None else ""
            rows.add_row(Text(visible(name)), timing_words(before, name), timing_words(after, name), saved)
    if before.events or after.events:
        rows.add_section()
        for name in dict.fromkeys([*before.events, *after.events]):
            first, second = before.events.get(name, 0), after.events.get(name, 0)
            rows.add_row(Text(visible(f"{name}, times")), count(first), count(second), f"{first - second:+,}")
    lines: list[RenderableType] = [rows, Text(), Text(f"verdict: {verdict_words(step)}")]
    for name in step.changed:
        hashes = [(one.inputs.get(name) or "none")[:12] for one in (before, after)]
        sizes = [count(one.sizes.get(name)) or "" for one in (before, after)]
        bytes_ = f", {sizes[0] or '?'} -> {sizes[1] or '?'} bytes" if any(sizes) else ""
        lines.append(Text(visible(f"differs: {name} {hashes[0]} -> {hashes[1]}{bytes_}")))
    lines += [Text(line, style="dim") for line in _clocks([step])]
    return Group(*lines)


def issues(system: str, found: Sequence[IssueRow]) -> RenderableType:
    """Return the known issues of a system, what costs most first."""
    rows = plain_table("issue", "status", "costs ms>", "% of boot>", "at first ms>", "since", "fixed by")
    keep_whole(rows, rows.columns[1:5])
    for one in sorted(found, key=lambda row: -(cost_of(row.last, row.issue) or 0)):
        last_ns = cost_of(one.last, one.issue)
        share = percent(last_ns, one.last.ready_ns) if one.last is not None else ""
        first = ms(cost_of(one.first, one.issue)) if one.first is not one.last else ""
        rows.add_row(
            Text(visible(one.issue.title)),
            status_words(one),
            ms(last_ns) or "not measured",
            share,
            first,
            Text(visible(one.issue.since)),
            Text(fixed_words(one.issue)),
        )
    head = Text.assemble(
        (visible(system), "bold"), f", {len(found)} known issues; costs: by the last profile, ", "and by the first"
    )
    return Group(head, rows)


def fixed_words(issue: KnownIssue) -> str:
    """Return who mended an issue, and what that is said to have saved."""
    saved = f"{issue.saved_ms:g} ms, it is said" if issue.saved_ms is not None else ""
    return visible("; ".join(one for one in (issue.fixed_by, saved) if one))


def status_words(row: IssueRow) -> str:
    """Return the status, and where what was mended costs something again."""
    cost_ns = cost_of(row.last, row.issue)
    if row.issue.status == "fixed" and cost_ns:
        return "fixed, and back"
    return row.issue.status.value


def phases_of(before: LedgerEntry, after: LedgerEntry) -> list[tuple[str, int | None, int | None]]:
    """Return (phase, ns before, ns after), in the order of the one before; None where an entry has it not."""
    first = {one.name: one.duration_ns for one in before.phases}
    second = {one.name: one.duration_ns for one in after.phases}
    return [(name, first.get(name), second.get(name)) for name in dict.fromkeys([*first, *second])]


def timing_names(entries: Sequence[LedgerEntry]) -> list[str]:
    """Return the names of the timings that any of the entries has, those of the latest first."""
    return list(dict.fromkeys(name for entry in reversed(entries) for name in entry.timings_ns))


def timing_words(entry: LedgerEntry, name: str) -> str:
    """Return what a timing took; empty where the system of that entry has none of this name."""
    return (ms(entry.timings_ns[name]) or NOT_SEEN) if name in entry.timings_ns else ""


def commit_words(entry: LedgerEntry) -> str:
    """Return a commit as people read it: short, with a `+` where files differed from it."""
    hexadecimal = len(entry.commit) >= 40 and set(entry.commit) <= set("0123456789abcdef")
    name = entry.commit[:12] if hexadecimal else visible(entry.commit)
    return f"{name or '-'}{'+' if entry.dirty else ''}"


def verdict_words(step: LedgerStep) -> str:
    """Return the verdict, or why there is none."""
    if step.verdict is None:
        return f"({visible(step.why)})"
    return f"{step.verdict.value} ({step.why})" if step.why else step.verdict.value


def changed_words(step: LedgerStep) -> str:
    """Return the inputs that changed; the plugin is one, and cannot matter."""
    names = [name for name in step.changed if name != "plugin"]
    return ", ".join(names) if len(names) <= _LEAST_INPUTS else f"{len(names)} inputs"


def _felt(steps: Sequence[LedgerStep]) -> list[RenderableType]:
    """Return the timings of the entries, in a table of their own: beside the others there is no room for three."""
    names = timing_names([step.entry for step in steps])
    if not names:
        return []
    rows = plain_table("date", "commit", *(f"{visible(name)} ms>" for name in names))
    keep_whole(rows, rows.columns[:2])
    for step in reversed(steps):
        rows.add_row(_day(step.entry), commit_words(step.entry), *(timing_words(step.entry, name) for name in names))
    return [Text(), rows]


def _day(entry: LedgerEntry) -> str:
    return visible((entry.commit_time or entry.measured)[:10])


def _ready(entry: LedgerEntry) -> str:
    return ms(entry.ready_ns) or visible(entry.outcome)


def clock_words(step: LedgerStep) -> str:
    """Return the sentence that says what the figures of an entry mean."""
    one = step.entry
    if one.clock == "recorded":
        return f"recorded by another tool ({visible(one.origin)}): its own clock"
    return clock_sentence(one.clock, one.ns_per_instruction, one.cpu, one.seeds, one.accelerator)


def _clocks(steps: Sequence[LedgerStep]) -> list[str]:
    return list(dict.fromkeys(clock_words(step) for step in steps))


def _remarks(histories: Sequence[History]) -> list[Text]:
    return [Text(f"caution: {visible(remark)}", style="yellow") for one in histories for remark in one.remarks]
