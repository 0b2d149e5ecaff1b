"""Cloud Hypervisor's event monitor -> Recording: when it began and ended what it did, and when devices were taken up.

    {"timestamp": {"secs": 0, "nanos": 1413000}, "source": "vm", "event": "booting", "properties": null}

Format: event_monitor/src/lib.rs of Cloud Hypervisor 53.0, a JSON object an event, over several lines, an empty line
between two. `--event-monitor path=FILE` writes it. `vm booted` says that the vCPUs run, and nothing of the guest.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.line_account import Fate
from bootlab.timeline.recording import MOST_SPANS, Recording
from bootlab.timeline.timeline import Timeline

HOST: Final = Clock("host since the event monitor's start", 1)
_S: Final = 1_000_000_000
_LATEST_S: Final = 10**9
_LONGEST_WORD: Final = 60
_BOOTED: Final = (
    "`vm booted` is when the vCPUs' threads were let go: it says nothing of what the guest had done by then."
)


def recognise(head: Head) -> str:
    """Return what the first object is, where it is an event."""
    start = head.data[:4096].decode(errors="replace").lstrip()
    if not start.startswith("{") or not all(f'"{key}"' in start for key in ("timestamp", "secs", "nanos", "source")):
        return ""
    return "a JSON object with timestamp.secs, source and event"


def read(source: Source, options: Options) -> Recording:
    """Return the events, and what led from each to the next. Raises FormatError when there is none."""
    events, others = parse(source.text())
    if not events:
        raise source.expected(
            'events such as {"timestamp": {"secs": 0, "nanos": 1}, "source": "vm", "event": "booted"}'
        )
    source.tally.of_records("objects", len(events) + others)
    source.tally.add(Fate.USED, "events", len(events))
    source.tally.add(Fate.LEFT_OUT, "without a time, a source or a name, or cut off", others)
    ordered = sorted(events)[:MOST_SPANS]
    led = zip(ordered, ordered[1:], strict=False)
    return Recording(
        format=IMPORTER.name,
        tool="Cloud Hypervisor",
        timeline=Timeline.of(HOST, [Event(t_ns, "vmm", name) for t_ns, name in ordered]),
        about_clock="the host's; zero is when the event monitor began, just before `vmm starting`",
        phases=tuple(Span(start, end, "phase", name) for (start, _), (end, name) in led if end > start),
        notes=(_BOOTED,) if any(name == "vm booted" for _, name in events) else (),
    )


def parse(text: str) -> tuple[list[tuple[int, str]], int]:
    """Return each event's ns since the monitor began and its name, and how many objects are none or cut off.

    Devices are told apart by their id, as in `virtio-device activated disk0`.
    """
    events: list[tuple[int, str]] = []
    others = 0
    for document in _documents(text):
        t_ns, name = _stamp_ns(document), _name(document)
        if t_ns is None or not name:
            others += 1
        else:
            events.append((t_ns, name))
    return events, others


def _stamp_ns(document: dict[str, Any]) -> int | None:
    stamp = document.get("timestamp")
    seconds, ns = (stamp.get("secs"), stamp.get("nanos")) if isinstance(stamp, dict) else (None, None)
    if type(seconds) is not int or type(ns) is not int or not 0 <= seconds < _LATEST_S or not 0 <= ns < _S:
        return None
    return seconds * _S + ns


def _name(document: dict[str, Any]) -> str:
    source, event, about = (document.get(key) for key in ("source", "event", "properties"))
    if not isinstance(source, str) or not isinstance(event, str):
        return ""
    which = about.get("id") if isinstance(about, dict) else None
    words = [source, event, which] if isinstance(which, str) else [source, event]
    return " ".join(word[:_LONGEST_WORD] for word in words)


def _documents(text: str) -> Iterator[dict[str, Any]]:
    decoder, at = json.JSONDecoder(), 0
    while (at := text.find("{", at)) >= 0:
        try:
            document, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            # Cut off, as where it was killed.
            yield {}
            return
        yield document if isinstance(document, dict) else {}


IMPORTER: Final = Importer(
    name="cloud-hypervisor-events",
    title="what Cloud Hypervisor's event monitor wrote (--event-monitor path=FILE)",
    recognise=recognise,
    read=read,
)
