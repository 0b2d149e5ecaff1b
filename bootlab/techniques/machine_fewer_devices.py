"""Leave out the chipset's devices that a server without screen, keyboard and optical drive never uses."""

from bootlab.system import MachineType, System
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import any_of, fact_falls, line_vanishes
from bootlab.techniques.machine import with_options
from bootlab.techniques.technique import Layer, Measured, Removes, Risk, Source, Technique

UNUSED: dict[MachineType, dict[str, str]] = {
    MachineType.Q35: {"sata": "off", "smbus": "off", "usb": "off", "i8042": "off", "vmport": "off", "smm": "off"},
    MachineType.PC: {"usb": "off", "i8042": "off", "vmport": "off", "smm": "off"},
    MachineType.MICROVM: {"pit": "off", "pic": "off"},
}
"""QEMU machine properties, by machine. The serial port stays, because the console is there; so does the real-time clock
of microvm, because Linux 6.1 waits a second each time it asks one that is not there."""


def _applies(system: System, measured: Measured) -> str | None:
    machine = system.machine
    if machine.type not in UNUSED:
        return f"{machine.type.value} has no such options"
    if UNUSED[machine.type].items() <= machine.options.items():
        return "machine.options has them all already"
    return None


def _apply(system: System, measured: Measured) -> System:
    return with_options(UNUSED[system.machine.type])(system, measured)


TECHNIQUE = Technique(
    name="machine_fewer_devices",
    layer=Layer.MACHINE,
    summary="leaves out the chipset's disk controller, SMBus, keyboard controller and other devices nobody uses",
    mechanism=(
        "Each emulated device is found by firmware and kernel, described by ACPI, sized, given interrupts, and probed "
        "by a built-in driver that waits for answers; without SMM the firmware need not relocate it."
    ),
    knob='machine.options: sata, smbus, usb, i8042, vmport, smm (q35) or pit, pic (microvm) = "off"',
    cost="no SATA disks, PS/2 keyboard, USB devices, SMBus sensors or legacy timer and interrupt controller",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            NONE_PUBLISHED, "QEMU's microvm documentation recommends pit, pic and rtc off; no official ms figure found"
        ),
    ),
    apply=_apply,
    prove=any_of(
        line_vanishes("serio: i8042 KBD port"),
        line_vanishes("tsc: Fast TSC calibration using PIT"),
        fact_falls("pci_devices"),
    ),
    applies=_applies,
    removes=Removes(
        "probing of devices that nobody uses",
        functions=(
            "i8042_init",
            "ahci_init_one",
            "ata_host_activate",
            "i801_probe",
            "piix4_probe",
            "uhci_hcd_init",
        ),
        shortens=("[firmware]", "acpi_init", "pci_subsys_init"),
    ),
)
