"""Boot with qboot, a firmware that does nothing but start a kernel."""

from bootlab.system import System
from bootlab.techniques.cmdline import has_words
from bootlab.techniques.evidence import any_of, line_changes, line_vanishes
from bootlab.techniques.machine import X86, only_on, with_machine
from bootlab.techniques.technique import Layer, Measured, Removes, Risk, Source, Technique

_on_x86 = only_on(*X86)


def _applies(system: System, measured: Measured) -> str | None:
    if system.machine.firmware != "default":
        return f"machine.firmware is {system.machine.firmware} already"
    if has_words(system, "acpi=off"):
        return "qboot writes no MP table: with acpi=off the kernel finds no interrupt routing at all"
    return _on_x86(system, measured)


TECHNIQUE = Technique(
    name="firmware_qboot",
    layer=Layer.FIRMWARE,
    summary="starts the kernel from qboot instead of SeaBIOS",
    mechanism=(
        "SeaBIOS sets up interrupts, drives, USB, VGA and option ROMs for operating systems that ask the BIOS for "
        "them. Linux does not: qboot copies the ACPI tables, loads the kernel and jumps."
    ),
    knob='machine.firmware = "qboot" (QEMU -bios qboot.rom)',
    cost="no option ROMs, no boot from disk or network, no legacy BIOS services",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "SeaBIOS+PVH 139.5 -> qboot+PVH 133.8 ms to user; firmware part 10.5 -> 4.8 ms",
            "SG: Stefano Garzarella, 2019-08-23, and stefano-garzarella/qemu-boot-time",
        ),
        Source("about 15 ms total in 2016", "qemu-devel msg380815"),
    ),
    apply=with_machine(firmware="qboot"),
    prove=any_of(line_changes(r"DMI: .*BIOS (.*)"), line_vanishes(r"DMI: .*BIOS ")),
    applies=_applies,
    removes=Removes("the firmware", stages=("[firmware]",), replaced=True),
)
