"""What firmware looks at before it starts a disk image's bootloader: a key, a network card, all other devices."""

from typing import Final

from bootlab.system import System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text
from bootlab.timeline import marks as m

_NO_IMAGE = "the system boots no disk image ([image])"
_STARTED: Final = (m.BOOT_SECTOR, m.LOADER_ENTRY, m.EFI_STUB_ENTRY, m.IMAGE_ENTRY)
_FIRMWARE_PHASES: Final = ("firmware", "SEC", "PEI", "DXE", "BDS")
_LEAST_WAIT_NS: Final = 900_000_000
"""Menus wait for whole seconds."""


def _shows_a_menu(system: System, measured: Measured) -> str | None:
    if system.image is None:
        return _NO_IMAGE
    if _has_its_own(system) and system.machine.boot_menu_s is None:
        return None
    return None if system.machine.boot_menu_s else "the firmware waits for no key (machine.boot_menu_s)"


def _has_its_own(system: System) -> bool:
    """Return whether the firmware waits for a key though it was told of no menu: AAVMF does, for five seconds."""
    return system.machine.arch == "aarch64"


def _has_a_rom(system: System, measured: Measured) -> str | None:
    if system.image is None:
        return _NO_IMAGE
    if system.network is None:
        return "the machine has no network card"
    return None if system.network.option_rom else "network.option_rom is false already"


def _has_no_order(system: System, measured: Measured) -> str | None:
    if system.image is None:
        return _NO_IMAGE
    return "image.order is true already" if system.image.order else None


def _firmware_ns(boot: Evidence) -> int | None:
    """Return how long the firmware took until something of the image, or the kernel, was started."""
    return min((boot.marks[name] for name in _STARTED if name in boot.marks), default=None)


def _waits_no_more(after: Evidence, before: Evidence) -> Effect:
    # A pause is all that the menu is: seconds in which firmware looks for a key.
    new_ns, old_ns = _firmware_ns(after), _firmware_ns(before)
    if new_ns is None or old_ns is None:
        return Effect.NOT_SHOWN
    return Effect.PROVEN if old_ns - new_ns >= _LEAST_WAIT_NS else Effect.NONE


def _rom_is_not_started(after: Evidence, before: Evidence) -> Effect:
    # The boots of both sides are looked through for its first instruction (targets/qemu/option_rom.py).
    if m.OPTION_ROM in after.firmware_programs:
        return Effect.NONE
    was_started = m.OPTION_ROM in before.firmware_programs and _firmware_ns(after) is not None
    return Effect.PROVEN if was_started else Effect.NOT_SHOWN


def _reads_less(after: Evidence, before: Evidence) -> Effect:
    # To see what could be booted firmware reads of each disk and partition. What it looks at beside disks is not seen,
    # so having read the same shows nothing.
    new, old = _read_by_firmware(after), _read_by_firmware(before)
    return Effect.PROVEN if new is not None and old is not None and new < old else Effect.NOT_SHOWN


def _read_by_firmware(boot: Evidence) -> int | None:
    """Return how many bytes the firmware read from disks; None where it started nothing, or they were not counted."""
    read = [boot.read_bytes[phase] for phase in _FIRMWARE_PHASES if phase in boot.read_bytes]
    return sum(read) if read and _firmware_ns(boot) is not None else None


TECHNIQUES = (
    Technique(
        name="firmware_boot_menu_none",
        text=Text(
            summary="has the machine's firmware wait for no key before it boots",
            mechanism=(
                "With QEMU's `-boot menu=on` (libvirt's <bootmenu>) SeaBIOS and OVMF wait for the time that it names, "
                "or their own, for a key that opens their menu. AAVMF waits five seconds where it is told of none."
            ),
            cost="another device is chosen by changing the machine, not by a key",
            risk=Risk.NONE,
            published=(none_published("QEMU's manual, -boot menu=on,splash-time="),),
        ),
        change=Change(
            Layer.FIRMWARE,
            "no machine.boot_menu_s (QEMU without -boot menu=on); on arm64 machine.boot_menu_s = 0 (splash-time=0)",
            lambda system, measured: system.with_part("machine", boot_menu_s=0 if _has_its_own(system) else None),
            _shows_a_menu,
        ),
        proof=Proof(_waits_no_more),
    ),
    Technique(
        name="firmware_option_rom_none",
        text=Text(
            summary="takes the network card's ROM away, by which firmware could boot over the network (PXE)",
            mechanism=(
                "QEMU gives its network cards a ROM with iPXE. SeaBIOS copies it, runs its first part and makes room "
                "for it; OVMF loads a driver out of it and starts it, whatever the machine boots from."
            ),
            cost="the machine cannot boot over this card by iPXE; OVMF's own network drivers are left",
            risk=Risk.FUNCTION,
            published=(none_published("QEMU's manual, romfile= of PCI devices"),),
        ),
        change=Change(
            Layer.FIRMWARE,
            "network.option_rom = false (QEMU's romfile= of the card, empty)",
            lambda system, measured: system.with_part("network", option_rom=False),
            _has_a_rom,
        ),
        proof=Proof(_rom_is_not_started),
    ),
    Technique(
        name="firmware_boot_order",
        text=Text(
            summary="tells the firmware which disk to boot from, so that it looks at no other device first",
            mechanism=(
                "Without an order OVMF connects every device to its drivers to see what could be booted; with one it "
                "connects what the named disk needs. SeaBIOS goes through its devices in the order it found them."
            ),
            cost="where that disk does not boot, others are tried after it, as before",
            risk=Risk.NONE,
            published=(none_published("QEMU's docs/bootindex.rst and OVMF's README"),),
        ),
        change=Change(
            Layer.FIRMWARE,
            "image.order = true (QEMU's bootindex=0 of the disk)",
            lambda system, measured: system.with_part("image", order=True),
            _has_no_order,
        ),
        proof=Proof(_reads_less),
    ),
)
