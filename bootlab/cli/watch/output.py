"""What happens on serial lines, shown: as text on the terminal or in a file, or as JSON.

Text lines have the shape of grabserial's, which bootlab's importer and other tools read: `[elapsed delta] text`.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, TextIO

from bootlab.cli.terminal.speech import err, out
from bootlab.importers.serial.watch_file import RecordedPort
from bootlab.measure.causes.wrong_baud import HINT
from bootlab.measure.watch import End, Happening, Notice, Partial, SeenMark, WatchedLine
from bootlab.report.parts.figures import visible

SCHEMA = "bootlab.watch/1"


@dataclass(frozen=True, slots=True)
class Form:
    """How a line is shown. `time`: `elapsed`, `none`, or a format of strftime for the time of day."""

    labels: tuple[str, ...]
    """Before each line, one a port; empty where there is one port."""
    time: str
    delta: bool
    began: datetime
    """The local time at which the host's clock stood at `began_ns`: what the wall clock does later is not asked."""
    began_ns: int

    def stamp(self, port: int, t_ns: int, delta_ns: int, host_ns: int) -> str:
        """Return what stands before a line's text, with its blank."""
        label = f"{self.labels[port]} " if self.labels else ""
        if self.time == "none":
            return label
        if self.time == "elapsed":
            shown = f"{t_ns / 1e9:.6f}"
        else:
            shown = (self.began + timedelta(microseconds=(host_ns - self.began_ns) / 1000)).strftime(self.time)
        return f"{label}[{shown}{f' {delta_ns / 1e9:.6f}' if self.delta else ''}] "


class TextWriter:
    """Lines as text on one stream. A line that is silent in its middle is shown as far as it has come, then goes on."""

    def __init__(self, stream: TextIO, form: Form, *, partial: bool, dim: bool = False) -> None:
        self._stream = stream
        self._form = form
        self._partial = partial
        self._dim = dim
        self._open: tuple[int, str] | None = None

    def show(self, one: Happening) -> None:
        """Write a line, or what has come of one; everything else is not for this stream."""
        if isinstance(one, WatchedLine):
            self._line(one)
        elif isinstance(one, Partial) and self._partial:
            text = visible(one.line.text)
            if self._open is not None and self._goes_on(one.port, text):
                self._stream.write(text[len(self._open[1]) :])
            else:
                self.close_line()
                self._stream.write(self._stamp(one) + text)
            self._open = (one.port, text)
            self._stream.flush()

    def _line(self, one: WatchedLine) -> None:
        text = visible(one.line.text)
        if self._open is not None and self._goes_on(one.port, text):
            self._stream.write(text[len(self._open[1]) :] + "\n")
        else:
            self.close_line()
            self._stream.write(f"{self._stamp(one)}{text}\n")
        self._open = None

    def close_line(self) -> None:
        """Go to a new line, if one is open."""
        if self._open is not None:
            self._stream.write("\n")
            self._open = None

    def _goes_on(self, port: int, text: str) -> bool:
        return self._open is not None and self._open[0] == port and text.startswith(self._open[1])

    def _stamp(self, one: WatchedLine | Partial) -> str:
        stamp = self._form.stamp(one.port, one.t_ns, one.delta_ns, one.line.t_ns)
        return f"\x1b[2m{stamp}\x1b[0m" if self._dim and stamp else stamp


class Screen:
    """The terminal: lines on standard output, notices on standard error, marks at the end."""

    def __init__(self, form: Form, names: Sequence[str], *, quiet: bool) -> None:
        self._names = names
        self._lines = None if quiet else TextWriter(sys.stdout, form, partial=out.is_terminal, dim=out.is_terminal)
        self._marks: list[SeenMark] = []

    def start(self, ports: Sequence[RecordedPort], started: str) -> None:
        """Say what is watched: from here on nothing is lost."""
        for name, port in zip(self._names, ports, strict=True):
            rate = f" at {port.baud} baud, {port.byte_ns / 1000:.1f} us a byte" if port.byte_ns else ", no line rate"
            self.say(f"{name}: {port.kind} {port.name}{rate}")

    def show(self, one: Happening) -> None:
        if isinstance(one, WatchedLine | Partial):
            if self._lines is not None:
                self._lines.show(one)
                sys.stdout.flush()
        elif isinstance(one, SeenMark):
            self._marks.append(one)
        elif isinstance(one, Notice):
            self.say(f"{self._names[one.port]}: {visible(one.text)}")
            if one.kind == "garbage":
                err.print(f"  hint: {HINT}", soft_wrap=True)

    def say(self, text: str) -> None:
        """Say something on standard error, on a line of its own."""
        if self._lines is not None:
            self._lines.close_line()
            sys.stdout.flush()
        err.print(f"bootlab: {text}", soft_wrap=True)

    def finish(self, end: End, counts: Sequence[tuple[int, int]], unseen: Sequence[str]) -> None:
        """Show the marks, and why the watch is over. `counts`: bytes and lines of each port."""
        if self._lines is not None:
            self._lines.close_line()
        for mark in self._marks:
            sys.stdout.write(f'mark {mark.name} {mark.t_ns / 1e9:.6f} s "{visible(mark.text)}"\n')
        sys.stdout.flush()
        for name in unseen:
            err.print(f"bootlab: mark {name} was not seen")
        err.print(f"bootlab: {visible(end.reason)} at {end.t_ns / 1e9:.6f} s", soft_wrap=True)
        for name, (size, lines) in zip(self._names, counts, strict=True):
            err.print(f"bootlab: {name}: {lines} lines, {size} bytes", soft_wrap=True)


class Answer:
    """What a command has answered: the lines between its echo and the prompt that ends the watch, without times."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._echoed = False
        self._held: str | None = None

    def start(self, ports: Sequence[RecordedPort], started: str) -> None:
        return

    def show(self, one: Happening) -> None:
        """Write the line before this one: only the next happening tells whether it is the prompt's."""
        if not isinstance(one, WatchedLine):
            return
        if not self._echoed:
            self._echoed = self._command.strip() in one.line.text
            return
        if self._held is not None:
            sys.stdout.write(f"{self._held}\n")
        self._held = visible(one.line.text)

    def say(self, text: str) -> None:
        err.print(f"bootlab: {text}", soft_wrap=True)

    def finish(self, end: End, counts: Sequence[tuple[int, int]], unseen: Sequence[str]) -> None:
        """Write the last line too where it is no prompt, and say so."""
        if not end.met:
            if self._held is not None:
                sys.stdout.write(f"{self._held}\n")
            err.print(f"bootlab: the prompt did not come: {visible(end.reason)}", soft_wrap=True)
        sys.stdout.flush()


class JsonLines:
    """Standard output as JSON, an object a line (docs/formats.md)."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def start(self, ports: Sequence[RecordedPort], started: str) -> None:
        described = [{"port": name, **asdict(port)} for name, port in zip(self._names, ports, strict=True)]
        self._write({"event": "start", "schema": SCHEMA, "started": started, "ports": described})

    def show(self, one: Happening) -> None:
        if isinstance(one, WatchedLine | Partial):
            fields = {"t_ns": one.t_ns, "delta_ns": one.delta_ns, "host_ns": one.line.t_ns, "text": one.line.text}
            kind = "line" if isinstance(one, WatchedLine) else "partial"
            self._write({"event": kind, "port": self._names[one.port], **fields, "complete": one.line.complete})
        elif isinstance(one, SeenMark):
            fields = {"name": one.name, "t_ns": one.t_ns, "text": one.text}
            self._write({"event": "mark", "port": self._names[one.port], **fields})
        elif isinstance(one, Notice):
            fields = {"t_ns": one.t_ns, "text": one.text}
            self._write({"event": one.kind, "port": self._names[one.port], **fields})

    def say(self, text: str) -> None:
        self._write({"event": "note", "text": text})

    def finish(self, end: End, counts: Sequence[tuple[int, int]], unseen: Sequence[str]) -> None:
        ports = [
            {"port": name, "bytes": size, "lines": lines}
            for name, (size, lines) in zip(self._names, counts, strict=True)
        ]
        document = {"t_ns": end.t_ns, "reason": end.reason, "met": end.met, "unseen": list(unseen), "ports": ports}
        self._write({"event": "end", **document})

    def _write(self, document: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(document) + "\n")
        sys.stdout.flush()
