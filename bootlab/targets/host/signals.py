"""Marks from lines that a machine's hardware gives: text on a serial line, or an edge on a line of a GPIO chip.

A light sensor on a USB adapter that prints a line when the screen lights up, a relay's contact on a GPIO: whatever is
there says when it was.
"""

import re
import select
import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from bootlab.errors import InputError, MissingTool
from bootlab.importers.serial.console_lines import LineSplitter
from bootlab.probing.questions import OutsideAnswer
from bootlab.system import SignalLine
from bootlab.targets.serial.port import LineSettings, open_port
from bootlab.targets.serial.reader import Chunk, Gone, SerialReader

_LOOK_S = 0.2


class Signals:
    """The lines of one machine: opened at once, read from `start` on, each telling its mark once."""

    def __init__(self, lines: Mapping[str, SignalLine], say: Callable[[OutsideAnswer], None]) -> None:
        self.remarks: tuple[str, ...] = ()
        self._say = say
        self._ending = threading.Event()
        self._threads: list[threading.Thread] = []
        self._texts = {name: line for name, line in lines.items() if line.port is not None}
        self._gpios: dict[str, Any] = {}
        self._reader: SerialReader | None = None
        try:
            for name, line in lines.items():
                if line.gpio is not None:
                    self._gpios[name] = _request(name, line)
            if self._texts:
                ports = [open_port(line.port or "", LineSettings(line.baud)) for line in self._texts.values()]
                self._byte_ns = [port.byte_ns for port in ports]
                self._reader = SerialReader(ports, look=True)
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        """Read the lines from now on."""
        if self._reader is not None:
            self._reader.__enter__()
            self._run(self._follow_texts, self._reader)
        for name, request in self._gpios.items():
            self._run(self._follow_edge, name, request)

    def close(self) -> None:
        """Read no more, and give the lines back."""
        self._ending.set()
        for thread in self._threads:
            thread.join()
        if self._reader is not None:
            self._reader.close()
        for request in self._gpios.values():
            request.release()
        self._gpios = {}

    def _run(self, follow: Callable[..., None], *words: object) -> None:
        thread = threading.Thread(target=follow, args=words, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _follow_texts(self, reader: SerialReader) -> None:
        names = list(self._texts)
        splitters = [LineSplitter(byte_ns=byte_ns) for byte_ns in self._byte_ns]
        while not self._ending.is_set():
            one = reader.next(_LOOK_S)
            if isinstance(one, Gone):
                name = names[one.port]
                self.remarks += (f"lines.{name}: {self._texts[name].port} is gone ({one.reason})",)
            elif isinstance(one, Chunk):
                name, splitter = names[one.port], splitters[one.port]
                for line in [*splitter.feed(one.data, one.t_ns), *splitter.rest()]:
                    if re.search(self._texts[name].pattern, line.text) is not None:
                        self._say(OutsideAnswer(name, line.t_ns, None, f"seen on {self._texts[name].port}"))
                        break

    def _follow_edge(self, name: str, request: Any) -> None:
        while not self._ending.is_set():
            if not select.select([request.fd], [], [], _LOOK_S)[0]:
                continue
            for event in request.read_edge_events():
                # The kernel's own stamp, on CLOCK_MONOTONIC.
                self._say(OutsideAnswer(name, int(event.timestamp_ns), None, "an edge on its GPIO line"))
                return


def _request(name: str, line: SignalLine) -> Any:
    try:
        import gpiod
        from gpiod.line import Clock, Edge
    except ImportError as error:
        raise MissingTool(
            f"target.lines.{name}.gpio: the Python package gpiod is not here", hint="pip install 'bootlab[gpio]'"
        ) from error
    chip, _, number = (line.gpio or "").rpartition(":")
    edges = {"rising": Edge.RISING, "falling": Edge.FALLING, "both": Edge.BOTH}
    settings = gpiod.LineSettings(
        edge_detection=edges[line.edge], event_clock=Clock.MONOTONIC, debounce_period=timedelta(0)
    )
    path = chip if "/" in chip else f"/dev/{chip}"
    try:
        return gpiod.request_lines(path, consumer="bootlab", config={int(number): settings})
    except (OSError, ValueError) as error:
        raise InputError(
            f"target.lines.{name}.gpio: {line.gpio}: {getattr(error, 'strerror', None) or error}",
            hint="gpioinfo lists chips and lines; may this user open the chip, and has nobody else the line?",
        ) from error
