"""A deadline in the host's time that a busy host does not shorten."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

_LEAST_SLEEP_S = 0.02


@asynccontextmanager
async def deadline(seconds: float, withheld_s: Callable[[], float]) -> AsyncIterator[None]:
    """Raise TimeoutError after `seconds`, not counting those that the host withheld from the machine meanwhile.

    `withheld_s` returns the seconds withheld so far (Session.withheld_s).
    """
    loop = asyncio.get_running_loop()
    begun_s, before_s = loop.time(), withheld_s()
    async with asyncio.timeout(seconds) as limit:

        async def put_off() -> None:
            while not limit.expired():
                due_s = begun_s + seconds + max(0.0, withheld_s() - before_s)
                limit.reschedule(due_s)
                await asyncio.sleep(max(_LEAST_SLEEP_S, (due_s - loop.time()) / 2))

        task = asyncio.create_task(put_off())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
