"""How much memory the machine has."""

from bootlab.extensions.host_models import find_host_models
from bootlab.price.host_model import read_host_model
from bootlab.system import PageSize, System
from bootlab.techniques.changes.machine import fixed_by_board, with_machine
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import exits_fall, fact_falls
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


def _is_charged_for_pages(system: System, measured: Measured) -> str | None:
    if system.clock.host_model is None:
        return "no host model is charged to the clock, and nothing else shows the host's pages: --price MODEL"
    model = read_host_model(system.clock.host_model, find_host_models(system.extensions))
    if model.backed_by(system.machine.page_size.value) == PageSize.HUGE:
        return "huge pages back the memory already"
    return None


TECHNIQUES = (
    Technique(
        name="machine_huge_pages",
        text=Text(
            summary="backs the guest's memory with pages of 2 MiB on the host",
            mechanism=(
                "Each page that a guest touches first is a fault of the nested page table, in which the host finds "
                "memory and clears it; with huge pages there is one for 512 pages. It shows only in a price under a "
                "host model, or on the wall clock of a host with KVM."
            ),
            cost="the host must have huge pages to give, and gives the whole chunk for one page that is touched",
            risk=Risk.NONE,
            published=(Published("9.1 -> 5.94 ms; by its data 25.1 -> 11.1 at 2 GiB (results.json)", VENTURA_2024),),
        ),
        change=Change(
            Layer.MACHINE, 'machine.page_size = "2M"', with_machine(page_size=PageSize.HUGE), _is_charged_for_pages
        ),
        proof=exits_fall("fault_4K"),
    ),
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
