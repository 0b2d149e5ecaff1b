"""Follows a machine from power-on to its end: until it is ready, until its check has an answer, or a deadline."""

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from bootlab.errors import Interrupted
from bootlab.measure.causes.ending import (
    Ending,
    explain_early_check,
    explain_early_end,
    explain_overdue,
    explain_unlearned,
)
from bootlab.measure.guest.tcp_check import ask
from bootlab.measure.host.deadline import deadline
from bootlab.measure.observed_boot import ObservedBoot
from bootlab.measure.record import Outcome
from bootlab.measure.session_events import SessionEvents
from bootlab.measure.shell_answers import ask_shell
from bootlab.system import Check
from bootlab.targets.target import ConsoleBytes, Ended, EndReason, MarkReached, OpenedMachine, Session
from bootlab.timeline.marks import READY

_AFTER_PANIC_S = 1.0
"""How long a panicked guest may still print before it is stopped; panic=-1 ends most at once."""

_PROMPT_S = 0.5
"""How long a console must be silent in mid-line before what it says is taken for a prompt."""

_LOOK_S = 1.0
"""How often the trace is searched for the mark of a screen that says ready, while nothing else happens."""

_AFTER_CHECK_MARK_S = 5.0
"""How long after the line of its check's mark a guest may go on: the mark itself, where there is one, stops it."""


async def follow(seen: ObservedBoot, machine: OpenedMachine, cancelled: Callable[[], bool]) -> Ending:
    """Switch a machine on, follow it to its end, and return what became of it; `seen` has what it said.

    Raises BootFailed when it does not start, Interrupted when `cancelled()` became true.
    """
    watcher = asyncio.create_task(_watch_cancelled(cancelled, asyncio.current_task()))
    session = machine.session
    if seen.watcher is not None:
        seen.watcher.opened(machine)
    seen.heard.begin(await session.power_on(), session.byte_ns)
    if seen.prepared.begins is not None:
        # What the boot has said that it shares its beginning with.
        seen.heard.feed(seen.prepared.begins.console, seen.heard.zero_ns)
    followed = _Followed(seen, session, SessionEvents(session))
    try:
        return await followed.follow_to_end(machine)
    except TimeoutError:
        ending = explain_overdue(seen, session.withheld_s())
        # Stopped in order, QEMU writes out what the plugin still holds: of a hang that is the part that matters.
        await followed.finish()
        return ending
    except asyncio.CancelledError:
        if cancelled():
            raise Interrupted("interrupted") from None
        raise
    finally:
        watcher.cancel()
        followed.events.close()


@dataclass(frozen=True, slots=True)
class _Followed:
    seen: ObservedBoot
    session: Session
    events: SessionEvents

    async def follow_to_end(self, machine: OpenedMachine) -> Ending:
        seen = self.seen
        async with deadline(seen.ready_deadline_s, self.session.withheld_s):
            ended = await self._follow_to_ready()
        if ended is not None:
            return explain_early_end(seen, ended)
        if seen.heard.guest.failed_early:
            await self.finish()
            return explain_early_check(seen)
        check = seen.system.check
        ending = Ending(Outcome.READY)
        if check is not None:
            async with deadline(seen.check_deadline_s, self.session.withheld_s):
                await self._follow_check(check)
                ending = self._find_failure(check) or await _ask_over_tcp(check, machine.tcp_port)
        if ending.outcome is Outcome.READY and seen.prepared.questions is not None:
            await ask_shell(seen, machine, self.events)
        if ending.outcome is Outcome.READY and seen.watcher is not None:
            ready_ns = seen.heard.guest.marks.get(READY)
            await seen.watcher.ready(
                machine, time.monotonic_ns() if ready_ns is None else seen.heard.zero_ns + ready_ns
            )
        await self.finish()
        return explain_unlearned(seen, ending)

    async def finish(self) -> None:
        await self.session.stop()
        while self.events.ended is None:
            event = await self.events.next()
            if isinstance(event, ConsoleBytes):
                self.seen.heard.feed(event.data, event.t_ns)

    async def _follow_to_ready(self) -> Ended | None:
        # Or until its check has failed.
        heard, guest = self.seen.heard, self.seen.heard.guest
        screen_mark = self._find_screen_mark()
        while not guest.ready and not guest.failed_early:
            patience_s = _PROMPT_S if heard.is_in_mid_line else None
            event = await self.events.next(_LOOK_S if patience_s is None and screen_mark else patience_s)
            if screen_mark and not guest.ready:
                # Before what the console says: of a check nothing counts that was said ahead of ready.
                guest.ready = self.seen.has_seen(screen_mark)
            if event is None:
                heard.look_for_prompt()
            elif isinstance(event, Ended):
                return self._take_end(event)
            elif isinstance(event, MarkReached):
                heard.reach(event.name, event.t_ns)
                guest.ready = guest.ready or event.name == self.seen.system.booted.mark
            elif isinstance(event, ConsoleBytes):
                heard.feed(event.data, event.t_ns)
                if guest.panic is not None and not guest.ready:
                    return await self._drain_panic()
                if guest.gave_up and not self.seen.prepared.console.may_be_reset:
                    await self.finish()
                    return self.events.ended
        return None

    def _find_screen_mark(self) -> str | None:
        """Return the mark that says ready where it is one of screen or keyboard."""
        mark, screen = self.seen.system.booted.mark, self.seen.system.screen
        return mark if screen is not None and mark in screen.after else None

    def _take_end(self, ended: Ended) -> Ended | None:
        guest = self.seen.heard.guest
        self.seen.heard.finish()
        if guest.failed_early:
            return None
        if ended.reason is EndReason.DIED or not self.seen.prepared.traced:
            return ended
        # The plugin ends a boot at its mark before the console line that says the same can be written.
        guest.ready = self.seen.has_traced(self.seen.system.booted.mark)
        return None if guest.ready else ended

    async def _drain_panic(self) -> Ended:
        try:
            async with asyncio.timeout(_AFTER_PANIC_S):
                while not isinstance(event := await self.events.next(), Ended):
                    if isinstance(event, ConsoleBytes):
                        self.seen.heard.feed(event.data, event.t_ns)
                return event
        except TimeoutError:
            await self.session.stop()
        return Ended(time.monotonic_ns(), EndReason.GUEST_PANIC)

    async def _follow_check(self, check: Check) -> None:
        # Its mark may have ended the boot before its console, if it has one, said even that it was ready.
        heard, guest = self.seen.heard, self.seen.heard.guest
        guest.look_back()
        looked_at = -1
        patience_s = min(_AFTER_CHECK_MARK_S, self.seen.check_deadline_s / 2)
        while guest.check_passed is None and guest.panic is None and self.events.ended is None:
            may_be_prompt = check.console is not None and heard.is_in_mid_line and len(heard.raw) != looked_at
            waits_s = patience_s if guest.has_said_check_mark else _PROMPT_S if may_be_prompt else None
            event = await self.events.next(waits_s)
            if event is None and may_be_prompt:
                # Nothing more comes behind a prompt: one look at it is enough.
                heard.look_for_prompt()
                looked_at = len(heard.raw)
                continue
            if event is None:
                break
            if isinstance(event, Ended):
                heard.finish()
            elif isinstance(event, ConsoleBytes):
                heard.feed(event.data, event.t_ns)

    def _find_failure(self, check: Check) -> Ending | None:
        guest = self.seen.heard.guest
        if guest.check_passed is None and guest.panic is not None:
            return Ending(Outcome.CHECK_FAILED, f"the guest panicked during its check: {guest.panic}")
        if guest.check_passed is None and not (guest.has_said_check_mark or self.seen.has_traced(check.mark)):
            ended = self.events.ended
            reason = ended.reason.value if ended is not None else "unknown"
            return Ending(Outcome.CHECK_FAILED, f"the guest ended ({reason}) during its check")
        return Ending(Outcome.CHECK_FAILED, guest.check_detail) if guest.check_passed is False else None


async def _ask_over_tcp(check: Check, port: int | None) -> Ending:
    if check.send is None or check.expect is None or port is None:
        return Ending(Outcome.READY)
    answer = await ask(port, check.send, check.expect)
    if re.search(check.expect, answer) is None:
        return Ending(Outcome.CHECK_FAILED, f"TCP answer {answer[:80]!r} does not match check.expect {check.expect!r}")
    return Ending(Outcome.READY)


async def _watch_cancelled(cancelled: Callable[[], bool], boot: "asyncio.Task[object] | None") -> None:
    while not cancelled():
        await asyncio.sleep(0.1)
    if boot is not None:
        boot.cancel()
