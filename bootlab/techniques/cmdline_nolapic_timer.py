"""Leave the local APIC timer alone on a machine with one CPU."""

from bootlab.system import MachineType, System
from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words, one_vcpu_only
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Measured, Removes, Risk, Source


def _another_timer_ticks(system: System, measured: Measured) -> str | None:
    if system.machine.type is MachineType.MICROVM:
        return "Linux uses no other timer on microvm: it has no HPET, and its ACPI says there is no PIT"
    return one_vcpu_only(system, measured)


TECHNIQUE = kernel_words(
    name="cmdline_nolapic_timer",
    words="nolapic_timer",
    summary="leaves the local APIC timer unused, so that it need not be calibrated",
    mechanism=(
        "A CPU without TSC-deadline timer and without a frequency told by the hypervisor measures its local "
        "APIC timer for HZ/10 ticks: 100 ms of spinning in setup_boot_APIC_clock(). With the option the HPET "
        "or PIT keeps ticking instead. A single CPU needs no timer of its own."
    ),
    cost=(
        "timer interrupts come from the HPET or PIT, which is slower to program, most of all under a "
        "hypervisor; not for several CPUs"
    ),
    risk=Risk.FUNCTION,
    sources=(
        Source(
            NONE_PUBLISHED,
            (
                "K612: Linux 6.12.117 source, arch/x86/kernel/apic/apic.c:641: 100 ms LAPIC calibration (HZ/10 ticks) "
                "when TSC-deadline is absent"
            ),
        ),
    ),
    prove=line_appears("Disabling APIC timer"),
    applies=_another_timer_ticks,
    removes=Removes(
        "calibration of the local APIC's timer",
        functions=(
            "setup_boot_APIC_clock",
            "setup_APIC_timer",
        ),
    ),
)
