"""One rented machine, as a session: ordered, running, its answers, ended."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from bootlab.clouds.guardian import Guardian
from bootlab.clouds.rental import Rental
from bootlab.errors import BootFailed, BootlabError
from bootlab.probing.asker import Asker
from bootlab.probing.questions import ANSWERED, OutsideAnswer, find_place
from bootlab.system import AskedMachine
from bootlab.targets.host.answers import Answers, AnswersFollowed, questions_of
from bootlab.timeline.marks import LAUNCHED, RUNNING

CONSOLE: Final = "instance-console.log"
"""What the cloud says of the machine's console, in a boot's directory; nothing in it is stamped."""
_LOOK_S: Final = 5.0
"""How often the cloud is asked whether a machine still is that runs."""
_Made = TypeVar("_Made")


class RentedSession(AnswersFollowed):
    """One rented machine from before its order to its end. `warm_up_s`: it is booted once before, for so long."""

    def __init__(self, asked: AskedMachine, rental: Rental, directory: Path, warm_up_s: float | None) -> None:
        self._asked, self._rental, self._directory = asked, rental, directory
        self._warm_up_s = warm_up_s
        self.doubts: tuple[str, ...] = ()
        self._notes: tuple[str, ...] = ()
        self._answers = Answers(asked)
        self._ending = threading.Event()
        self._calls: list[asyncio.Future[object]] = []
        self._watcher: threading.Thread | None = None
        self._ended = False
        self._guardian = Guardian(rental.guard)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what came of the asking, and of the cloud."""
        return (*self._notes, *self._answers.remarks)

    async def __aenter__(self) -> Self:
        try:
            if self._warm_up_s is not None:
                await self._call(self._boot_once)
        except BaseException:
            await self._leave()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._leave()

    async def power_on(self) -> int:
        """Order the machine; returns the host's monotonic time in ns just before. Raises BootFailed."""
        t_ns = time.monotonic_ns()
        name = await self._call(self._rental.order)
        self._answers.begin(t_ns)
        self._answers.tell_mark(LAUNCHED, time.monotonic_ns(), name)
        self._watcher = threading.Thread(target=self._watch, name="watch", daemon=True)
        self._watcher.start()
        return t_ns

    async def stop(self) -> None:
        """Ask no more, keep what its console said, and end it; that it could not be ended is told in `doubts`."""
        await asyncio.to_thread(self._stop_watching)
        try:
            said = await self._call(self._rental.console)
            if said:
                await asyncio.to_thread((self._directory / CONSOLE).write_bytes, said)
        except BootFailed as error:
            self._notes += (f"no console output: {error.message}",)
        await self._end()

    async def _leave(self) -> None:
        await asyncio.to_thread(self._stop_watching)
        await self._end()

    async def _end(self) -> None:
        if self._ended:
            return
        # An order that was interrupted goes on in its thread: what it makes must be known before it can be ended.
        for call in self._calls:
            await asyncio.wait({call})
        try:
            await asyncio.to_thread(self._rental.end)
        except BootlabError as error:
            self.doubts = (*self.doubts, f"the machine may still run: {error.message}; bootlab ec2 reap ends instances")
            self._guardian.release(ended=False)
        else:
            self._guardian.release(ended=True)
        self._ended = True

    async def _call(self, call: Callable[[], _Made]) -> _Made:
        # Shielded: Ctrl-C ends our waiting at once, and never the call's own end.
        future: asyncio.Future[_Made] = asyncio.ensure_future(asyncio.to_thread(call))
        self._calls.append(future)  # type: ignore[arg-type]
        return await asyncio.shield(future)

    def _stop_watching(self) -> None:
        self._ending.set()
        if self._watcher is not None:
            self._watcher.join()
        self._answers.stop()

    def _watch(self) -> None:
        try:
            self._follow()
        except BootlabError as error:
            self._answers.fail(error.message)

    def _follow(self) -> None:
        asking = running = False
        while not self._ending.wait(_LOOK_S if asking else self._rental.poll_s):
            seen = self._rental.look()
            t_ns = time.monotonic_ns()
            if seen.ended is not None:
                self._answers.fail(seen.ended)
                return
            if seen.is_running and not running:
                running = True
                self._answers.tell_mark(RUNNING, t_ns)
            if running and seen.address is not None and not asking:
                asking = True
                self._answers.ask(questions_of(self._asked, find_place(seen.address), seen.address))

    def _boot_once(self) -> None:
        """Boot it as often as it takes to be no first boot: once, and switch it off."""
        assert self._warm_up_s is not None
        until_s = time.monotonic() + self._warm_up_s
        self._rental.order()
        answered = threading.Event()

        def take(answer: OutsideAnswer) -> None:
            if answer.name == ANSWERED:
                answered.set()

        while time.monotonic() < until_s and not self._ending.is_set():
            seen = self._rental.look()
            if seen.ended is not None:
                raise BootFailed(f"its first boot: {seen.ended}")
            if seen.is_running and seen.address is not None:
                questions = questions_of(self._asked, find_place(seen.address), seen.address)
                asker = Asker(questions, self._asked.by, take)
                asker.run(lambda: time.monotonic() > until_s or self._ending.is_set())
                break
            time.sleep(self._rental.poll_s)
        if not answered.is_set():
            raise BootFailed(f"its first boot has not answered in {self._warm_up_s:g} s")
        self._rental.restart()
