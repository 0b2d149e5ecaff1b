"""The earlier lives of a disk image: it boots, is left alone for a while, is powered off in order, and may boot again.

The user's image is never written to. What a life leaves is kept in the cache under all that decided it, so each is
lived once; on the virtual clock it would be the same again to the last byte.
"""

import asyncio
import hashlib
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.build.cache import file_sha256
from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed
from bootlab.measure.guest.heard_console import HeardConsole
from bootlab.measure.host.deadline import deadline
from bootlab.measure.session_events import SessionEvents
from bootlab.profile.recorded.trace import TRAPS, read_trace
from bootlab.system import ClockKind, System
from bootlab.targets.target import (
    TRACE,
    ConsoleBytes,
    Ended,
    EndReason,
    MarkReached,
    OpenedMachine,
    Prepared,
    StandsStill,
)

_FORMAT: Final = 1
CONSOLE: Final = "console.log"
_POWER_OFF_S = 300.0
_SHOWN = 160
_IN_ORDER = (EndReason.GUEST_SHUTDOWN, EndReason.GUEST_RESET)


@dataclass(frozen=True, slots=True)
class EarlierLife:
    """A life that is over. `folder`: what it left on disk, and its console; `identity`: of all that decided it."""

    folder: Path
    identity: str


def life_before(system: System) -> System:
    """Return the same system one life earlier."""
    assert system.image is not None and system.image.life > 1
    return system.model_copy(update={"image": system.image.model_copy(update={"life": system.image.life - 1})})


def live(shop: Workshop, prepared: Prepared) -> EarlierLife:
    """Let a machine live as it was prepared, power it off, and return what is left; at once where it lived before.

    Raises BootFailed where it is not ready by the end of its life, or does not power off in order; InputError.
    """
    image = prepared.system.image
    assert image is not None
    key = json.dumps([_FORMAT, prepared.key, image.life_s, str(prepared.files.image)])

    def make(out: Path) -> None:
        clock = prepared.system.clock.kind.value
        shop.tell(f"life {image.life} of {prepared.system.name}: {image.life_s} s on the {clock} clock, then power off")
        out.mkdir()
        asyncio.run(_live(prepared.living(out, image.life_s * 1_000_000_000), out))
        for line in _doubts(out / TRACE):
            shop.tell(f"life {image.life}: {line}: it may not repeat exactly")

    folder = shop.cache.make("life", key, make)
    # Where the image lies does not decide a life; on the wall clock none is as another, which its console tells.
    decided = json.dumps([_FORMAT, prepared.key, image.life_s, file_sha256(folder / CONSOLE)])
    return EarlierLife(folder, hashlib.sha256(decided.encode()).hexdigest())


async def _live(prepared: Prepared, folder: Path) -> None:
    heard = HeardConsole(prepared)
    try:
        async with prepared.open(folder, []) as machine:
            heard.begin(await machine.session.power_on(), machine.session.byte_ns)
            await _Lived(prepared, machine, heard, folder).follow()
    finally:
        (folder / CONSOLE).write_bytes(heard.raw)


def _doubts(path: Path) -> list[str]:
    if not path.exists():
        return []
    trace = read_trace(path)
    told = [f"exact {feature}: refused: {why}" for feature, why in trace.refused.items() if feature != TRAPS]
    if trace.settled[1]:
        told.append(f"of {trace.settled[0]} waits for a disk {trace.settled[1]} were given up")
    return told


@dataclass
class _Lived:
    prepared: Prepared
    machine: OpenedMachine
    heard: HeardConsole
    folder: Path
    ready: bool = False

    async def follow(self) -> None:
        image = self.prepared.system.image
        assert image is not None and self.machine.power_off is not None
        self._events = SessionEvents(self.machine.session)
        try:
            ended = await self._until_over()
            heard = self.heard
            heard.look_for_prompt()
            if not (self.ready or heard.guest.ready or self._has_traced_ready()):
                raise BootFailed(
                    f"life {image.life}: not ready in its {image.life_s} s, {_last_words(heard)}",
                    hint="image.life_s, or --life-s, is how long each life before the last one lasts",
                )
            if ended is None:
                await self.machine.power_off()
                await self._until_off()
            elif ended.reason not in _IN_ORDER:
                raise self._died(ended)
        finally:
            self._events.close()

    async def _until_over(self) -> Ended | None:
        """Return why the machine ended before its life was over; None where its power button is to be pressed."""
        system, session = self.prepared.system, self.machine.session
        assert system.image is not None
        virtual = system.clock.kind is ClockKind.VIRTUAL
        over_s = time.monotonic() + system.image.life_s
        try:
            async with deadline(system.booted.deadline_s + (0 if virtual else system.image.life_s), session.withheld_s):
                while True:
                    event = await self._events.next(None if virtual else max(0.0, over_s - time.monotonic()))
                    if event is None or isinstance(event, StandsStill):
                        return None
                    if isinstance(event, Ended):
                        return event
                    self._take(event)
        except TimeoutError as error:
            raise BootFailed(
                f"life {system.image.life}: its {system.image.life_s} s of virtual time took more than "
                f"{system.booted.deadline_s:g} s of this host's, {_last_words(self.heard)}",
                hint="booted.deadline_s is how long it may take",
            ) from error

    async def _until_off(self) -> None:
        image = self.prepared.system.image
        assert image is not None
        try:
            async with deadline(_POWER_OFF_S, self.machine.session.withheld_s):
                while not isinstance(event := await self._events.next(), Ended):
                    if event is not None:
                        self._take(event)
        except TimeoutError as error:
            raise BootFailed(
                f"life {image.life}: not powered off in {_POWER_OFF_S:g} host s since its power button was pressed, "
                f"{_last_words(self.heard)}",
                hint="in the image systemd-logind or acpid has to act on the button",
            ) from error
        if event.reason not in _IN_ORDER:
            raise self._died(event)

    def _take(self, event: ConsoleBytes | MarkReached | StandsStill) -> None:
        if isinstance(event, ConsoleBytes):
            self.heard.feed(event.data, event.t_ns)
        elif isinstance(event, MarkReached):
            self.ready = self.ready or event.name == self.prepared.system.booted.mark

    def _has_traced_ready(self) -> bool:
        path, mark = self.folder / TRACE, self.prepared.system.booted.mark
        return mark is not None and path.exists() and mark in read_trace(path).guest_marks

    def _died(self, ended: Ended) -> BootFailed:
        image = self.prepared.system.image
        assert image is not None
        full = "No space left" in ended.detail or "ENOSPC" in ended.detail
        return BootFailed(
            f"life {image.life}: not powered off in order: {ended.detail or ended.reason.value}, "
            f"{_last_words(self.heard)}",
            hint="what a life writes is kept in the cache: BOOTLAB_CACHE names another folder for it" if full else None,
        )


def _last_words(heard: HeardConsole) -> str:
    line = heard.guest.last_line.strip()
    return f'last console line: "{line[:_SHOWN]}"' if line else "the console said nothing"
