"""What every sort of question shares: when it was asked, what has its answer, what could not be sent."""

import selectors
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from bootlab.probing.questions import OutsideAnswer

_KEPT: Final = 4096
"""The times of so many questions are known: an answer comes within them, or never."""


class Rounds:
    """When each question of one sort was asked; they are numbered from 0."""

    def __init__(self) -> None:
        self._next = 0
        self._asked: dict[int, int] = {}

    def ask(self) -> int:
        """Count a question that is asked now, and return its number."""
        number, self._next = self._next, self._next + 1
        self._asked[number] = time.monotonic_ns()
        self._asked.pop(number - _KEPT, None)
        return number

    def since_ns(self, number: int) -> int | None:
        """Return when the question before this one was asked; None for the first."""
        return self._asked.get(number - 1)

    def last_before(self, t_ns: int) -> int | None:
        """Return when the last question but one before `t_ns` was asked; None where there was only one."""
        asked = [one for one in self._asked.values() if one < t_ns]
        return asked[-2] if len(asked) > 1 else None

    def knows(self, number: int) -> bool:
        """Return whether a question of this number was asked lately."""
        return number in self._asked


class AskingAccount:
    """What was answered, and what could not even be asked. `say` is given each answer, once a name."""

    def __init__(self, say: Callable[[OutsideAnswer], None]) -> None:
        self.answered: set[str] = set()
        self.unsent: Counter[str] = Counter()
        """Why questions were not sent: reason -> how many."""
        self.asides: Counter[str] = Counter()
        """Answers that are none: pages with another status, connections that broke off."""
        self._say = say

    def answer(self, name: str, t_ns: int, since_ns: int | None, words: str) -> None:
        """Take an answer; a second one of the same name says nothing new."""
        if name not in self.answered:
            self.answered.add(name)
            self._say(OutsideAnswer(name, t_ns, since_ns, words))


class Sort(Protocol):
    """One sort of question: asked in rounds, its answers taken as they come."""

    def ask(self) -> None:
        """Ask once more whatever has no answer yet."""
        ...

    def close(self) -> None:
        """Give back its sockets."""
        ...


class Sockets:
    """The sockets that are waited for, each with what takes what has come on it."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def watch(self, line: socket.socket, take: Callable[[], None], *, for_writing: bool = False) -> None:
        """Call `take` as often as there is something to read, or as it can be written to."""
        self._selector.register(line, selectors.EVENT_WRITE if for_writing else selectors.EVENT_READ, take)

    def forget(self, line: socket.socket) -> None:
        """Watch it no more, and close it."""
        with suppress(KeyError, ValueError):
            self._selector.unregister(line)
        line.close()

    def wait(self, most_s: float) -> None:
        """Wait for something to come, so long at most, and have it taken."""
        for key, _ in self._selector.select(max(0.0, most_s)):
            # One that was taken before may have closed it.
            if self._selector.get_map().get(key.fd) is key:
                key.data()

    def close(self) -> None:
        """Wait for nothing any more."""
        self._selector.close()


def send(line: socket.socket, account: AskingAccount, data: bytes) -> None:
    """Send a packet; that it could not be sent is counted, with why."""
    try:
        line.send(data)
    except OSError as error:
        # A queue of the host's that is full, an address that no route leads to yet.
        account.unsent[error.strerror or str(error)] += 1
