"""Bring up one CPU and no I/O APIC."""

from bootlab.techniques.cmdline import kernel_words, x86_only
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_nosmp",
    words="nosmp",
    summary="brings up one CPU only and leaves the I/O APIC alone",
    mechanism=(
        "Other CPUs are not started and smp_prepare_cpus() goes its short way; interrupts go through the "
        "legacy controller, so the I/O APIC is neither set up nor tested."
    ),
    cost="one CPU, 16 interrupt lines, no MSI routing through the I/O APIC",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "SMP to UP in the kernel's configuration: 35.5 -> 9.1 ms (6.7.3, 1 vCPU); not the same change",
            'DV: David Ventura, "Minimizing Linux boot times", 2024, DavidVentura/blog c798a2e',
        ),
    ),
    applies=x86_only,
    prove=line_appears(r"SMP disabled|SMP mode deactivated"),
    removes=Removes(
        "bringing up of further CPUs and the I/O APIC",
        functions=("smp_init", "setup_IO_APIC", "native_smp_prepare_cpus"),
        # arch/x86/kernel/smpboot.c, APIC_SYMMETRIC_IO_NO_ROUTING: the CPU's own timer is calibrated all the same.
        keeps=("setup_boot_APIC_clock",),
    ),
)
