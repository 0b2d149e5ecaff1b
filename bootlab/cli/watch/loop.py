"""The loop of `bootlab watch`: reads, or a recording, through the watch to everything that shows or keeps them."""

import contextlib
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from bootlab.cli.watch.files import RawFile, RecordingFile, TextFile
from bootlab.cli.watch.output import Answer, Form, JsonLines, Screen
from bootlab.errors import InputError, Interrupted
from bootlab.importers.serial.watch_file import (
    Header,
    Recorded,
    RecordedEnd,
    RecordedLoss,
    RecordedPort,
    RecordedRead,
    is_recording,
    parse_header,
    parse_recorded,
)
from bootlab.measure.watch import End, Happening, Notice, Watch, WatchRequest
from bootlab.targets.serial.port import LineSettings, SerialPort, open_port
from bootlab.targets.serial.reader import Chunk, SerialReader

_REOPEN_S = 0.2


class Shown(Protocol):
    """Where happenings are shown: the terminal, JSON, an answer."""

    def start(self, ports: Sequence[RecordedPort], started: str) -> None:
        """Say what is watched, and since when (ISO 8601)."""
        ...

    def show(self, one: Happening) -> None:
        """Show one thing that happened."""
        ...

    def say(self, text: str) -> None:
        """Say something about the watch itself."""
        ...

    def finish(self, end: End, counts: Sequence[tuple[int, int]], unseen: Sequence[str]) -> None:
        """Say how it ended. `counts`: bytes and lines of each port; `unseen`: marks that never came."""
        ...


@dataclass(slots=True)
class Sinks:
    """What a watch feeds."""

    shown: Shown
    text: TextFile | None = None
    raw: RawFile | None = None
    recording: RecordingFile | None = None
    lost: bool = False
    """A line went away in mid-run."""
    ends: list[End] = field(default_factory=list)

    def show(self, happenings: Iterator[Happening]) -> None:
        """Hand each thing that happened to who shows it and to the text file; remember an end and a lost line."""
        for one in happenings:
            self.shown.show(one)
            if self.text is not None:
                self.text.show(one)
            if isinstance(one, Notice) and one.kind == "gone":
                self.lost = True
            if isinstance(one, End):
                self.ends.append(one)

    def keep(self, one: Recorded) -> None:
        """Write what arrived to the exact files, before anything is made of it."""
        if self.raw is not None and isinstance(one, RecordedRead):
            self.raw.write(one.data)
        if self.recording is not None:
            self.recording.write(one)

    def finish(self, watch: Watch) -> None:
        """Say how the watch has ended."""
        counts = list(zip(watch.byte_counts, watch.line_counts, strict=True))
        self.shown.finish(self.ends[-1], counts, watch.unseen)

    def close(self) -> None:
        """Close every file. Raises StoreError."""
        for file in (self.text, self.raw, self.recording):
            if file is not None:
                file.close()


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the user wants what, in the words of the options."""

    time: str
    delta: bool
    json: bool
    quiet: bool
    answer_to: str | None
    text: str | None
    rotate_s: float | None
    append: bool
    raw: Path | None
    recording: Path | None

    def open(self, names: Sequence[str], ports: Sequence[RecordedPort], started: datetime, began_ns: int) -> Sinks:
        """Open the files and begin the output of a watch of `ports` that began at `started`, which is `began_ns`."""
        form = Form(tuple(names) if len(names) > 1 else (), self.time, self.delta, started.astimezone(), began_ns)
        sinks = Sinks(self._shown(form, names))
        if self.text is not None:
            sinks.text = TextFile(self.text, form, append=self.append, rotate_s=self.rotate_s)
        if self.raw is not None:
            sinks.raw = RawFile(self.raw, append=self.append)
        if self.recording is not None:
            sinks.recording = RecordingFile(self.recording, ports, began_ns, _text(started))
        return sinks

    def _shown(self, form: Form, names: Sequence[str]) -> Shown:
        if self.answer_to is not None:
            return Answer(self.answer_to)
        if self.json:
            return JsonLines(names)
        return Screen(form, names, quiet=self.quiet)


@dataclass(frozen=True, slots=True)
class Sent:
    """What goes out over the lines: `first` over each of them at once, then over the only one what is typed."""

    first: bytes
    typed: bool


def _text(started: datetime) -> str:
    return started.isoformat(timespec="milliseconds")


def _follow(watch: Watch, ports: Sequence[SerialPort], sinks: Sinks, sent: Sent) -> bool:
    """Follow open lines to the end of the watch, and close them; return whether Ctrl-C was that end."""
    with SerialReader(ports) as reader:
        if sent.first:
            for port in ports:
                port.source.write(sent.first)
        if sent.typed:
            threading.Thread(target=_send_typed, args=(ports[0],), daemon=True).start()
        try:
            while not watch.ended:
                _step(watch, reader, sinks)
            interrupted = False
        except KeyboardInterrupt:
            sinks.show(watch.end(time.monotonic_ns(), "interrupted", met=watch.asked.until is None))
            interrupted = True
    sinks.keep(RecordedEnd(time.monotonic_ns()))
    sinks.finish(watch)
    return interrupted


def _step(watch: Watch, reader: SerialReader, sinks: Sinks) -> None:
    due_ns = watch.due_ns()
    patience_s = None if due_ns is None else max(0.0, (due_ns - time.monotonic_ns()) / 1e9)
    one = reader.next(patience_s)
    if one is None:
        sinks.show(watch.advance(time.monotonic_ns()))
        return
    # By the clock of the reads: what was late in getting here had not ended the watch when it came.
    sinks.show(watch.advance(one.t_ns))
    if watch.ended:
        return
    if isinstance(one, Chunk):
        sinks.keep(RecordedRead(one.port, one.t_ns, one.data))
        sinks.show(watch.take(one.port, one.t_ns, one.data))
    else:
        sinks.keep(RecordedLoss(one.port, one.t_ns, one.unplugged, one.reason))
        sinks.show(watch.gone(one.port, one.t_ns, one.reason, unplugged=one.unplugged))


def _send_typed(port: SerialPort) -> None:
    with contextlib.suppress(OSError, AssertionError):
        for line in sys.stdin:
            port.source.write(line.rstrip("\n").encode() + b"\r")


def watch_lines(
    places: Mapping[str, str], settings: LineSettings, asked: WatchRequest, outputs: Outputs, sent: Sent, *, again: bool
) -> int:
    """Watch lines and return the exit code. With `again` one watch follows another, until Ctrl-C.

    `places`: name of each line -> where it is.
    """
    names = list(places)
    ports = _open_all(places.values(), settings)
    sinks: Sinks | None = None
    try:
        while True:
            began_ns, started = time.monotonic_ns(), datetime.now(UTC)
            if sinks is None:
                sinks = outputs.open(names, _recorded(ports), started, began_ns)
            sinks.shown.start(_recorded(ports), _text(started))
            for name, port in zip(names, ports, strict=True):
                for doubt in port.doubts:
                    sinks.shown.say(f"{name}: {doubt}")
            watch = Watch(asked, [port.byte_ns for port in ports], began_ns)
            interrupted = _follow(watch, ports, sinks, sent)
            if not again or interrupted:
                break
            ports = _open_again(places.values(), settings)
    except BaseException:
        for port in ports:
            port.source.close()
        raise
    finally:
        if sinks is not None:
            sinks.close()
    if interrupted and asked.until is not None:
        raise Interrupted("interrupted before what --until waits for; what came is kept")
    return 0 if sinks.ends[-1].met and not sinks.lost else 1


def _open_all(places: Collection[str], settings: LineSettings) -> list[SerialPort]:
    ports: list[SerialPort] = []
    try:
        for place in places:
            ports.append(open_port(place, settings))
    except BaseException:
        for port in ports:
            port.source.close()
        raise
    return ports


def _open_again(places: Collection[str], settings: LineSettings) -> list[SerialPort]:
    while True:
        try:
            return _open_all(places, settings)
        except InputError:
            # An adapter that was unplugged may come back.
            time.sleep(_REOPEN_S)


def _recorded(ports: Sequence[SerialPort]) -> list[RecordedPort]:
    return [RecordedPort(port.name, port.kind, port.baud, port.byte_ns) for port in ports]


def port_name(place: str) -> str:
    """Return what a port is called where the user has not named it: `ttyUSB0`, `pts/3`, `host:4000`, `line.fifo`."""
    if "://" in place:
        return place.split("://", 1)[1].split("?", 1)[0].rstrip("/")
    return place.removeprefix("/dev/") if place.startswith("/dev/") else place.rstrip("/").rsplit("/", 1)[-1]


def is_recording_file(name: str) -> bool:
    """Return whether the file `name` is a recording."""
    with contextlib.suppress(OSError):
        path = Path(name)
        if path.is_file():
            with path.open("rb") as file:
                return is_recording(file.read(64))
    return False


def watch_recording(path: Path, asked: WatchRequest, outputs: Outputs) -> int:
    """Watch a recording as the lines it was made of, without waiting, and return the exit code."""
    with path.open(encoding="utf-8", errors="replace") as file:
        try:
            header = parse_header(file.readline())
            names = [port_name(one.name) for one in header.ports]
            sinks = outputs.open(names, header.ports, datetime.fromisoformat(header.started), header.start_ns)
            sinks.shown.start(header.ports, header.started)
            with contextlib.closing(sinks):
                _replay(asked, header, parse_recorded(file, len(header.ports)), sinks)
        except InputError as error:
            raise InputError(f"{path}: {error.message}", hint=error.hint) from error
    return 0 if sinks.ends[-1].met and not sinks.lost else 1


def _replay(asked: WatchRequest, header: Header, recorded: Iterator[Recorded], sinks: Sinks) -> None:
    watch = Watch(asked, [port.byte_ns for port in header.ports], header.start_ns)
    last_ns = header.start_ns
    for one in recorded:
        last_ns = one.t_ns
        sinks.show(watch.advance(one.t_ns))
        if watch.ended or isinstance(one, RecordedEnd):
            break
        sinks.keep(one)
        if isinstance(one, RecordedRead):
            sinks.show(watch.take(one.port, one.t_ns, one.data))
        else:
            sinks.show(watch.gone(one.port, one.t_ns, one.reason, unplugged=one.unplugged))
    sinks.show(watch.end(last_ns, "the recording has ended", met=asked.until is None))
    sinks.keep(RecordedEnd(last_ns))
    sinks.finish(watch)
