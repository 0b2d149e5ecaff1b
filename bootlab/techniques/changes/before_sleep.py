"""What bootlab-sleep does before a machine sleeps: settings that it writes, devices that it has woken late, caches."""

import re
from typing import Final

from bootlab.system import SLEEPS, PowerOnKind, System
from bootlab.techniques.changes.root_files import writes_files
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.technique import Applies, Change

FOLDER: Final = "/etc/bootlab/sleep.d"
_USB_DEVICE: Final = r"usb \d+-[\d.]+"
"""Its driver and name, as the kernel's log has them: bus and ports. A controller's own hub is `usb1`."""
_ALIKE_PERCENT: Final = 95
_DONE: Final = re.compile(r"(\d+) written, (\d+) not taken, \d+ late, (\d+) lines not understood")


def before_sleep(name: str, *lines: str) -> Change:
    """Return the change that has a machine do this before it is suspended (guest/sleep/before.h), in a file `name`."""
    return _does(name, lines, _sleeps)


def before_hibernation(name: str, *lines: str) -> Change:
    """Return the change that has a machine do this before it writes an image of its memory, in a file `name`."""
    return _does(name, lines, _hibernates)


def settings_taken(name: str, shows: Proof) -> Proof:
    """The machine's kernel took the settings of the file `name` before it slept, and `shows` how a boot shows it.

    That the kernel took them proves nothing by itself: they may change nothing as the machine wakes.
    """

    def prove(after: Evidence, before: Evidence) -> Effect:
        key = f"before_sleep.{name}"
        said = _DONE.fullmatch(after.facts.get(key, ""))
        if said is None or key in before.facts:
            return Effect.NOT_SHOWN
        # Of a pattern some files may be of devices that take no such setting: what was taken is what may help.
        if not int(said[1]) or int(said[3]):
            return Effect.NONE
        return shows.prove(after, before)

    return Proof(prove, watch=shows.watch)


def usb_devices_wake_sooner(*, to_percent: int) -> Proof:
    """Devices on USB, without hubs of the controller, are together awake in so many percent of the time, by their own.

    Needs `power_on.devices`: the kernel then notes when each device's own callback began and ended as the machine woke.
    """

    def prove(after: Evidence, before: Evidence) -> Effect:
        new, old = _usb_ns(after), _usb_ns(before)
        if not after.wakes_ns or not old:
            return Effect.NOT_SHOWN
        if new * 100 <= old * to_percent:
            return Effect.PROVEN
        # On other clocks than the virtual one a device takes a little more or less by itself.
        return Effect.NONE if new * 100 > old * _ALIKE_PERCENT else Effect.NOT_SHOWN

    return Proof(prove)


def _usb_ns(evidence: Evidence) -> int:
    # What takes less than 0.1 ms is not told.
    return sum(took for device, took in evidence.wakes_ns.items() if re.fullmatch(_USB_DEVICE, device))


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
