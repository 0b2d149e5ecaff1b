"""Give the guest one virtual CPU."""

from bootlab.system import System
from bootlab.techniques.evidence import fact_falls
from bootlab.techniques.machine import fixed_by_board, with_machine
from bootlab.techniques.technique import Layer, Measured, Removes, Risk, Source, Technique


def _applies(system: System, measured: Measured) -> str | None:
    return fixed_by_board(system) or (None if system.machine.vcpus > 1 else "the machine has one vCPU already")


TECHNIQUE = Technique(
    name="machine_one_vcpu",
    layer=Layer.MACHINE,
    summary="gives the guest one virtual CPU",
    mechanism=(
        "Further CPUs are started one after the other: woken, waited for, synchronised, each with its own per-CPU "
        "memory, idle task, timers and worker threads. With one CPU the kernel also patches its locks out."
    ),
    knob="machine.vcpus = 1",
    cost="no parallel work in the guest until a CPU is added, if hotplug is possible at all",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "about 3.6 ms per extra vCPU (6.7.3)",
            'DV: David Ventura, "Minimizing Linux boot times", 2024, DavidVentura/blog c798a2e, results.json',
        ),
    ),
    apply=with_machine(vcpus=1),
    prove=fact_falls("cpus_online"),
    applies=_applies,
    removes=Removes(
        "bringing up of further CPUs",
        functions=(
            "bringup_nonboot_cpus",
            "cpuhp_bringup_mask",
        ),
    ),
)
