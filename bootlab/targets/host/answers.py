"""The answers of a machine as the lines of a session, each stamped: what a console is elsewhere.

bootlab: mark port_22_open TCP port 22 takes a connection
bootlab: fact no_earlier.port_22_open 812.345 ms
"""

import asyncio
import queue
import threading
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

from bootlab.errors import BootlabError
from bootlab.probing.asker import Asker
from bootlab.probing.questions import NetworkPlace, OutsideAnswer, Questions, opened
from bootlab.system import AskedMachine
from bootlab.targets.host.signals import Signals
from bootlab.targets.target import ConsoleBytes, Ended, EndReason, LineStamps

_WAKE_S: Final = 0.05
_EARLY: Final = "had answered before it was asked a second time: it may have been up before time 0; was it off?"


def questions_of(asked: AskedMachine, place: NetworkPlace, name: str) -> Questions:
    """Return what a system file asks of a machine at its place. `name`: as HTTP is to hear it."""
    return Questions(
        place=place,
        ports=asked.asked_ports,
        banners=asked.banners,
        pages={int(port): path for port, path in asked.http.items()},
        name=name,
        ping=asked.ping,
        every_ns=round(asked.every_ms * 1e6),
    )


class Answers:
    """What one machine answers, from `start` to `stop`. Marks of others, a cloud's say, are told by `mark`."""

    def __init__(self, asked: AskedMachine) -> None:
        self.remarks: tuple[str, ...] = ()
        self.zero_ns = 0
        self._asked = asked
        self._lines: queue.SimpleQueue[ConsoleBytes | Ended] = queue.SimpleQueue()
        self._ending = threading.Event()
        self._ended = False
        self._asker: threading.Thread | None = None
        self._signals = Signals(asked.lines, self._take)

    def begin(self, zero_ns: int) -> None:
        """Count from `zero_ns` of CLOCK_MONOTONIC, and listen to the lines of the hardware."""
        self.zero_ns = zero_ns
        self._signals.start()

    def ask(self, questions: Questions) -> None:
        """Ask from now on, in a thread. Raises BootlabError where this host cannot."""
        asker = Asker(questions, self._asked.by, self._take)
        self.tell_fact("asked", f"{questions.place.address} every {asker.every_ns / 1e6:g} ms by {asker.way}")
        self._asker = threading.Thread(target=self._run, args=(asker,), name="ask", daemon=True)
        self._asker.start()

    def tell_mark(self, name: str, t_ns: int, words: str = "") -> None:
        """Say that the machine came to a mark, as a line of the session."""
        self._say(t_ns, f"bootlab: mark {name} {words}")

    def tell_fact(self, name: str, value: str) -> None:
        """Tell a fact, which the record keeps."""
        self._say(time.monotonic_ns(), f"bootlab: fact {name} {value}")

    def fail(self, detail: str) -> None:
        """End the boot: nothing more will come of it."""
        self._lines.put(Ended(time.monotonic_ns(), EndReason.DIED, detail))

    async def events(self) -> AsyncIterator[ConsoleBytes | Ended]:
        """Yield each line as it comes, and the end."""
        while True:
            one = await asyncio.to_thread(self._next)
            if one is not None:
                yield one
            elif self._ended:
                one = Ended(time.monotonic_ns(), EndReason.STOPPED)
                yield one
            if isinstance(one, Ended):
                return

    def stop(self) -> None:
        """Ask no more. What has been answered is still told."""
        self._ending.set()
        if self._asker is not None:
            self._asker.join()
        self._signals.close()
        self.remarks += self._signals.remarks
        self._ended = True

    def _next(self) -> ConsoleBytes | Ended | None:
        with suppress(queue.Empty):
            return self._lines.get(timeout=_WAKE_S)
        return None

    def _run(self, asker: Asker) -> None:
        try:
            asker.run(self._ending.is_set)
        except (OSError, BootlabError) as error:
            self.fail(f"asking: {getattr(error, 'message', None) or getattr(error, 'strerror', None) or error}")
        self.remarks += asker.remarks()

    def _take(self, answer: OutsideAnswer) -> None:
        if answer.since_ns is not None:
            self.tell_fact(f"no_earlier.{answer.name}", f"{max(0, answer.since_ns - self.zero_ns) / 1e6:.3f} ms")
        elif answer.name in {opened(port) for port in self._asked.asked_ports}:
            self.remarks += (f"{answer.name}: {_EARLY}",)
        self.tell_mark(answer.name, answer.t_ns, answer.words)

    def _say(self, t_ns: int, line: str) -> None:
        self._lines.put(ConsoleBytes(t_ns, f"{line}\n".encode()))


class AnswersFollowed:
    """What the sessions of all machines have alike that only answer: no line is stamped, and no time withheld."""

    byte_ns = 0
    _answers: Answers

    def events(self) -> AsyncIterator[ConsoleBytes | Ended]:
        return self._answers.events()

    def stamps(self) -> LineStamps | None:
        return None

    def withheld_s(self) -> float:
        return 0.0
