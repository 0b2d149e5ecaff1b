"""Tables of the firmware that the kernel need not read: ACPI."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import kernel_words
from bootlab.techniques.changes.machine import NO_INTERRUPTS, has_mmio_devices, reads_mp_tables
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import any_of, fact_is, line_appears
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.subjects import ACPI, APIC_TIMER
from bootlab.techniques.model.technique import Risk, Technique, Text


def _needs_no_acpi(system: System, measured: Measured) -> str | None:
    if (arch := system.machine.arch) != "x86_64":
        return f"machines of {arch} boot from a device tree here, not from ACPI"
    if measured.facts.get("acpi") == "no" or system.machine.options.get("acpi") == "off":
        return "the machine has no ACPI, or the baseline boot ran without it"
    if system.machine.uses_qboot and not reads_mp_tables(system, measured):
        return NO_INTERRUPTS
    if has_mmio_devices(system):
        return "the disks and network of microvm sit on virtio-mmio slots that this kernel finds through ACPI"
    return None


TECHNIQUES = (
    Technique(
        name="cmdline_acpi_off",
        text=Text(
            summary="boots without ACPI: no tables, no interpreter, no device enumeration through AML",
            mechanism=(
                "acpi_init() loads the DSDT into the interpreter, walks the whole name space and evaluates "
                "methods of every device; PNP, PCI routing and hotplug drivers hang on it. Without it the "
                "kernel probes as on older PCs, and finds CPUs and I/O APIC in the firmware's MP table. One "
                "that cannot read it (X86_MPPARSE is off, as in Debian's kernels for clouds) does without any "
                "APIC (acpi_mps_check(), arch/x86/kernel/acpi/boot.c): nor has it one to set up or calibrate."
            ),
            cost=(
                "no soft power-off, no CPU or memory hotplug, no interrupt routing from firmware, no TPM and "
                "no IOMMU, so that nothing holds back what a device writes to memory; virtio-mmio devices of "
                "microvm are not found; without X86_MPPARSE one CPU, 16 interrupt lines and no MSI"
            ),
            risk=Risk.SECURITY,
            published=(
                none_published("microvm.nix issue 498: breaks Firecracker's PCI mode (MCFG); no isolated figure read"),
            ),
        ),
        change=kernel_words("acpi=off", _needs_no_acpi),
        proof=any_of(fact_is("acpi", "^no"), line_appears("ACPI: Interpreter disabled")),
        removes=ACPI.also(
            # Of a kernel without X86_MPPARSE; with it, and an MP table, both go on.
            "setup_IO_APIC",
            *APIC_TIMER.functions,
        ),
    ),
)
