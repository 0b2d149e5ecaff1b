"""Give the guest half its memory."""

from bootlab.system import System
from bootlab.techniques.evidence import fact_falls
from bootlab.techniques.machine import fixed_by_board
from bootlab.techniques.technique import Layer, Measured, Risk, Source, Technique

LEAST_MIB = 128
"""Below this a distribution's kernel and initramfs have no room to unpack."""


def _applies(system: System, measured: Measured) -> str | None:
    if (reason := fixed_by_board(system)) is not None:
        return reason
    memory_mib = system.machine.memory_mib
    return None if memory_mib // 2 >= LEAST_MIB else f"half of {memory_mib} MiB is too little for a kernel to boot in"


def _apply(system: System, measured: Measured) -> System:
    return system.with_part("machine", memory_mib=system.machine.memory_mib // 2)


TECHNIQUE = Technique(
    name="machine_memory_half",
    layer=Layer.MACHINE,
    summary="gives the guest half its memory",
    mechanism=(
        "The kernel writes a 64-byte structure for every 4 KiB page, builds the direct map, sizes and clears its hash "
        "tables by the amount of memory; on a host the first touch of each page is a fault besides."
    ),
    knob="machine.memory_mib = half of what it was, at least 128",
    cost="less memory for the work; more can be added later only with hotplug",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "2.7-8.7 ms/GiB saved",
            'DV: David Ventura, "Minimizing Linux boot times", 2024, DavidVentura/blog c798a2e, results.json',
        ),
        Source("part of 3 s -> 300 ms", "CL: Phoronix, Clear Linux kernel 3 s to 300 ms"),
    ),
    apply=_apply,
    prove=fact_falls("mem_total_kib", to_percent=75),
    applies=_applies,
)
