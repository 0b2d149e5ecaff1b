"""How much memory the machine has."""

from bootlab.system import System
from bootlab.techniques.changes.machine import fixed_by_board
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import fact_falls
from bootlab.techniques.model.published import CLEAR_LINUX, VENTURA_2024, Published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

LEAST_MIB = 128
"""Below this a distribution's kernel and initramfs have no room to unpack."""


def _can_be_halved(system: System, measured: Measured) -> str | None:
    if (reason := fixed_by_board(system)) is not None:
        return reason
    memory_mib = system.machine.memory_mib
    return None if memory_mib // 2 >= LEAST_MIB else f"half of {memory_mib} MiB is too little for a kernel to boot in"


def _halved(system: System, measured: Measured) -> System:
    return system.with_part("machine", memory_mib=system.machine.memory_mib // 2)


TECHNIQUES = (
    Technique(
        name="machine_memory_half",
        text=Text(
            summary="gives the guest half its memory",
            mechanism=(
                "The kernel writes a 64-byte structure for every 4 KiB page, builds the direct map, sizes "
                "and clears its hash tables by the amount of memory; on a host the first touch of each "
                "page is a fault besides."
            ),
            cost="less memory for the work; more can be added later only with hotplug",
            risk=Risk.FUNCTION,
            published=(
                Published("2.7-8.7 ms/GiB saved", f"{VENTURA_2024}, results.json"),
                Published("part of 3 s -> 300 ms", CLEAR_LINUX),
            ),
        ),
        change=Change(Layer.MACHINE, "machine.memory_mib = half of what it was, at least 128", _halved, _can_be_halved),
        proof=fact_falls("mem_total_kib", to_percent=75),
    ),
)
