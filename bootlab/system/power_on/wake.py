"""What wakes a machine that sleeps, and when: before somebody comes, say, so that it is ready by then."""

from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import BeforeValidator, Field, model_validator

from bootlab.system.kernel import Kernel, KernelEntry
from bootlab.system.machine import Machine, MachineType
from bootlab.system.part import MARK, TEXT, Part
from bootlab.system.power_on.power_on import SLEEPS, PowerOn, PowerOnKind

_NS: Final = 10**9
_MOST_S: Final = 3600
_AT_ONCE_NS: Final = 2 * _NS
"""When a machine that idles is woken that no [wake] says anything of: it has fallen asleep by then."""
_SUSPENDING: Final = "suspending"
_POWER_ON: Final = "power_on"
_ASLEEP: Final = "asleep"
_BEHIND: Final = ("wake", "kernel_wakes", "woke")
"""Marks that a machine makes as it wakes; `bootlab.timeline.marks` has them for those that may know of marks."""
_OTHER_KEYBOARD: Final = "usb-kbd"
"""QEMU gives its keys to this one where a machine has it."""
_UNABLE: Final = {
    "lan": "no network card of QEMU tells of a packet while its machine sleeps",
    "can": "no CAN card of QEMU tells of a frame while its machine sleeps",
}


class WakeBy(StrEnum):
    """Who wakes a machine that sleeps."""

    RTC = "rtc"
    """The alarm of its own clock, which the guest sets: in whole seconds, so up to one before the time. Of S3 only."""
    KEY = "key"
    """A key of its keyboard."""


def _expect_able(given: Any) -> Any:
    if isinstance(given, str) and given in _UNABLE:
        raise ValueError(f'"{given}": {_UNABLE[given]}; "rtc" and "key" wake (docs/scope.md)')
    return given


class EarlyWake(Part):
    """What wakes a machine that is suspended, or idles, when, and when somebody comes. Without it, its host at once."""

    by: Annotated[WakeBy, TEXT, BeforeValidator(_expect_able)] = WakeBy.RTC
    at: Annotated[str, MARK] = _SUSPENDING
    """The mark that `at_s` and `ignition_s` count from: by default where it begins to fall asleep. Of "key" any one
    before the wake; of "rtc" this, or `power_on`: then the alarm is at a time of its clock, whenever it sleeps."""
    at_s: float = Field(gt=0, le=_MOST_S)
    """How long after that mark it is woken, in seconds of the virtual clock."""
    ignition_s: float | None = Field(default=None, gt=0, le=_MOST_S)
    """When somebody comes, after the same mark: from then on the time to ready counts that is felt."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.by is WakeBy.RTC and self.at_s != int(self.at_s):
            raise ValueError(f'at_s is {self.at_s:g}: by = "rtc" knows whole seconds')
        if self.ignition_s is not None and self.ignition_s < self.at_s:
            raise ValueError(
                f"ignition_s is {self.ignition_s:g}, before at_s ({self.at_s:g}): somebody who comes wakes it himself"
            )
        return self

    @model_validator(mode="after")
    def _at_before_wake(self) -> Self:
        if self.at in _BEHIND:
            raise ValueError(f'at = "{self.at}" is made as the machine wakes: name a mark that comes before')
        if self.by is WakeBy.RTC and self.at not in (_SUSPENDING, _POWER_ON):
            raise ValueError(
                f'at = "{self.at}": the guest sets its alarm where it falls asleep, and its clock tells it the time '
                f'since power-on alone: by = "rtc" takes "{_SUSPENDING}" or "{_POWER_ON}"; by = "key" takes any mark'
            )
        if self.by is WakeBy.KEY and self.at == _POWER_ON:
            raise ValueError(f'at = "{_POWER_ON}": a key is pressed behind a mark that is seen, as "start_kernel"')
        return self

    @property
    def ignition_ns(self) -> int | None:
        """Return when somebody comes, in ns after the mark `at`; None where nobody does."""
        return None if self.ignition_s is None else round(self.ignition_s * _NS)


def sleep_words(power_on: PowerOn | None, wake: EarlyWake | None, clock_s: int) -> str:
    """Return the words that have a guest suspend itself when it is ready (guest/sleep/main.c); none for others.

    `clock_s`: what its clock shows at power-on, in s since 1970.
    """
    if power_on is None or power_on.kind not in SLEEPS:
        return ""
    words = ["bootlab.sleep=mem" if power_on.kind is PowerOnKind.SUSPENDED else "bootlab.sleep=idle"]
    if power_on.devices:
        words.append("bootlab.sleep.devices")
    if wake is not None and wake.by is WakeBy.RTC:
        at_s = int(wake.at_s)
        words.append(f"bootlab.sleep.alarm={f'@{clock_s + at_s}' if wake.at == _POWER_ON else at_s}")
    return " ".join(words)


def pressed_ns(power_on: PowerOn, wake: EarlyWake | None) -> int | None:
    """Return when a key wakes the machine, in ns after the mark `wake.at`, or `suspending`; None where none does."""
    if wake is None:
        return _AT_ONCE_NS if power_on.kind is PowerOnKind.S2IDLE else None
    return round(wake.at_s * _NS) if wake.by is WakeBy.KEY else None


def expect_wakes(
    power_on: PowerOn | None, wake: EarlyWake | None, machine: Machine, kernel: Kernel, *, agent: bool
) -> None:
    """Raise ValueError for a machine that cannot sleep, or not be woken so. `agent`: bootlab-sleep is there."""
    if wake is not None and not agent:
        raise ValueError("wake is of a machine that sleeps: sleep_agent = true in the recipe of its root")
    if power_on is None or power_on.kind not in SLEEPS:
        return
    asked = f'power_on.kind = "{power_on.kind.value}"'
    if machine.type not in (MachineType.Q35, MachineType.PC):
        raise ValueError(f'{asked} is of machine.type "q35" and "pc", which have what wakes them')
    if power_on.kind is PowerOnKind.SUSPENDED and kernel.entry is KernelEntry.PVH:
        raise ValueError(
            f"{asked}: QEMU loads a kernel that is entered through PVH anew as it wakes; "
            'kernel.entry = "image" outlives it'
        )
    if not agent:
        raise ValueError(f"{asked}: /sbin/bootlab-sleep suspends it: sleep_agent = true in the recipe of its root")
    if power_on.kind is PowerOnKind.S2IDLE and wake is not None and wake.by is WakeBy.RTC:
        raise ValueError(
            f'wake.by = "rtc": QEMU\'s clock tells ACPI of its alarm in S3 only, and {asked}; wake.by = "key" wakes it'
        )
    if power_on.kind is PowerOnKind.S2IDLE and wake is not None and wake.at == _ASLEEP:
        raise ValueError(f'wake.at = "{_ASLEEP}" is where a kernel enters S3, and {asked}; "{_SUSPENDING}" is of both')
    if pressed_ns(power_on, wake) is not None and any(
        device.split(",")[0] == _OTHER_KEYBOARD for device in machine.devices
    ):
        raise ValueError(f"machine.devices: {_OTHER_KEYBOARD} takes the key that is to wake it, and does not wake it")
