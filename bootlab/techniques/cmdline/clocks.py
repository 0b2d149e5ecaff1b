"""The clocks that a PC's kernel measures, checks and watches: delay loop, time stamp counter, timer interrupts."""

from bootlab.system import MachineType, System
from bootlab.techniques.changes.command_line import kernel_words, measured_words, x86_only
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import (
    any_of,
    find_line,
    line_appears,
    line_vanishes,
    log_says,
    never_runs,
    pause_shrinks,
)
from bootlab.techniques.model.published import (
    AGNOS,
    BOOTLIN_SLIDES,
    KATA,
    LINUX_612,
    VENTURA_2024,
    Published,
    none_published,
)
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.subjects import APIC_TIMER
from bootlab.techniques.model.technique import Risk, Technique, Text


def _one_vcpu_only(system: System, measured: Measured) -> str | None:
    if (reason := x86_only(system, measured)) is not None:
        return reason
    vcpus = system.machine.vcpus
    return None if vcpus == 1 else f"the machine has {vcpus} vCPUs, and each needs it"


def _lpj(system: System, measured: Measured) -> str | None:
    found = find_line(measured.facts, measured.console, r"\(lpj=(\d+)\)")
    return f"lpj={found.group(1)}" if found else None


def _measures_the_loop(system: System, measured: Measured) -> str | None:
    # Where the first CPU computes it, the others may measure theirs all the same (init/calibrate.c).
    computes = log_says(measured.facts, measured.console, r"Calibrating delay loop \(skipped\), value calculated")
    if computes and system.machine.vcpus == 1:
        return "the kernel computes lpj from the frequency of its timer, and measures nothing"
    return None


def _checks_the_timer(system: System, measured: Measured) -> str | None:
    if (reason := x86_only(system, measured)) is not None:
        return reason
    if log_says(measured.facts, measured.console, _CHECK) is False:
        return "the kernel sets up no timer behind an I/O APIC, and checks none"
    return None


def _times_it_slowly(system: System, measured: Measured) -> str | None:
    if (reason := x86_only(system, measured)) is not None:
        return reason
    if log_says(measured.facts, measured.console, _SLOW_TIMING):
        return None
    return "the kernel learnt at once how fast it is, from the CPU or in the few ticks that the option does not spare"


def _another_timer_ticks(system: System, measured: Measured) -> str | None:
    if system.machine.type is MachineType.MICROVM:
        return "Linux uses no other timer on microvm: it has no HPET, and its ACPI says there is no PIT"
    if log_says(measured.facts, measured.console, "TSC deadline timer available"):
        return "this CPU's timer follows its time stamp counter (TSC deadline), and is not calibrated"
    return _one_vcpu_only(system, measured)


def _tsc_khz(system: System, measured: Measured) -> str | None:
    found = find_line(measured.facts, measured.console, r"tsc: Detected (\d+)\.(\d{3}) MHz")
    return f"tsc_early_khz={int(found.group(1) + found.group(2))}" if found else None


_CHECK = r"\.\.TIMER: vector="
_SLOW_TIMING = r"tsc: (PIT calibration (matches|deviates)|[Uu]sing \w+ (reference )?calibration)"
"""What pit_hpet_ptimer_calibrate_cpu() says (arch/x86/kernel/tsc.c)."""

TECHNIQUES = (
    Technique(
        name="cmdline_lpj",
        text=Text(
            summary="presets the delay loop with the value that the baseline boot found",
            mechanism=(
                "Without a preset calibrate_delay() (init/calibrate.c) counts loops over several timer "
                "ticks, up to 250 ms for each CPU. A kernel that knows the frequency of its timer computes "
                "the value of the first CPU instead, and then only further ones may measure theirs."
            ),
            cost=(
                "a wrong value, on a faster or slower CPU, makes udelay() too short or too long, and drivers "
                "that rely on it fail"
            ),
            risk=Risk.FUNCTION,
            published=(
                Published("-83 ms (BeagleBone Black, Linux 6.1)", BOOTLIN_SLIDES),
                Published("doc: up to 250 ms/CPU; no-op under KVM_GUEST", LINUX_612),
                Published('"doesn\'t help" on SDM845', AGNOS),
            ),
        ),
        change=measured_words(
            "lpj=N, with N from the baseline boot's own log",
            _lpj,
            "the baseline boot's log does not say which lpj the kernel found",
            _measures_the_loop,
        ),
        proof=line_appears(r"\(skipped\) preset value"),
        removes=Removes("measuring of the delay loop", functions=("calibrate_delay",)),
    ),
    Technique(
        name="cmdline_no_timer_check",
        text=Text(
            summary="skips the check that the timer interrupt arrives through the I/O APIC",
            mechanism=(
                "timer_irq_works() spins until more than four jiffies have gone by with interrupts on: 16 "
                "to 20 ms at HZ=250. KVM guests with CONFIG_KVM_GUEST skip it on their own; under TCG, on "
                "bare metal and without KVM_GUEST it runs."
            ),
            cost=(
                "a machine whose timer interrupt is wired wrongly is no longer worked around; emulated "
                "ones are wired right"
            ),
            risk=Risk.NONE,
            published=(
                Published(
                    "up to 4-5 jiffies (16-50 ms); automatic under KVM_GUEST",
                    f"{LINUX_612}, arch/x86/kernel/apic/io_apic.c and kvm.c",
                ),
            ),
        ),
        change=kernel_words("no_timer_check", _checks_the_timer),
        proof=pause_shrinks(_CHECK),
        removes=Removes("the check that timer interrupts arrive", functions=("timer_irq_works",)),
    ),
    Technique(
        name="cmdline_nolapic_timer",
        text=Text(
            summary="leaves the local APIC timer unused, so that it need not be calibrated",
            mechanism=(
                "A CPU without TSC-deadline timer and without a frequency told by the hypervisor measures "
                "its local APIC timer for HZ/10 ticks: 100 ms of spinning in setup_boot_APIC_clock(). With "
                "the option the HPET or PIT keeps ticking instead. A single CPU needs no timer of its own."
            ),
            cost=(
                "timer interrupts come from the HPET or PIT, which is slower to program, most of all under "
                "a hypervisor; not for several CPUs"
            ),
            risk=Risk.FUNCTION,
            published=(
                none_published(
                    f"{LINUX_612}, arch/x86/kernel/apic/apic.c:641: 100 ms LAPIC calibration (HZ/10 ticks) when "
                    "TSC-deadline is absent"
                ),
            ),
        ),
        change=kernel_words("nolapic_timer", _another_timer_ticks),
        proof=line_appears("Disabling APIC timer"),
        removes=APIC_TIMER,
    ),
    Technique(
        name="cmdline_tsc_early_khz",
        text=Text(
            summary="tells the kernel how fast its time stamp counter is",
            mechanism=(
                "A CPU that does not enumerate its frequency is timed against the PIT, in some ticks, with or "
                "without the option (quick_pit_calibrate(), arch/x86/kernel/tsc.c). Where that fails, as "
                "without a PIT, 6.1 and 6.12 time it again against HPET or the ACPI timer, "
                "up to three times and for as much as 50 ms each: that is what the option spares."
            ),
            cost=(
                "a wrong value, on another CPU, makes every clock of the system wrong; a CPU that does "
                "enumerate its frequency is not asked, so that its local APIC timer may have to be measured"
            ),
            risk=Risk.FUNCTION,
            published=(
                Published(
                    "avoids <=50 ms PIT calibration; only without kvmclock",
                    "K612: Linux 6.12.117, arch/x86/kernel/tsc.c",
                ),
            ),
        ),
        change=measured_words(
            "tsc_early_khz=N, with N from the baseline boot's own log",
            _tsc_khz,
            "the baseline boot's log does not say how fast the time stamp counter is",
            _times_it_slowly,
        ),
        proof=any_of(never_runs("pit_hpet_ptimer_calibrate_cpu"), line_vanishes(_SLOW_TIMING)),
        removes=Removes("slow timing of the time stamp counter", functions=("pit_hpet_ptimer_calibrate_cpu",)),
    ),
    Technique(
        name="cmdline_tsc_reliable",
        text=Text(
            summary="trusts the time stamp counter without watching it",
            mechanism=(
                "The kernel otherwise compares the TSC with a second clock source every half second "
                "(clocksource_watchdog(), kernel/time/clocksource.c), checks at the start of each further CPU "
                "that both count alike (check_tsc_sync_source()), and may fall back to a slower clock for "
                "good. 6.1 and 6.12 leave the watching out by themselves on CPUs whose counter is constant, "
                "never stops and can be adjusted."
            ),
            cost="on a machine whose TSC does drift the clock goes wrong silently",
            risk=Risk.FUNCTION,
            published=(none_published(f"{KATA} and {VENTURA_2024} pass the option; no isolated figure read"),),
        ),
        change=kernel_words("tsc=reliable", x86_only),
        proof=never_runs("clocksource_watchdog"),
        removes=Removes("watching of the time stamp counter", functions=("clocksource_watchdog",)),
    ),
)
