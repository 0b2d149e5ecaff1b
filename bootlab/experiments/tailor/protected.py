"""Lists what tailoring never drops because it did not run: what protects, and what this system's way of booting needs.

A mitigation or a check runs when somebody attacks, not in a boot. So such options go only by name, and where an option
is one, the kernel itself mostly says: by the menu or the folder it is defined in.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from bootlab.build.kernel.objects import MAP_OPTION
from bootlab.build.source.option_dependencies import OptionPlace
from bootlab.system import MachineType, System
from bootlab.techniques.model.option_risks import Protection, protection_of

GATES = ("EXPERT", "PROCESSOR_SELECT", MAP_OPTION)
"""Turned on before anything is measured: most prompts hide behind the first two; the last is the linker's map."""


class Guard(StrEnum):
    """Why an option is protected; all but `boot` and `asked` are groups that a user can give up by name."""

    MITIGATIONS = Protection.MITIGATIONS.value
    HARDENING = Protection.HARDENING.value
    ACCESS = Protection.ACCESS.value
    SIGNING = Protection.SIGNING.value
    BOOT = "boot"
    ASKED = "asked"


GROUPS = (Guard.MITIGATIONS, Guard.HARDENING, Guard.ACCESS, Guard.SIGNING)
_MENUS = (
    ("Mitigations for CPU vulnerabilities", Guard.MITIGATIONS),
    ("Kernel hardening options", Guard.HARDENING),
)
_CONSOLES = {"ttyS": "SERIAL_8250_CONSOLE", "ttyAMA": "SERIAL_AMBA_PL011_CONSOLE", "hvc": "VIRTIO_CONSOLE"}
_BOARDS_UART = {MachineType.ORANGEPI_PC: ("SERIAL_8250_DW", "SUN8I_H3_CCU", "PINCTRL_SUN8I_H3")}
"""What finds the UART behind ttyS by the device tree, and gives it clock and pins; PCs find theirs without."""


@dataclass(frozen=True, slots=True)
class Protected:
    """An option that stays, and why."""

    option: str
    guard: Guard
    why: str


class Policy:
    """Which options of one system are protected.

    `keep`: options that the user wants. `give_up`: groups of GROUPS, or options, that the user lets go by name.
    """

    def __init__(self, system: System, keep: Collection[str] = (), give_up: Collection[str] = ()) -> None:
        self._needed = {name: Protected(name, Guard.BOOT, why) for name, why in _boot_contract(system).items()}
        asked = system.kernel.build.options if system.kernel.build is not None else {}
        self._asked_off = frozenset(name for name, value in asked.items() if value == "n")
        on = {name for name, value in asked.items() if value in ("y", "m")}
        self._needed |= {name: Protected(name, Guard.ASKED, "kernel.build.options asks for it") for name in on}
        self._needed |= {name: Protected(name, Guard.ASKED, "asked for with --keep") for name in keep}
        self._given_up = frozenset(give_up)

    def protected(self, option: str, place: OptionPlace) -> Protected | None:
        """Return why an option is never dropped for not having run; None when it may be."""
        if option in self._needed:
            return self._needed[option]
        guard = security_group(option, place)
        if guard is None or self._lets_go(option, guard):
            return None
        return Protected(option, guard, f"{guard.value}: goes only by name (--give-up {option})")

    def asked_off(self, option: str) -> bool:
        """Return whether the system's file says that an option is to be off."""
        return option in self._asked_off

    def given_up(self, option: str, place: OptionPlace) -> bool:
        """Return whether the user lets an option go whatever runs of it."""
        return option not in self._needed and self._lets_go(option, security_group(option, place))

    def _lets_go(self, option: str, guard: Guard | None) -> bool:
        return option in self._given_up or (guard is not None and guard.value in self._given_up)


def security_group(option: str, place: OptionPlace) -> Guard | None:
    """Return which kind of protection an option is; None when it is none."""
    for menu, guard in _MENUS:
        if menu in place.menus or place.prompt == menu:
            return guard
    if (protection := protection_of(option)) is not None:
        return Guard(protection.value)
    return Guard.ACCESS if any(file.startswith("security/") for file in place.files) else None


def _boot_contract(system: System) -> dict[str, str]:
    needed = dict.fromkeys(GATES, "tailoring itself reads it")
    needed |= {"64BIT": "the machine's architecture", "PRINTK": "a boot that fails must be able to say so"}
    if system.kernel.entry.value == "pvh":
        needed["PVH"] = "kernel.entry is pvh"
    if system.initramfs is not None:
        needed["BLK_DEV_INITRD"] = "the system has an initramfs"
        packed = system.initramfs.compression.value
        if packed in ("gzip", "lz4", "zstd", "xz", "lzo"):
            needed[f"RD_{packed.upper()}"] = f"the initramfs is packed with {packed}"
    for name, option in _CONSOLES.items():
        if re.search(rf"(^|\s)console={name}\d", system.kernel.cmdline):
            needed[option] = f"the console is {name}"
            uart = _BOARDS_UART.get(system.machine.type, ()) if name == "ttyS" else ()
            needed |= dict.fromkeys(uart, f"the console is {name}, and its UART needs it")
    needed |= dict.fromkeys(system.appended_tree_options, "the device tree lies behind the kernel (card.device_tree)")
    if system.machine.vcpus > 1:
        needed["SMP"] = "the machine has more than one CPU"
    return needed
