"""A firmware that does nothing but start a kernel."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import has_words
from bootlab.techniques.changes.machine import NO_INTERRUPTS, X86, only_on, reads_mp_tables, with_machine
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import any_of, line_changes, line_vanishes
from bootlab.techniques.model.published import GARZARELLA_2019, Published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_on_x86 = only_on(*X86)


def _has_another_firmware(system: System, measured: Measured) -> str | None:
    if system.image is not None:
        return "the system boots a disk image, and qboot reads no disk"
    if system.machine.firmware != "default":
        return f"machine.firmware is {system.machine.firmware} already"
    if system.machine.uses_qboot:
        return "microvm without ACPI tables starts from qboot already"
    if has_words(system, "acpi=off") and not reads_mp_tables(system, measured):
        return NO_INTERRUPTS
    return _on_x86(system, measured)


TECHNIQUES = (
    Technique(
        name="firmware_qboot",
        text=Text(
            summary="starts the kernel from qboot instead of SeaBIOS",
            mechanism=(
                "SeaBIOS sets up interrupts, drives, USB, VGA and option ROMs for operating systems that "
                "ask the BIOS for them. Linux does not: qboot copies the ACPI tables, loads the kernel and "
                "jumps."
            ),
            cost="no option ROMs, no boot from disk or network, no legacy BIOS services",
            risk=Risk.FUNCTION,
            published=(
                Published(
                    "SeaBIOS+PVH 139.5 -> qboot+PVH 133.8 ms to user; firmware part 10.5 -> 4.8 ms",
                    f"{GARZARELLA_2019}, and stefano-garzarella/qemu-boot-time",
                ),
                Published("about 15 ms total in 2016", "qemu-devel msg380815"),
            ),
        ),
        change=Change(
            Layer.FIRMWARE,
            'machine.firmware = "qboot" (QEMU -bios qboot.rom)',
            with_machine(firmware="qboot"),
            _has_another_firmware,
        ),
        proof=any_of(line_changes(r"DMI: .*BIOS (.*)"), line_vanishes(r"DMI: .*BIOS ")),
        removes=Removes("the firmware", stages=("[firmware]",), replaced=True),
    ),
)
