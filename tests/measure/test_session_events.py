"""Events one at a time: none is lost to who did not wait for it, and the end is remembered."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bootlab.measure.session_events import SessionEvents
from bootlab.targets.replay.playing import Play
from bootlab.targets.replay.target import ReplaySession
from bootlab.targets.target import ConsoleBytes, Ended, EndReason


class LateSession(ReplaySession):
    """A session whose second event comes when somebody stops waiting for it."""

    def __init__(self) -> None:
        super().__init__(Play((), None))
        self.released = asyncio.Event()
        self.closed = False

    async def events(self) -> AsyncIterator[ConsoleBytes | Ended]:  # type: ignore[override]
        yield ConsoleBytes(1, b"first")
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.closed = True
            raise
        yield ConsoleBytes(2, b"second")
        yield Ended(3, EndReason.STOPPED)


def test_who_loses_patience_gets_the_event_with_a_later_call() -> None:
    async def run() -> None:
        session = LateSession()
        events = SessionEvents(session)
        assert await events.next(5.0) == ConsoleBytes(1, b"first")
        assert await events.next(0.01) is None
        assert await events.next(0.01) is None
        session.released.set()
        assert await events.next() == ConsoleBytes(2, b"second")
        assert events.ended is None
        assert await events.next() == Ended(3, EndReason.STOPPED)
        assert events.ended == Ended(3, EndReason.STOPPED)

    asyncio.run(run())


def test_nobody_waits_any_more_for_what_is_closed() -> None:
    async def run() -> None:
        session = LateSession()
        events = SessionEvents(session)
        await events.next()
        assert await events.next(0.01) is None
        events.close()
        await asyncio.sleep(0)
        assert session.closed

    asyncio.run(run())


def test_what_a_session_raises_reaches_who_asked() -> None:
    """A target that knows that nothing will come any more says so instead of waiting for the deadline."""

    async def run() -> None:
        session = ReplaySession(Play(((5, b"last words\n"),), None, hangs=True))
        await session.power_on()
        events = SessionEvents(session)
        assert isinstance(await events.next(), ConsoleBytes)
        with pytest.raises(TimeoutError):
            await events.next()
        await session.stop()
        assert isinstance(await events.next(), Ended)

    asyncio.run(run())
