"""cloud-init -> Recording: its log, and what `cloud-init analyze show`, `blame` and `dump` print of it.

    2024-03-04 10:00:00,123 - handlers.py[DEBUG]: start: init-local/check-cache: attempting to read from cache
    Starting stage: init-local        |`->no cache found @00.01700s +00.00200s                              show
         00.80300s (init-network/config-growpart)                                                           blame
    [{"name": "init-local", "event_type": "start", "timestamp": 1709546400.123, ...}]                       dump

Stages follow each other and are the phases; what they did is in them. `@` is when a step began in its boot record.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.importers.reading.text_in_place import in_place
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.line_account import Fate
from bootlab.timeline.recording import MOST_SPANS, Length, Recording
from bootlab.timeline.timeline import Timeline

WALL: Final = Clock("cloud-init's", 1_000_000)
_LOG = re.compile(
    r"(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) - (?P<where>[\w.-]{1,60})\[(?P<level>[A-Z]{1,10})\]: (?P<text>.*)"
)
_EVENT = re.compile(
    r"(?P<what>start|finish): (?P<name>[\w./-]{1,200})(?:: (?P<result>[A-Z]{2,10}))?(?:: (?P<about>.*))?"
)
_RECORD = re.compile(r"-- Boot Record (?P<number>\d{1,4}) --")
_STARTING = re.compile(r"\s{0,40}Starting stage: (?P<name>[\w./-]{1,200})")
_STEP = re.compile(r"\s{0,40}\|`->(?P<name>.{1,300}?) @(?P<at>\d{1,9}\.\d{1,6})s \+(?P<took>\d{1,9}\.\d{1,6})s")
_FINISHED = re.compile(r"\s{0,40}Finished stage: \((?P<name>[\w./-]{1,200})\) (?P<took>\d{1,9}\.\d{1,6}) seconds")
_BLAME = re.compile(r"\s{1,40}(?P<took>\d{1,9}\.\d{1,6})s \((?P<name>[\w./-]{1,200})\)")
_HEADS: Final = ("The total time elapsed", "The time the event takes", "Total Time: ", "character.")
_ANALYZED = re.compile(r"\d{1,4} boot records analyzed")
_UP = re.compile(
    r"Cloud-init v\. (?P<version>\S{1,60}) running '(?P<stage>[\w:-]{1,40})' at .{1,80}\. "
    r"Up (?P<up>\d{1,9}(?:\.\d{0,9})?) s"
)
# Before 0.7.7 there are no events, and these are what tells of lengths; the rows come through rsyslog in part.
_TOOK = re.compile(
    r"(?:cloud-init mode '(?P<mode>[\w:-]{1,40})'|(?P<name>\S.{0,100}?)) took "
    r"(?P<took>\d{1,9}\.\d{1,6}) seconds(?: \(.*)?"
)
_SYSLOG = re.compile(
    r"(?P<at>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) \S{1,200} \[CLOUDINIT\] "
    r"(?P<where>[\w.-]{1,60})\[(?P<level>[A-Z]{1,10})\]: (?P<text>.*)"
)
_LONGEST_TEXT: Final = 4096
_FIRST: Final = "init-local"
_STAGES: Final = {"init": "init-network", "modules:config": "modules-config", "modules:final": "modules-final"}
"""What `Cloud-init v. ... running` calls stages that have another name in events."""


@dataclass
class _CloudInit:
    spans: list[Span] = field(default_factory=list)
    lengths: list[Length] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    open_steps: dict[str, list[int]] = field(default_factory=dict)
    unfinished: int = 0
    text: list[tuple[int | None, str]] = field(default_factory=list)
    """The times of the log's rows, and the rows among them that have none."""
    boots: int = 0
    zero_ns: int | None = None
    """The first row's time of day; None before it."""
    whole_seconds: int = 0
    """Rows that came through rsyslog."""
    year: int = 0
    """Of the latest row that names one: rsyslog's have none."""
    running: "_RunningStage | None" = None
    ran: list[Span] = field(default_factory=list)
    """What took how long by a row that says so. Only a log without events needs it."""


@dataclass(frozen=True, slots=True)
class _RunningStage:
    """The stage that runs, and when it said so: by the row's stamp, and by the kernel's time since its start."""

    name: str
    stamp_ns: int
    t_ns: int
    up_ns: int


def recognise(head: Head) -> str:
    """Return the line of the log, or of an analysis, that tells it; of a dump, what its JSON has in it."""
    if head.data.lstrip()[:1] == b"[" and b'"event_type"' in head.data and b'"origin": "cloudinit"' in head.data:
        return 'a JSON list with "event_type" and "origin": "cloudinit"'
    return next((row for row in head.rows if _is_telling(row)), "")


def _is_telling(row: str) -> bool:
    found = _LOG.match(row) or _SYSLOG.match(row)
    if found is not None:
        return _EVENT.match(found["text"]) is not None or _UP.match(found["text"]) is not None
    # The title is not always pasted along.
    forms = (_STEP, _FINISHED, _BLAME)
    return _RECORD.fullmatch(row.strip()) is not None or any(form.fullmatch(row.rstrip()) for form in forms)


def read(source: Source, options: Options) -> Recording:
    """Return the stages and steps of the first boot. Raises FormatError for a file without any."""
    found = _CloudInit()
    if source.head.data.lstrip()[:1] == b"[":
        _read_dump(source, found)
    else:
        _read_rows(source, found)
    notes = []
    if not found.spans and found.ran:
        found.spans += found.ran
        notes.append("The log has no events (cloud-init before 0.7.7): what took how long is what its rows say.")
    if found.whole_seconds:
        notes.append(f"{found.whole_seconds} rows came through rsyslog, which stamps whole seconds.")
    if not found.spans and not found.lengths:
        raise source.expected(
            "events of cloud-init: `2024-03-04 10:00:00,123 - handlers.py[DEBUG]: start: init-local: ...`, or what "
            "`cloud-init analyze show`, `blame` or `dump` print"
        )
    found.unfinished = sum(map(len, found.open_steps.values()))
    if found.unfinished:
        notes.append(f"{found.unfinished} steps never finished in it.")
    return Recording(
        format=IMPORTER.name,
        tool=f"cloud-init {found.facts.get('version', '')}".strip(),
        timeline=Timeline.of(WALL, found.events[:MOST_SPANS], found.spans[:MOST_SPANS]),
        about_clock="the machine's time of day; zero is cloud-init's first event",
        phases=tuple(_phases(found.spans)),
        lengths=tuple(found.lengths[:MOST_SPANS]),
        text=in_place(found.text),
        facts=found.facts,
        notes=tuple(notes),
    )


def _read_rows(source: Source, found: _CloudInit) -> None:
    record, stage, last_ns = "", "", 0
    for _, text in source.rows():
        row = text.rstrip()
        if _is_of_log(row, found, source.tally):
            continue
        if (title := _RECORD.fullmatch(row.strip())) is not None:
            source.tally.aside("titles")
            record = record or ("before its title" if found.spans or found.lengths else title["number"])
            stage = "" if title["number"] == record else "-"
        elif stage == "-":
            source.tally.leave_out("of a later boot record")
        elif (starting := _STARTING.fullmatch(row)) is not None:
            source.tally.used("stages")
            stage = starting["name"]
            found.open_steps.setdefault(stage, []).append(last_ns)
        elif (step := _STEP.fullmatch(row)) is not None:
            source.tally.used("steps")
            at_ns, took_ns = _ns(step["at"]), _ns(step["took"])
            # A stage begins with its first step, as nothing says when it did.
            begun = found.open_steps.get(stage)
            if begun and begun[-1] <= last_ns and not any(one.about == stage for one in found.spans[-1:]):
                begun[-1] = at_ns
            last_ns = at_ns + took_ns
            found.spans.append(Span(at_ns, last_ns, "cloud-init", step["name"], about=stage))
        elif (finished := _FINISHED.fullmatch(row)) is not None:
            source.tally.used("stages")
            start_ns = (found.open_steps.get(finished["name"]) or [last_ns]).pop()
            end_ns = start_ns + _ns(finished["took"])
            found.spans.append(Span(start_ns, end_ns, "cloud-init stage", finished["name"]))
            last_ns = max(last_ns, end_ns)
        elif (blame := _BLAME.fullmatch(row)) is not None:
            source.tally.used("steps")
            found.lengths.append(Length(_ns(blame["took"]), "cloud-init", blame["name"]))
        elif row.strip().startswith(_HEADS) or _ANALYZED.match(row.strip()):
            source.tally.aside("titles")
        elif found.boots > 1:
            source.tally.leave_out("of a later boot")
        elif found.events and row:
            source.tally.text("rows without a time")
            found.text.append((None, row))


def _is_of_log(row: str, found: _CloudInit, tally: Tally) -> bool:
    # Whether it is a stamped row of the log, which is then accounted for.
    log = _LOG.match(row) or _SYSLOG.match(row)
    t_ns = None if log is None else _wall_ns(log["at"], found.year)
    if log is None or t_ns is None:
        return False
    found.year = max(found.year, int(log["at"][:4]) if log["at"][:4].isdigit() else 0)
    found.zero_ns = t_ns if found.zero_ns is None else found.zero_ns
    up = _UP.match(log["text"])
    found.boots += up is not None and up["stage"] == _FIRST
    if found.boots > 1:
        tally.leave_out("of a later boot")
    else:
        found.whole_seconds += log.re is _SYSLOG
        before_ns = found.events[-1].t_ns if log.re is _SYSLOG and found.events else 0
        tally.used(_take_log(max(t_ns - found.zero_ns, before_ns), log["text"], found))
    return True


def _take_log(t_ns: int, text: str, found: _CloudInit) -> str:
    found.events.append(Event(t_ns, "cloud-init", text[:_LONGEST_TEXT]))
    found.text.append((t_ns, ""))
    if (up := _UP.match(text)) is not None:
        if "version" not in found.facts:
            found.facts |= {"version": up["version"], "up at its first stage": f"{up['up']} s"}
        found.running = _running(up["stage"], t_ns, _ns(up["up"]), found.running)
    elif (took := _TOOK.fullmatch(text)) is not None and found.running is not None and len(found.ran) < MOST_SPANS:
        found.ran.append(_ran(took, t_ns, found.running))
    event = _EVENT.match(text)
    if event is None:
        return "rows of the log"
    _take(t_ns, event["what"], event["name"], event["result"] or "", event["about"] or "", found)
    return "starts and finishes"


def _running(name: str, t_ns: int, up_ns: int, before: _RunningStage | None) -> _RunningStage:
    # The time since the kernel's start is finer than rsyslog's seconds, and nobody sets it.
    by_up_ns = t_ns if before is None or up_ns < before.up_ns else before.t_ns + up_ns - before.up_ns
    return _RunningStage(_STAGES.get(name, name), t_ns, by_up_ns, up_ns)


def _ran(took: "re.Match[str]", t_ns: int, running: _RunningStage) -> Span:
    took_ns = _ns(took["took"])
    if took["mode"] is not None:
        return Span(running.t_ns, running.t_ns + took_ns, "cloud-init stage", running.name)
    return Span(max(t_ns - took_ns, 0), max(t_ns, took_ns), "cloud-init", f"{running.name}/{took['name']}")


def _take(t_ns: int, what: str, name: str, result: str, about: str, found: _CloudInit) -> None:
    if what == "start":
        found.open_steps.setdefault(name, []).append(t_ns)
        return
    begun = found.open_steps.get(name)
    if not begun and found.running is not None and found.running.name == name:
        # A stage's own start comes before it has opened its log; cloud-init's analysis takes this row, too.
        begun = [found.running.stamp_ns]
    if begun:
        start_ns = begun.pop()
        said = "; ".join(filter(None, [result if result != "SUCCESS" else "", about[:200]]))
        if start_ns <= t_ns:
            source = "cloud-init" if "/" in name else "cloud-init stage"
            found.spans.append(Span(start_ns, t_ns, source, name, about=said))


def _read_dump(source: Source, found: _CloudInit) -> None:
    try:
        document: Any = json.loads(source.text())
    except (ValueError, RecursionError) as error:
        raise source.expected(f"a JSON list of cloud-init's events: {str(error)[:120]}") from error
    entries = document if isinstance(document, list) else []
    zero: float | None = None
    used = 0
    for entry in entries:
        at = entry.get("timestamp") if isinstance(entry, dict) else None
        if not isinstance(at, int | float) or isinstance(at, bool) or not 0 <= at < 1e11:
            continue
        zero = at if zero is None else zero
        t_ns = max(round((at - zero) * 1e6), 0) * 1_000
        used += 1
        name, what = str(entry.get("name", ""))[:200], str(entry.get("event_type", ""))
        about = str(entry.get("description", ""))
        found.events.append(Event(t_ns, "cloud-init", f"{what}: {name}: {about}"[:_LONGEST_TEXT]))
        _take(t_ns, what, name, str(entry.get("result", "")), about, found)
    source.tally.of_records("events", len(entries))
    source.tally.add(Fate.USED, "starts and finishes", used)
    source.tally.add(Fate.LEFT_OUT, "without a time", len(entries) - used)


def _phases(spans: Sequence[Span]) -> Iterator[Span]:
    # What lies inside of another stage, as a data source's own, is part of it.
    end_ns = -1
    for span in sorted(_stages(spans), key=lambda one: (one.start_ns, -one.end_ns)):
        if span.start_ns >= end_ns:
            yield Span(span.start_ns, span.end_ns, "phase", span.name)
            end_ns = span.end_ns


def _stages(spans: Iterable[Span]) -> Iterator[Span]:
    return (span for span in spans if span.source == "cloud-init stage")


def _ns(seconds: str) -> int:
    whole, _, fraction = seconds.partition(".")
    return int(whole) * 1_000_000_000 + int(fraction.ljust(9, "0"))


def _wall_ns(text: str, year: int) -> int | None:
    try:
        if not text[0].isdigit():
            text = datetime.strptime(f"{year} {text}", "%Y %b %d %H:%M:%S").strftime("%Y-%m-%d %H:%M:%S,000")
        since = datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f") - datetime(1970, 1, 1)
    except ValueError:
        return None
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000


IMPORTER: Final = Importer("cloud-init", "cloud-init.log, cloud-init analyze show, blame or dump", recognise, read)
