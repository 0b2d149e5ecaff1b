"""Boot without ACPI."""

from bootlab.system import System
from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words, x86_only
from bootlab.techniques.evidence import any_of, fact_is, line_appears
from bootlab.techniques.machine import has_mmio_devices
from bootlab.techniques.technique import Measured, Removes, Risk, Source


def _needs_no_acpi(system: System, measured: Measured) -> str | None:
    if (reason := x86_only(system, measured)) is not None:
        return reason
    if system.machine.uses_qboot:
        return "qboot writes no MP table: without ACPI the kernel finds no interrupt routing at all"
    if has_mmio_devices(system):
        return "the disks and network of microvm sit on virtio-mmio slots that this kernel finds through ACPI"
    return None


TECHNIQUE = kernel_words(
    name="cmdline_acpi_off",
    words="acpi=off",
    summary="boots without ACPI: no tables, no interpreter, no device enumeration through AML",
    mechanism=(
        "acpi_init() loads the DSDT into the interpreter, walks the whole name space and evaluates methods of "
        "every device; PNP, PCI routing and hotplug drivers hang on it. Without it the kernel uses the MP "
        "table and legacy probing."
    ),
    cost=(
        "no soft power-off, no CPU or memory hotplug, no interrupt routing from firmware; virtio-mmio devices "
        "of microvm are not found"
    ),
    risk=Risk.FUNCTION,
    sources=(
        Source(NONE_PUBLISHED, "microvm.nix issue 498: breaks Firecracker's PCI mode (MCFG); no isolated figure read"),
    ),
    prove=any_of(fact_is("acpi", "^no"), line_appears("ACPI: Interpreter disabled")),
    applies=_needs_no_acpi,
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
            # Without ACPI, where there is no MP table either, the kernel finds no interrupt routing and leaves the I/O
            # APIC and the local APIC's timer alone (arch/x86/kernel/smpboot.c, APIC_VIRTUAL_WIRE_NO_CONFIG).
            "setup_IO_APIC",
            "setup_boot_APIC_clock",
            "setup_APIC_timer",
        ),
    ),
)
