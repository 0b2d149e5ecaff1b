"""Several recordings of one boot on one clock: serial log, kernel log, systemd's times, a trace.

Two clocks are laid over each other by what both recordings tell of: a line's text, a unit, an initcall. What is told
later than it happened is never told earlier, so the lower envelope of the differences carries the truth
(timeline/clock.py). A recording that shares nothing with the others, or is of another boot, is refused.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bootlab.errors import InputError
from bootlab.importers.kernel import dmesg
from bootlab.importers.onto_another_clock import place
from bootlab.importers.reading.text_in_place import behind_events, behind_times
from bootlab.importers.systemd.analyze_text import USERSPACE
from bootlab.timeline.clock import Alignment, Clock, align
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Length, Recording
from bootlab.timeline.timeline import Timeline

# The clock that is looked at first: the one that sees the most of a boot.
_ORDER: Final = ("console", "printk", "trace", "monotonic", "uptime")
_CONSOLE: Final = _ORDER[0]
"""Each such log counts from its own first line; the others have the boot's zero in common."""
_STEADY: Final = ("monotonic", "uptime")
"""Clocks that neither stand still nor step: their offset holds at all times, and not only where lines prove it."""
_FEWEST: Final = 4
_ROBSON_WHITLOCK: Final = 19
_SAYING_NS: Final = 100_000
"""What the kernel may take to say an initcall's line, shared by all; 13 us by an exact trace of Debian's 6.1."""
_STATED: Final = ("systemd-show", "systemd-svg", "systemd-analyze", "dmesg", "grabserial", "watch")
"""The formats that state phases: those of the first one that has any are taken."""
_SAME_PHASE_NS: Final = 100_000_000
_SAME_SHARE: Final = 0.5
#   [  OK  ] Started ssh.service - OpenBSD Secure Shell server.        on the console, in colours, cut in the middle
#   systemd[1]: Starting systemd-journald.service - Journal Service...  in the kernel log
_UNIT = r"(?P<unit>[\w@:.\\-]+\.(?:service|socket|target|device|mount|automount|swap|timer|path|slice|scope))\b"
_BEGINS = re.compile(rf"(?:Starting|Mounting|Activating swap) {_UNIT}")
_ACTIVE = re.compile(
    r"(?:Started|Finished|Mounted|Reached target|Listening on|Created slice|Set up automount|Activated swap"
    rf"|Found device) {_UNIT}"
)
_CONTROL = re.compile(r"\x1b(?:\[[0-9;:?]*[A-Za-z]|c)")

Moments = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Placement:
    """How one recording lies on the common clock: add `offset_ns`, good to plus or minus `uncertainty_ns`.

    `since_ns`: from when on, on its own clock; None for always. `pairs`: how many moments it is drawn from; 0 where the
    clocks are one.
    """

    name: str
    clock: str
    onto: str
    offset_ns: int
    uncertainty_ns: int
    since_ns: int | None
    pairs: int


@dataclass(frozen=True, slots=True)
class Merged:
    """Recordings of one boot as one, and how each of them was placed."""

    recording: Recording
    placements: tuple[Placement, ...]


@dataclass(frozen=True, slots=True)
class _Placed:
    name: str
    own: Recording
    """On its own clock."""
    placed: Recording
    """On the common one."""
    placement: Placement


def merge(recordings: Sequence[tuple[str, Recording]]) -> Merged:
    """Return (name, recording) of one boot as one recording, on the clock that sees the most of it.

    What has next to no moments lends its lengths. Raises InputError, naming the files, for recordings that have
    nothing in common, or that are of two boots.
    """
    _expect_times(recordings)
    waiting = sorted(recordings, key=lambda one: _rank(one[1]))
    name, target = waiting.pop(0)
    done = [_Placed(name, target, target, Placement(name, target.timeline.clock.name, name, 0, 0, None, 0))]
    while waiting:
        found = next(
            ((one, there, how) for one in waiting for there in done if (how := _place(one, there, target)) is not None),
            None,
        )
        if found is None:
            break
        one, _, placed = found
        waiting.remove(one)
        done.append(placed)
    beside = [_without_place(name, one, done) for name, one in waiting]
    return Merged(_joined(done, beside), tuple(one.placement for one in done))


def _without_place(name: str, one: Recording, done: Sequence[_Placed]) -> Recording:
    # Too few moments to be laid by, such as a blame list's none: what it says the length of stands beside the rest.
    if len(one.timeline.events) + len(one.timeline.spans) >= _FEWEST:
        raise InputError(
            f"{name}: has nothing in common with {', '.join(there.name for there in done)} to lay it by",
            hint="a kernel log (dmesg) has lines in common with a serial log and with systemd's units",
        )
    spans = [replace(phase, source=f"phases of {one.format}") for phase in one.phases]
    ours = (*one.lengths, *(Length(span.duration_ns, span.source, span.name, span.about)
                            for span in (*spans, *one.timeline.spans)))  # fmt: skip
    theirs = {(span.source, span.name): span.duration_ns for there in done for span in there.own.timeline.spans}
    common = [length for length in ours if (length.source, length.name) in theirs]
    apart = [length for length in common if abs(length.took_ns - theirs[length.source, length.name]) > _SAME_PHASE_NS]
    if len(apart) > len(common) // 2:
        raise InputError(
            f"{name}: not of one boot with the others, {len(apart)} of {len(common)} lengths are not the same",
            hint="--compare lays two boots side by side",
        )
    same = f"{len(common) - len(apart)} of {len(common)} lengths are the same" if common else "nothing proves it"
    note = f"It has too few moments to lie on their clock: its lengths stand beside. Of the same boot: {same}."
    return replace(
        one,
        timeline=Timeline.of(one.timeline.clock, []),
        phases=(),
        lengths=ours,
        notes=(f"{name}: {note}", *(f"{name}: {said}" for said in one.notes)),
    )


def _expect_times(recordings: Sequence[tuple[str, Recording]]) -> None:
    for name, one in recordings:
        if one.series:
            raise InputError(f"{name}: has figures of several boots, which no single boot can be laid over",
                             hint="--compare compares two such files")  # fmt: skip
        if one.timeline.clock.unit != "ns":
            raise InputError(f"{name}: counts {one.timeline.clock.unit}, which no other clock does",
                             hint="--tsc-frequency HZ says how fast it counted")  # fmt: skip


def _rank(one: Recording) -> int:
    name = one.timeline.clock.name
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


def _place(one: tuple[str, Recording], there: _Placed, target: Recording) -> _Placed | None:
    name, recording = one
    if (chain := _place_chain(name, recording, there)) is not None:
        return chain
    if recording.timeline.clock.name == there.own.timeline.clock.name != _CONSOLE:
        _expect_one_boot(name, recording, there)
        # One clock: nothing to estimate but how it was printed.
        uncertainty = recording.timeline.clock.resolution_ns + there.placement.uncertainty_ns
        offset, since, pairs = there.placement.offset_ns, there.placement.since_ns, 0
    else:
        found = _alignment(name, recording, there)
        if found is None:
            return None
        own, pairs = found
        offset = own.offset_ns + there.placement.offset_ns
        uncertainty = own.uncertainty_ns + there.placement.uncertainty_ns
        since = None if recording.timeline.clock.name in _STEADY else own.since_ns
        if since is not None and there.placement.since_ns is not None:
            since = max(since, there.placement.since_ns - own.offset_ns)
    clock = recording.timeline.clock
    whole = Alignment(clock, target.timeline.clock, offset, uncertainty, -(1 << 62) if since is None else since)
    placement = Placement(name, clock.name, there.name, offset, uncertainty, since, pairs)
    return _Placed(name, recording, place(recording, whole), placement)


def _place_chain(name: str, recording: Recording, there: _Placed) -> _Placed | None:
    # A critical chain counts from systemd's start, which is where the others' phase of user space begins.
    if recording.timeline.clock.name != USERSPACE.name or not recording.timeline.spans:
        return None
    begun = next((phase for phase in there.placed.phases if phase.name == "userspace"), None)
    if begun is None:
        return None
    clock, target = recording.timeline.clock, there.placed.timeline.clock
    uncertainty = clock.resolution_ns + target.resolution_ns + there.placement.uncertainty_ns
    whole = Alignment(clock, target, begun.start_ns, uncertainty, -(1 << 62))
    placement = Placement(name, clock.name, there.name, begun.start_ns, uncertainty, None, 0)
    return _Placed(name, recording, place(recording, whole), placement)


def _alignment(name: str, recording: Recording, there: _Placed) -> tuple[Alignment, int] | None:
    source, target = recording.timeline.clock, there.own.timeline.clock
    if source.name == dmesg.PRINTK.name and target.name == "console":
        pairs = _stamped(name, recording, there)
    else:
        ours, theirs = _moments(recording), _moments(there.own)
        pairs = [(ours[key], theirs[key]) for key in ours.keys() & theirs.keys()]
    pairs = sorted((pair for pair in pairs if pair[0] > 0), key=lambda pair: pair[1])
    if len(pairs) < _FEWEST:
        return None
    if source.name == target.name:
        # Either of two hosts may stamp late, so the truth lies anywhere between the least difference and the largest.
        differences = [later - earlier for earlier, later in pairs]
        low, high = min(differences) - source.resolution_ns, max(differences) + target.resolution_ns
        since = min(earlier for earlier, _ in pairs)
        return Alignment(source, target, (low + high) // 2, (high - low + 1) // 2, since), len(pairs)
    if (source.name, target.name) == ("trace", dmesg.PRINTK.name):
        # Of an initcall the kernel first says a line and then records an event, so here the source is the one late.
        back = _laid(sorted((later, earlier) for earlier, later in pairs), target, source)
        since = back.since_ns + back.offset_ns
        return Alignment(source, target, -back.offset_ns, back.uncertainty_ns + _SAYING_NS, since), len(pairs)
    return _laid(pairs, source, target), len(pairs)


def _laid(pairs: Sequence[tuple[int, int]], source: Clock, target: Clock) -> Alignment:
    try:
        return align(pairs, source, target)
    except InputError:
        # Too few for an envelope in windows. The truth is at most 19 times as far below the least offset as the next
        # one is above it, in 95 % of all cases (Robson and Whitlock, Estimation of a truncation point, Biometrika 51,
        # 1964), if the clocks do not drift apart.
        least, second = sorted(later - earlier for earlier, later in pairs)[:2]
        late = _ROBSON_WHITLOCK * (second - least)
        uncertainty = late - late // 2 + source.resolution_ns + target.resolution_ns
        since = min(earlier for earlier, _ in pairs)
        return Alignment(source, target, least - late // 2, uncertainty, since)


def _stamped(name: str, recording: Recording, there: _Placed) -> list[tuple[int, int]]:
    # Console lines bear the kernel's stamp themselves; the kernel log proves that they are of the same boot.
    told = {(event.t_ns, event.name.split("\n")[0].strip()) for event in recording.timeline.events}
    pairs, same = [], 0
    for event in there.own.timeline.events:
        (line, *_) = dmesg.parse(event.name).lines or (None,)
        if line is not None and line.t_ns is not None:
            pairs.append((line.t_ns, event.t_ns))
            same += (line.t_ns, line.text.strip()) in told
    if pairs and same < _SAME_SHARE * len(pairs):
        raise InputError(
            f"{name} and {there.name}: not of one boot, {same} of {len(pairs)} stamped lines are the same",
            hint="--compare lays two boots side by side",
        )
    return pairs


def _expect_one_boot(name: str, recording: Recording, there: _Placed) -> None:
    theirs = {phase.name: phase for phase in there.own.phases}
    for phase in recording.phases:
        other = theirs.get(phase.name)
        if other is not None and abs(other.duration_ns - phase.duration_ns) > _SAME_PHASE_NS:
            raise InputError(
                f"{name} and {there.name}: not of one boot, {phase.name} took {phase.duration_ns / 1e6:.0f} ms in one "
                f"and {other.duration_ns / 1e6:.0f} ms in the other",
                hint="--compare lays two boots side by side",
            )
    ours, both = _moments(recording), _moments(there.own)
    common = ours.keys() & both.keys()
    apart = [key for key in common if abs(ours[key] - both[key]) > _SAME_PHASE_NS]
    if len(apart) > len(common) // 2:
        raise InputError(
            f"{name} and {there.name}: not of one boot, {len(apart)} of {len(common)} moments are not the same",
            hint="--compare lays two boots side by side",
        )


def _moments(recording: Recording) -> Moments:
    # What happened only once in the recording, by what it is.
    found = list(_tell(recording))
    often = Counter(key for key, _ in found)
    return {key: t_ns for key, t_ns in found if often[key] == 1}


def _tell(recording: Recording) -> Iterator[tuple[tuple[str, str], int]]:
    for event in recording.timeline.events:
        text = _CONTROL.sub("", event.name)
        if event.source == "systemd":
            if text.startswith("active "):
                yield ("active", text.removeprefix("active ")), event.t_ns
        elif (unit := _BEGINS.search(text)) is not None:
            yield ("begins", unit["unit"]), event.t_ns
        elif (unit := _ACTIVE.search(text)) is not None:
            yield ("active", unit["unit"]), event.t_ns
        elif len(text) > 20:
            yield ("line", text), event.t_ns
    for span in recording.timeline.spans:
        if span.source == "unit":
            yield ("begins", span.name), span.start_ns
        elif span.source == "critical chain":
            yield ("begins" if span.duration_ns else "active", span.name), span.start_ns
        elif span.source == "initcall":
            yield ("initcall", span.name), span.start_ns


def _joined(done: Sequence[_Placed], beside: Sequence[Recording]) -> Recording:
    target = done[0].placed
    told = {event.name.strip() for one in done for event in one.placed.timeline.events}
    events, spans, seen_lines, seen_spans = [], [], set(), set()
    texts: list[tuple[int | None, str]] = []
    # The clock that sees everything sees it late, so what another recording tells better is taken from there.
    for one in reversed(done):
        keyed = [(_line(event), event) for event in one.placed.timeline.events]
        events += [event for key, event in keyed if key not in seen_lines]
        texts += [
            line for line in behind_times(one.placed.timeline.events, one.placed.text) if line[1].strip() not in told
        ]
        seen_lines |= {key for key, _ in keyed}
        mine = [span for span in one.placed.timeline.spans if (span.source, span.name) not in seen_spans]
        spans += mine
        seen_spans |= {(span.source, span.name) for span in mine}
    said = [*(one.placed for one in done), *beside]
    lengths = {(length.source, length.name): length for one in (*beside, *said[: len(done)]) for length in one.lengths}
    spine = _spine(done)
    spans += [
        replace(phase, source=f"phases of {one.own.format}") for one in done if one is not spine
        for phase in one.placed.phases
    ]  # fmt: skip
    facts: dict[str, str] = {}
    for recording in said:
        facts = {**recording.facts, **facts}
    timeline = Timeline.of(target.timeline.clock, events[: 2 * MOST_SPANS], spans[: 2 * MOST_SPANS])
    return Recording(
        format=" + ".join(dict.fromkeys(one.format for one in said)),
        tool=", ".join(dict.fromkeys(one.tool for one in said)),
        timeline=timeline,
        about_clock=done[0].own.about_clock,
        phases=_phases(spine, events) if spine is not None else (),
        lengths=tuple(length for key, length in lengths.items() if key not in seen_spans),
        stacks=tuple(stack for one in said for stack in one.stacks),
        text=behind_events(timeline.events, texts),
        facts=facts,
        notes=(
            *(_placement_words(one.placement) for one in done[1:]),
            *{note: f"{one.name}: {note}" for one in reversed(done) for note in one.own.notes}.values(),
            *(note for one in beside for note in one.notes),
        ),
    )


def _line(event: Event) -> str:
    # A line without its stamp; anything but a line is its own.
    text = _CONTROL.sub("", event.name)
    (line, *_) = dmesg.parse(text[:200]).lines or (None,)
    return (
        line.text.strip()[:100]
        if line is not None and event.source in ("console", "kernel")
        else f"{event.source} {text}"
    )


def _spine(done: Sequence[_Placed]) -> _Placed | None:
    for name in _STATED:
        for one in done:
            if one.own.format == name and one.own.phases:
                return one
    return next((one for one in done if one.own.phases), None)


def _phases(spine: _Placed, events: Sequence[Event]) -> tuple[Span, ...]:
    phases = spine.placed.phases
    first = min((event.t_ns for event in events), default=phases[0].start_ns)
    before = Span(first, phases[0].start_ns, "phase", "before")
    return (before, *phases) if first < phases[0].start_ns - spine.placement.uncertainty_ns else phases


def _placement_words(one: Placement) -> str:
    ms = 1_000_000
    how = f"{one.pairs} moments in common with {one.onto}" if one.pairs else f"the same clock as {one.onto}"
    since = f", from its {one.since_ns / 1e9:.3f} s on" if one.since_ns is not None and one.since_ns > 0 else ""
    direction = "behind" if one.offset_ns >= 0 else "ahead of"
    return (
        f"{one.name}: its {one.clock} clock is {abs(one.offset_ns) / ms:.3f} ms {direction} the common one, +- "
        f"{one.uncertainty_ns / ms:.3f} ms ({how}){since}."
    )
