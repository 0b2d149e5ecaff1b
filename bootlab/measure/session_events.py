"""The events of a session, one at a time: who asks may lose patience, and the event then comes with a later call."""

import asyncio

from bootlab.targets.target import ConsoleBytes, Ended, MarkReached, Session, StandsStill


class SessionEvents:
    """What a machine that was let go does. `ended` is its end, None until that was returned."""

    def __init__(self, session: Session) -> None:
        self.ended: Ended | None = None
        self._events = session.events()
        self._pending: asyncio.Future[ConsoleBytes | MarkReached | StandsStill | Ended] | None = None

    async def next(self, patience_s: float | None = None) -> ConsoleBytes | MarkReached | StandsStill | Ended | None:
        """Return the next event; None when `patience_s` passed without one."""
        if self._pending is None:
            self._pending = asyncio.ensure_future(anext(self._events))
        done, _ = await asyncio.wait({self._pending}, timeout=patience_s)
        if not done:
            return None
        arrived, self._pending = self._pending, None
        event = arrived.result()
        if isinstance(event, Ended):
            self.ended = event
        return event

    def close(self) -> None:
        """Wait no more for an event that nobody will ask for."""
        if self._pending is not None:
            self._pending.cancel()
