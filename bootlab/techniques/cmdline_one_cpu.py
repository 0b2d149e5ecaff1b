"""Bring up one of several CPUs."""

from bootlab.system import System
from bootlab.techniques.cmdline import kernel_words
from bootlab.techniques.evidence import fact_falls
from bootlab.techniques.technique import Measured, Removes, Risk, Source


def _has_several(system: System, measured: Measured) -> str | None:
    return None if system.machine.vcpus > 1 else "the machine has one vCPU"


TECHNIQUE = kernel_words(
    name="cmdline_one_cpu",
    words="maxcpus=1",
    summary="brings up only the first CPU; the others can be brought online later",
    mechanism=(
        "Each further CPU is woken with an interrupt, waited for, synchronised and given its own threads and timers "
        "before the first initcall runs. With the option that happens only when user space asks for it."
    ),
    cost="the other CPUs idle until something writes to /sys/devices/system/cpu/cpu*/online",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "about 3.6 ms/vCPU guest",
            'DV: David Ventura, "Minimizing Linux boot times", 2024, DavidVentura/blog c798a2e',
        ),
    ),
    prove=fact_falls("cpus_online"),
    applies=_has_several,
    removes=Removes(
        "bringing up of further CPUs",
        functions=(
            "bringup_nonboot_cpus",
            "cpuhp_bringup_mask",
        ),
    ),
)
