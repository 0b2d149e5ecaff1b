"""A recorded boot -> what its machine says this time: console, trace and end, each moved or cut as its answer asks.

Pure. What comes before the moment that is moved stays exactly as it was recorded, so a boot shows the same evidence
of what it did; whatever was recorded later than a boot that is earlier now is ready comes at that moment.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bootlab.errors import InputError
from bootlab.system import System
from bootlab.targets.replay.recordings import CONSOLE, RecordedBoot
from bootlab.targets.replay.script import SCRIPT, ReplayedEnd, ScriptedAnswer
from bootlab.targets.target import EndReason
from bootlab.timeline import marks as m

_MARK = re.compile(r"bootlab: mark (\S+)")
# Of a record in the trace, where its time is; its instructions follow.
_TIME_AT = {"mark": 2, "guest": 2, "call": 2, "console": 1, "end": 1}
_REASONS = {
    ReplayedEnd.PANICKED: EndReason.GUEST_PANIC,
    ReplayedEnd.NOT_READY: EndReason.GUEST_SHUTDOWN,
    ReplayedEnd.TARGET_DIED: EndReason.DIED,
}


@dataclass(frozen=True, slots=True)
class Play:
    """What one replayed machine does, its times in ns since power-on.

    `end`: how it ends by itself; None when it goes on until it is stopped. `hangs`: nothing more comes from it, so the
    deadline passes. `refuses`: why it cannot be switched on. `interrupted`: Ctrl-C is pressed meanwhile.
    """

    console: tuple[tuple[int, bytes], ...]
    trace: str | None
    end: EndReason | None = None
    detail: str = ""
    hangs: bool = False
    refuses: str | None = None
    interrupted: bool = False


def as_recorded(recording: RecordedBoot, system: System) -> Play:
    """Return the boot as it is on record."""
    record = recording.record
    console = tuple(_stamped(recording, system, recording.console))
    ended = {end.value: end for end in ReplayedEnd}.get(record.outcome)
    if ended is None:
        _expect_check(recording, system)
        return _ready(console, recording.trace)
    if ended is ReplayedEnd.NOT_STARTED:
        return Play(console, None, refuses=record.detail)
    if ended is ReplayedEnd.NOT_READY:
        # The first words of the detail are the reason.
        reason = next((one for one in EndReason if record.detail.startswith(one.value)), EndReason.GUEST_SHUTDOWN)
        return Play(console, recording.trace, reason)
    if ended in (ReplayedEnd.HUNG, ReplayedEnd.CHECK_FAILED):
        return Play(console, recording.trace, hangs=True)
    return Play(console, recording.trace, _REASONS[ended], record.detail if ended is ReplayedEnd.TARGET_DIED else "")


def as_answered(recording: RecordedBoot, system: System, answer: ScriptedAnswer) -> Play:
    """Return the boot as its script has it. Raises InputError for an answer that no boot can give."""
    ready_ns = recording.record.marks.get(m.READY)
    if ready_ns is None or recording.record.outcome != "ready":
        if answer.end is None and not answer.later_ns:
            return as_recorded(recording, system)
        raise InputError(
            f"{_script_of(recording)}: boot {recording.directory.name!r} was not ready, so it cannot be moved or end "
            "in another way",
            hint="answer with a boot that was ready",
        )
    if ready_ns + answer.later_ns <= 0:
        raise InputError(
            f"{_script_of(recording)}:later_ns: {-answer.later_ns} ns earlier would be before power-on: it was ready "
            f"after {ready_ns} ns",
            hint="the later_ns of all answers that hold add up",
        )
    move = _mover(ready_ns, answer.later_ns)
    console, trace = recording.console, recording.trace
    if answer.end is None:
        _expect_check(recording, system)
    else:
        console, trace = _cut(recording, system, answer, ready_ns)
    stamped = tuple((move(t_ns), data) for t_ns, data in _stamped(recording, system, console))
    trace = None if trace is None else _moved(trace, move)
    return _ending(answer, stamped, trace)


def _expect_check(recording: RecordedBoot, system: System) -> None:
    pattern = None if system.check is None else system.check.console
    lines = recording.console.decode(errors="replace").split("\n")
    if pattern is not None and not any(re.search(pattern, line) for line in lines):
        raise InputError(
            f"{recording.directory / CONSOLE}: cannot be replayed: no line of it is what check.console waits for, "
            f"{pattern!r}, and the boot passed its check: cut, or of a system with another check",
            hint="record it again, or give the system the check that it had",
        )


def _script_of(recording: RecordedBoot) -> Path:
    return recording.directory.parent / SCRIPT


def _ending(answer: ScriptedAnswer, console: tuple[tuple[int, bytes], ...], trace: str | None) -> Play:
    end = answer.end
    if end is None:
        return _ready(console, trace)
    if end is ReplayedEnd.NOT_STARTED:
        return Play((), None, refuses=answer.detail)
    if end is ReplayedEnd.INTERRUPTED:
        return Play(console, trace, interrupted=True)
    if end in (ReplayedEnd.HUNG, ReplayedEnd.CHECK_FAILED):
        return Play(console, trace, hangs=True)
    return Play(console, trace, _REASONS[end], answer.detail if end is ReplayedEnd.TARGET_DIED else "")


def _ready(console: tuple[tuple[int, bytes], ...], trace: str | None) -> Play:
    # A traced machine is ended by its stop mark; another one goes on until it is stopped.
    return Play(console, trace, None if trace is None else EndReason.STOPPED)


def _mover(ready_ns: int, later_ns: int) -> Callable[[int], int]:
    def move(t_ns: int) -> int:
        return t_ns + later_ns if t_ns >= ready_ns else min(t_ns, ready_ns + later_ns)

    return move


def _moved(trace: str, move: Callable[[int], int]) -> str:
    shift, lines = 0, []
    for line in trace.split("\n")[:-1]:
        words = line.split(" ")
        if words[:2] == ["clock", "virtual"]:
            shift = int(words[2])
        if (at := _TIME_AT.get(words[0])) is not None:
            by_ns = move(int(words[at])) - int(words[at])
            words[at] = str(int(words[at]) + by_ns)
            # The machine works for as much longer or shorter; its idle time is that on record.
            words[at + 1] = str(max(0, int(words[at + 1]) + (by_ns >> shift)))
        lines.append(" ".join(words) + "\n")
    return "".join(lines)


def _stamped(recording: RecordedBoot, system: System, console: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the console in pieces: all of it at once where a trace has the times, else line by line at its marks."""
    if recording.trace is not None:
        yield 0, console
        return
    marks, t_ns = recording.record.marks, 0
    for line in console.splitlines(keepends=True):
        names = _marks_of(line.decode(errors="replace"), system)
        t_ns = max(t_ns, *(marks.get(name, 0) for name in names), 0)
        yield t_ns, line


def _marks_of(line: str, system: System) -> Iterator[str]:
    if (found := _MARK.search(line)) is not None:
        yield found[1]
    yield from (name for pattern, name in m.KERNEL_LINES if pattern.search(line) is not None)
    if system.booted.console is not None and re.search(system.booted.console, line) is not None:
        yield m.READY


def _cut(recording: RecordedBoot, system: System, answer: ScriptedAnswer, ready_ns: int) -> tuple[bytes, str | None]:
    """Return console and trace of a boot that ends otherwise: up to ready, or for a failed check with it."""
    failed_check = answer.end is ReplayedEnd.CHECK_FAILED
    lines: list[bytes] = []
    for line in recording.console.splitlines(keepends=True):
        said_ready = _says_ready(line.decode(errors="replace"), system)
        if not said_ready or failed_check:
            lines.append(line)
        if said_ready:
            break
    console = b"".join(lines)
    if failed_check:
        console += _failed_line(recording, system, answer)
    elif answer.end is ReplayedEnd.PANICKED:
        console += f"Kernel panic - not syncing: {answer.detail}\n".encode()
    if recording.trace is None:
        return console, None
    kept = [
        line
        for line in recording.trace.split("\n")[:-1]
        if _time_of(line) < ready_ns or (failed_check and _is_ready(line, system))
    ]
    return console, "".join(f"{line}\n" for line in kept)


def _says_ready(line: str, system: System) -> bool:
    if system.booted.console is not None:
        return re.search(system.booted.console, line) is not None
    found = _MARK.search(line)
    return found is not None and found[1] == system.booted.mark


def _failed_line(recording: RecordedBoot, system: System, answer: ScriptedAnswer) -> bytes:
    line = f"bootlab: check failed: {answer.detail}"
    if system.check is None or re.search(system.check.fail, line) is None:
        raise InputError(
            f"{_script_of(recording)}:end: {system.name} has no [check] that the line {line!r} would fail",
            hint="give the system a [check], or the answer another end",
        )
    return line.encode() + b"\n"


def _time_of(line: str) -> int:
    words = line.split(" ")
    at = _TIME_AT.get(words[0])
    return -1 if at is None else int(words[at])


def _is_ready(line: str, system: System) -> bool:
    words = line.split(" ")
    return words[0] == "guest" and words[1] == system.booted.mark
