"""Build a kernel for one CPU."""

from bootlab.system import System
from bootlab.techniques.build_options import BOOTLIN_2019, VENTURA_2024, off, option_technique
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Measured, Removes, Risk, Source

_ONE_CPU = frozenset({"nosmp", "maxcpus=0", "maxcpus=1"})


def _one_cpu(system: System, measured: Measured) -> str | None:
    vcpus = system.machine.vcpus
    if vcpus == 1 or _ONE_CPU & set(system.kernel.cmdline.split()):
        return None
    return f"the machine has {vcpus} vCPUs, and no word on the command line leaves one of them alone (nosmp)"


TECHNIQUE = option_technique(
    name="kernel_smp_off",
    options=off("SMP"),
    drops=("NR_CPUS", "MAXSMP", "DEFERRED_STRUCT_PAGE_INIT"),
    summary="builds a kernel for one CPU, without locks, per-CPU machinery and the start of others",
    mechanism=(
        "No other CPU is looked for or started, locks compile to nothing, RCU becomes the tiny one whose "
        "grace periods are over at once, and the alternatives for several CPUs need not be patched."
    ),
    cost="a second CPU is never used; a kernel of its own for machines with one",
    risk=Risk.FUNCTION,
    sources=(
        Source("-126 ms of total boot time, -188 KB (-4.6 %) of compressed kernel", BOOTLIN_2019),
        Source("35.5 -> 9.1 ms with other options that follow from it (6.7.3, 1 vCPU, Firecracker)", VENTURA_2024),
    ),
    applies=_one_cpu,
    shows=initcalls_gone("cpu_stop_init"),
    removes=Removes(
        "starting of further CPUs, and waiting for RCU among them",
        functions=(
            "smp_init",
            "native_smp_prepare_cpus",
            "sched_init_smp",
            "cpu_stop_init",
            "synchronize_rcu",
            "synchronize_rcu_expedited",
            "rcu_barrier",
        ),
        # The CPU's own timer is calibrated all the same.
        keeps=("setup_boot_APIC_clock",),
    ),
)
