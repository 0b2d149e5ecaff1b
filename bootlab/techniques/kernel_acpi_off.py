"""Build without ACPI."""

from bootlab.system import System
from bootlab.techniques.build_options import VENTURA_2024, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED, has_words
from bootlab.techniques.evidence import any_of, fact_is, initcalls_gone
from bootlab.techniques.machine import has_mmio_devices
from bootlab.techniques.technique import Measured, Removes, Risk, Source


def _needs_no_acpi(system: System, measured: Measured) -> str | None:
    if system.machine.options.get("acpi") == "off" or has_words(system, "acpi=off"):
        return None
    if system.machine.arch != "x86_64":
        return "the firmware of this machine is asked for devices through a device tree or ACPI alike"
    if has_mmio_devices(system):
        return 'the disks and network of microvm are found through ACPI: machine.options acpi = "off" comes first'
    if system.machine.uses_qboot:
        return "qboot writes no MP table: without ACPI the kernel finds no interrupt routing at all"
    return None


TECHNIQUE = option_technique(
    name="kernel_acpi_off",
    options=off("ACPI"),
    gates={"X86_MPPARSE": "y"},
    arch=("x86_64",),
    summary="builds without ACPI: no tables, no interpreter, no devices through AML",
    mechanism=(
        "The interpreter loads the DSDT, walks its name space and evaluates methods of every device. "
        "Without it x86 falls back to the MP table: where a board has one and an I/O APIC, the kernel "
        "tests that timer by waiting for ticks."
    ),
    cost=("no soft power-off and hotplug; devices are found through the MP table, the command line and old ports only"),
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}, a part of 35.5 -> 9.1 ms"),),
    applies=_needs_no_acpi,
    shows=any_of(initcalls_gone("acpi_init"), fact_is("acpi", "^no")),
    removes=Removes(
        "ACPI: tables, interpreter, devices found through it",
        functions=(
            "acpi_boot_table_init",
            "acpi_reserve_initial_tables",
            "early_acpi_boot_init",
            "acpi_boot_init",
            "acpi_early_init",
            "acpi_subsystem_init",
            "acpi_init",
            "acpi_processor_driver_init",
            "init_acpi_pm_clocksource",
            "pnpacpi_init",
            "acpi_event_init",
            "acpi_pci_init",
            "acpi_bus_register_driver",
        ),
    ),
)
