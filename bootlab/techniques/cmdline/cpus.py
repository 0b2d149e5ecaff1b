"""How many CPUs the kernel brings up, and how long it waits for all of them."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import kernel_words, word_value
from bootlab.techniques.changes.kernel_options import is_on, known
from bootlab.techniques.changes.machine import has_mmio_devices
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import any_of, fact_falls, if_shown, line_appears, line_vanishes, never_runs
from bootlab.techniques.model.published import KATA, VENTURA_2024, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.subjects import FURTHER_CPUS, ONE_STREAM
from bootlab.techniques.model.technique import Risk, Technique, Text


def _has_several(system: System, measured: Measured) -> str | None:
    return None if system.machine.vcpus > 1 else "the machine has one vCPU"


def _has_an_io_apic(system: System, measured: Measured) -> str | None:
    if (arch := system.machine.arch) != "x86_64":
        return f"only a PC has an I/O APIC, and elsewhere maxcpus=1 does the same; this system is {arch}"
    if has_mmio_devices(system) and system.machine.options.get("acpi") != "off":
        return "with ACPI the disks and network of microvm are wired to pins that only an I/O APIC has"
    return None


def _waits_for_grace_periods(system: System, measured: Measured) -> str | None:
    if word_value(system, "rcupdate.rcu_normal_after_boot") not in (None, "0"):
        return "rcupdate.rcu_normal_after_boot on the command line takes it back before init starts"
    if known(system, measured) and not is_on(system, measured, "TREE_RCU"):
        return "this kernel is for one CPU, where grace periods are over at once (TINY_RCU)"
    if is_on(system, measured, "PREEMPT_RT") and known(system, measured):
        return "a real-time kernel expedites nothing once init runs (PREEMPT_RT)"
    return None


TECHNIQUES = (
    Technique(
        name="cmdline_one_cpu",
        text=Text(
            summary="brings up only the first CPU; the others can be brought online later",
            mechanism=(
                "Each further CPU is woken, waited for, synchronised and given its own threads and timers "
                "before the initcalls of drivers run (smp_init(), kernel/smp.c): on 6.1 one after the "
                "other, on 6.12 x86-64 can wake them together and then goes on one by one. With the option "
                f"that happens only when user space asks for it. {ONE_STREAM}"
            ),
            cost="the other CPUs idle until something writes to /sys/devices/system/cpu/cpu*/online",
            risk=Risk.FUNCTION,
            published=(Published("2.5 ms per vCPU; by its data about 3.6 (results.json, 6.7.3)", VENTURA_2024),),
        ),
        change=kernel_words("maxcpus=1", _has_several),
        proof=fact_falls("cpus_online"),
        removes=FURTHER_CPUS,
    ),
    Technique(
        name="cmdline_nosmp",
        text=Text(
            summary="brings up one CPU only and leaves the I/O APIC alone",
            mechanism=(
                "Other CPUs are not started, and setup_IO_APIC() returns at once "
                "(arch_disable_smp_support(), arch/x86/kernel/smpboot.c): no pin is set up, and whether the "
                "timer's interrupt arrives is not checked. Interrupts of pins go through the legacy "
                "controller; message-signalled ones (MSI) never pass the I/O APIC and go on as before. "
                f"{ONE_STREAM}"
            ),
            cost=(
                "one CPU until the next boot, and 16 interrupt lines: devices without MSI share them, and "
                "one that is wired to a further pin does not work"
            ),
            risk=Risk.FUNCTION,
            published=(
                Published(
                    "SMP to UP in the kernel's configuration: 35.5 -> 9.1 ms (6.7.3, 1 vCPU); not the same change",
                    VENTURA_2024,
                ),
            ),
        ),
        change=kernel_words("nosmp", _has_an_io_apic),
        # check_timer() runs wherever an I/O APIC is set up beside a legacy timer. "SMP disabled" is said only where
        # there is an MP table beside ACPI.
        proof=any_of(
            line_vanishes(r"\.\.TIMER: vector="),
            if_shown(fact_falls("cpus_online")),
            if_shown(line_appears(r"SMP disabled|SMP mode deactivated")),
        ),
        removes=Removes(
            "bringing up of further CPUs and the I/O APIC",
            functions=("smp_init", "setup_IO_APIC", "native_smp_prepare_cpus"),
            # arch/x86/kernel/smpboot.c, APIC_SYMMETRIC_IO_NO_ROUTING: the CPU's own timer is calibrated all the same.
            keeps=("setup_boot_APIC_clock",),
        ),
    ),
    Technique(
        name="cmdline_rcu_expedited",
        text=Text(
            summary="forces RCU grace periods instead of waiting for them once init runs too",
            mechanism=(
                "synchronize_rcu() waits several jiffies until every CPU has passed through a quiescent "
                "state; an expedited grace period interrupts the CPUs instead. Until init starts, 6.1 and "
                "6.12 expedite each by themselves (rcu_expedited_nesting, kernel/rcu/update.c), so that "
                "the kernel's own boot is as long as before. The option goes on with it: user space waits "
                "less for loading and unloading of modules, network devices and control groups. "
                "rcu_normal_after_boot=1 beside it would undo it, and would slow even those that the "
                "kernel asks to be expedited."
            ),
            cost=(
                "each grace period interrupts all CPUs, for as long as the system runs or until 0 is "
                "written to /sys/kernel/rcu_expedited: jitter for real-time work, and power"
            ),
            risk=Risk.FUNCTION,
            published=(
                Published(
                    "38.7 -> 31.8 ms kernel phase in a KVM guest (-18 %); 6.1 and 6.12 have that without the option",
                    "RCU: Linux commit ee42571f4381 (2015)",
                ),
                none_published(f"{KATA} passes the option"),
            ),
        ),
        change=kernel_words("rcupdate.rcu_expedited=1", _waits_for_grace_periods),
        # Only what was not expedited comes here: synchronize_rcu_normal() on 6.12, and on 6.1 __wait_rcu_gp(), which
        # RCU of tasks uses as well.
        proof=any_of(never_runs("synchronize_rcu_normal"), if_shown(never_runs("__wait_rcu_gp"))),
        removes=Removes(
            "waiting for RCU grace periods that are not expedited",
            functions=("synchronize_rcu/__wait_rcu_gp", "synchronize_rcu_normal"),
            shortens=("__synchronize_srcu",),
            replaced=True,
        ),
    ),
)
