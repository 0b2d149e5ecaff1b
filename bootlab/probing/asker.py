"""Asks one machine all its questions at a steady pace, until each has its answer or nobody wants to know any more."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Final, Literal

from bootlab.errors import InputError
from bootlab.probing.asking import AskingAccount, Sockets, Sort
from bootlab.probing.connections import ConnectPorts, Talk
from bootlab.probing.questions import ADDRESS, ANSWERED, LINK, OutsideAnswer, Questions, pace_ns
from bootlab.probing.raw import Pings, RawPorts, may_be_raw, open_link
from bootlab.probing.route import find_route
from bootlab.timeline.marks import PING

Way = Literal["auto", "raw", "connect"]
_MOST_WAIT_S: Final = 0.1
"""So long at most until it looks whether it is to end."""
_MOST_TOLD: Final = 4


class Asker:
    """The questions of one machine. `doubts` and `remarks` are for a reader, the latter as it ends.

    `way`: by raw sockets, by connections, or by whichever this user may.
    """

    def __init__(self, questions: Questions, way: Way, say: Callable[[OutsideAnswer], None]) -> None:
        self._questions = questions
        self._say = say
        self._said: set[str] = set()
        self._last_ns = 0
        self._every_ns = max(questions.every_ns, pace_ns(questions))
        self._is_raw = way != "connect" and may_be_raw()
        if way == "raw" and not self._is_raw:
            raise InputError(
                "raw sockets: this user may not open them", hint='run it as root, or let it connect: by "connect"'
            )
        self._account = AskingAccount(self._take)
        self._notes: list[str] = []

    @property
    def way(self) -> str:
        """Return how the ports are asked, in words."""
        return "raw sockets" if self._is_raw else "connect()"

    @property
    def every_ns(self) -> int:
        """Return the time between two rounds of questions: what was asked for, or what so many of them take."""
        return self._every_ns

    def remarks(self) -> tuple[str, ...]:
        """Return what a user should know of how it was asked, a line each."""
        lines = list(self._notes)
        lines += [f"not sent: {why} ({count} times)" for why, count in self._account.unsent.most_common(_MOST_TOLD)]
        lines += [f"{what} ({count} times)" for what, count in self._account.asides.most_common(_MOST_TOLD)]
        dropped = len(self._account.unsent) + len(self._account.asides) - len(lines) + len(self._notes)
        return (*lines, *([f"and {dropped} sorts more"] if dropped > 0 else []))

    def run(self, ending: Callable[[], bool]) -> None:
        """Ask until all is answered or `ending()`. Raises OSError where this host cannot ask at all."""
        with ExitStack() as stack:
            sockets = Sockets()
            stack.callback(sockets.close)
            sorts = self._open(sockets, stack)
            next_ns = time.monotonic_ns()
            while ANSWERED not in self._said and not ending():
                now_ns = time.monotonic_ns()
                if now_ns >= next_ns:
                    for one in sorts:
                        one.ask()
                    # A host that was late asks once, and not all that it missed.
                    next_ns = max(next_ns + self._every_ns, time.monotonic_ns())
                sockets.wait(min((next_ns - time.monotonic_ns()) / 1e9, _MOST_WAIT_S))

    def _open(self, sockets: Sockets, stack: ExitStack) -> list[Sort]:
        asked, account = self._questions, self._account
        sorts: list[Sort] = []

        def use(one: Sort) -> None:
            sorts.append(one)
            stack.callback(one.close)

        route = find_route(asked.place)
        if route.card is None:
            self._notes.append(
                f"no way to {asked.place.address} is known (`ip route get`, of iproute2): it is not asked on its own "
                "link, so the first answer may seem up to a second too late"
            )
        if self._is_raw:
            link = open_link(asked.place, route, account, sockets)
            if link is not None:
                use(link)
        elif route.on_link:
            self._notes.append(
                "asked by connect(): on its own link this kernel looks for an address once a second, so the first "
                "answer may seem as much too late; raw sockets (root, CAP_NET_RAW) have no such gap"
            )
        if asked.ping or not asked.ports:
            try:
                use(Pings(asked.place, account, sockets))
            except PermissionError:
                self._notes.append("no ping: it takes raw sockets, or this user's group in net.ipv4.ping_group_range")
                if not asked.ports:
                    raise
        use((RawPorts if self._is_raw else ConnectPorts)(asked.place, asked.ports, account, sockets))
        for port in asked.banners:
            use(Talk(asked, port, None, account, sockets))
        for port, path in asked.pages.items():
            use(Talk(asked, port, path, account, sockets))
        return sorts

    def _take(self, answer: OutsideAnswer) -> None:
        # What took time to be read is told in the order in which it came all the same, as far as it is known.
        self._last_ns = max(self._last_ns, answer.t_ns)
        self._tell(answer)
        if answer.name not in (LINK, PING) and ADDRESS not in self._said:
            self._tell(replace(answer, name=ADDRESS))
        if self._account.answered.issuperset(self._questions.wanted):
            self._tell(OutsideAnswer(ANSWERED, self._last_ns, None, "all that was asked"))

    def _tell(self, answer: OutsideAnswer) -> None:
        if answer.name not in self._said:
            self._said.add(answer.name)
            self._say(answer)
