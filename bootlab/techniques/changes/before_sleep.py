"""What bootlab-sleep does before a machine sleeps: settings that it writes, devices that it has woken late, caches."""

import re
from typing import Final

from bootlab.system import SLEEPS, PowerOnKind, System
from bootlab.techniques.changes.root_files import writes_files
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.technique import Applies, Change

FOLDER: Final = "/etc/bootlab/sleep.d"
_DONE: Final = re.compile(r"(\d+) written, (\d+) not taken, \d+ late, (\d+) lines not understood")


def before_sleep(name: str, *lines: str) -> Change:
    """Return the change that has a machine do this before it is suspended (guest/sleep/before.h), in a file `name`."""
    return _does(name, lines, _sleeps)


def before_hibernation(name: str, *lines: str) -> Change:
    """Return the change that has a machine do this before it writes an image of its memory, in a file `name`."""
    return _does(name, lines, _hibernates)


def settings_taken(name: str) -> Proof:
    """The machine says that its kernel took the settings of the file `name` before it slept."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        key = f"before_sleep.{name}"
        said = _DONE.fullmatch(after.facts.get(key, ""))
        if said is None or key in before.facts:
            return Effect.NOT_SHOWN
        # Of a pattern some files may be of devices that take no such setting: what was taken is what may help.
        return Effect.PROVEN if int(said[1]) and not int(said[3]) else Effect.NONE

    return Proof(prove)


def devices_came_late(name: str) -> Proof:
    """Devices of the file `name` had no driver while the machine woke, and each has it again behind that."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        if f"before_sleep.{name}" not in after.facts or f"before_sleep.{name}" in before.facts:
            return Effect.NOT_SHOWN
        late, back = (after.facts.get(f"{fact}.{name}", "").split() for fact in ("late", "late_back"))
        if not late:
            return Effect.NONE
        # A boot may end before they are back: then it does not show that they ever are.
        return Effect.PROVEN if late == back else Effect.NOT_SHOWN

    return Proof(prove)


def page_cache_grows() -> Proof:
    """The image has more page cache than before; the machine says so as it wakes out of it (guest/sleep/main.c)."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        return _grows(_kib(after, "page_cache"), _kib(before, "page_cache"))

    return Proof(prove)


def memory_shrinks() -> Proof:
    """The image has less page cache than before, or more was swapped out before it was made."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        cache = _grows(_kib(before, "page_cache"), _kib(after, "page_cache"))
        swapped = _grows(_kib(after, "swapped"), _kib(before, "swapped"))
        return cache if cache is not Effect.NONE else swapped

    return Proof(prove)


def _kib(evidence: Evidence, what: str) -> int | None:
    said = evidence.facts.get(f"image_{what}_kib", "")
    return int(said) if said.isdecimal() else None


def _grows(new: int | None, old: int | None) -> Effect:
    if new is None or old is None:
        return Effect.NOT_SHOWN
    return Effect.PROVEN if new > old else Effect.NONE


def _does(name: str, lines: tuple[str, ...], applies: Applies) -> Change:
    return writes_files({f"{FOLDER}/{name}": "".join(f"{line}\n" for line in lines)}, applies)


def _hibernates(system: System, measured: Measured) -> str | None:
    if system.power_on is None or system.power_on.kind is not PowerOnKind.HIBERNATED:
        return 'no image of the memory is made: power_on.kind = "hibernated"'
    return _expect_agent(system)


def _sleeps(system: System, measured: Measured) -> str | None:
    if system.power_on is None or system.power_on.kind not in SLEEPS:
        return 'the machine is not suspended: power_on.kind = "suspended" or "s2idle"'
    return _expect_agent(system)


def _expect_agent(system: System) -> str | None:
    if system.rootfs is None or not system.rootfs.sleep_agent:
        return "another program than bootlab-sleep of the root puts it to sleep: rootfs.sleep_agent = true"
    return None
