"""Give the guest a second virtual CPU."""

from bootlab.system import System
from bootlab.techniques.evidence import fact_rises
from bootlab.techniques.machine import fixed_by_board, with_machine
from bootlab.techniques.technique import Layer, Measured, Risk, Source, Technique


def _applies(system: System, measured: Measured) -> str | None:
    if (reason := fixed_by_board(system)) is not None:
        return reason
    return None if system.machine.vcpus == 1 else f"the machine has {system.machine.vcpus} vCPUs already"


TECHNIQUE = Technique(
    name="machine_two_vcpus",
    layer=Layer.MACHINE,
    summary="gives the guest a second virtual CPU, to unpack and self-test beside the initcalls",
    mechanism=(
        "The initramfs is unpacked, ciphers are self-tested and trace events translated in worker threads; a second "
        "CPU can run them while the first goes on with the initcalls. On the virtual clock all CPUs share one stream "
        "of instructions: what is saved by working in parallel does not show there, what it costs does."
    ),
    knob="machine.vcpus = 2",
    cost="a second host CPU while the guest boots; bringing it up takes time of its own",
    risk=Risk.NONE,
    sources=(
        Source(
            "about 3.6 ms lost per extra vCPU (6.7.3); no figure for what is gained",
            'DV: David Ventura, "Minimizing Linux boot times", 2024, DavidVentura/blog c798a2e, results.json',
        ),
    ),
    apply=with_machine(vcpus=2),
    prove=fact_rises("cpus_online"),
    applies=_applies,
)
