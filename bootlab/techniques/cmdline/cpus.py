"""How many CPUs the kernel brings up, and how long it waits for all of them."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import kernel_words, x86_only
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import fact_falls, fact_is, line_appears
from bootlab.techniques.model.published import KATA, VENTURA_2024, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.subjects import FURTHER_CPUS
from bootlab.techniques.model.technique import Risk, Technique, Text


def _has_several(system: System, measured: Measured) -> str | None:
    return None if system.machine.vcpus > 1 else "the machine has one vCPU"


TECHNIQUES = (
    Technique(
        name="cmdline_one_cpu",
        text=Text(
            summary="brings up only the first CPU; the others can be brought online later",
            mechanism=(
                "Each further CPU is woken with an interrupt, waited for, synchronised and given its own "
                "threads and timers before the first initcall runs. With the option that happens only when "
                "user space asks for it."
            ),
            cost="the other CPUs idle until something writes to /sys/devices/system/cpu/cpu*/online",
            risk=Risk.FUNCTION,
            published=(Published("about 3.6 ms/vCPU guest", VENTURA_2024),),
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
                "Other CPUs are not started and smp_prepare_cpus() goes its short way; interrupts go "
                "through the legacy controller, so the I/O APIC is neither set up nor tested."
            ),
            cost="one CPU, 16 interrupt lines, no MSI routing through the I/O APIC",
            risk=Risk.FUNCTION,
            published=(
                Published(
                    "SMP to UP in the kernel's configuration: 35.5 -> 9.1 ms (6.7.3, 1 vCPU); not the same change",
                    VENTURA_2024,
                ),
            ),
        ),
        change=kernel_words("nosmp", x86_only),
        proof=line_appears(r"SMP disabled|SMP mode deactivated"),
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
            summary="forces RCU grace periods instead of waiting for them, until init starts",
            mechanism=(
                "synchronize_rcu() normally waits several jiffies for every CPU to pass through a "
                "quiescent state; an expedited grace period interrupts the CPUs instead. Boot unregisters "
                "and replaces many RCU-protected things one after the other."
            ),
            cost="interrupts to all CPUs during boot; normal again afterwards",
            risk=Risk.NONE,
            published=(
                Published(
                    "38.7 -> 31.8 ms kernel phase in a KVM guest (-18 %)", "RCU: Linux commit ee42571f4381 (2015)"
                ),
                none_published(f"{KATA} passes the option"),
            ),
        ),
        change=kernel_words("rcupdate.rcu_expedited=1 rcupdate.rcu_normal_after_boot=1"),
        proof=fact_is("rcu_expedited", "^1"),
        removes=Removes(
            "waiting for RCU grace periods",
            functions=("synchronize_rcu", "synchronize_rcu_normal", "__wait_rcu_gp", "__synchronize_srcu"),
        ),
    ),
)
