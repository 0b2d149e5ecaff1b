"""Which of a machine's physical memory the host's huge pages may back: chunks of 2 MiB that lie in one slot of KVM.

A slot is what the VMM tells KVM as one piece. On a PC the first 2 MiB hold ROMs and holes, and a ROM lies below 4 GiB;
what is between is one slot, and what is above 4 GiB is another (QEMU, hw/i386/pc_q35.c, pc_piix.c and microvm.c). An
arm64 virt has all of it in one slot from 1 GiB on (hw/arm/virt.c).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

CHUNK_BITS: Final = 21
PAGE_BITS: Final = 12
_CHUNK: Final = 1 << CHUNK_BITS
_HIGH: Final = 1 << 32
_VIRT: Final = 1 << 30

Span = tuple[int, int]
"""First address, and the one behind the last."""


def huge_spans(machine: str, memory_mib: int, shape: str | None = None) -> tuple[Span, ...]:
    """Return the parts of a machine's memory that huge pages may back; `machine`: q35, pc, microvm or virt.

    `shape`: of Firecracker's memory no ROM takes the first 2 MiB out (its arch/x86_64, arch_memory_regions).
    """
    memory = memory_mib << 20
    if machine == "virt":
        return ((_VIRT, (_VIRT + memory) & -_CHUNK),)
    if machine == "pc":
        low = memory if memory < 0xE0000000 else 0xC0000000
    else:
        low = memory if memory < 0xB0000000 else 0x80000000
    spans = [(_CHUNK if shape is None else 0, low), (_HIGH, _HIGH + memory - low)]
    return tuple((start, end & -_CHUNK) for start, end in spans if end & -_CHUNK > start)


def first_of_piece(pages: NDArray[np.uint64], spans: tuple[Span, ...]) -> NDArray[np.bool_]:
    """Return for each page, in the order of their first touches, whether it faults where huge pages back the memory.

    In a chunk of `spans` only the first page does; elsewhere each one does.
    """
    faults = np.ones(len(pages), dtype=np.bool_)
    huge = in_spans(pages, spans)
    _, first = np.unique(pages[huge] >> np.uint64(CHUNK_BITS - PAGE_BITS), return_index=True)
    is_first = np.zeros(int(huge.sum()), dtype=np.bool_)
    is_first[first] = True
    faults[huge] = is_first
    return faults


def in_spans(pages: NDArray[np.uint64], spans: tuple[Span, ...]) -> NDArray[np.bool_]:
    """Return for each page whether huge pages may back it."""
    huge = np.zeros(len(pages), dtype=np.bool_)
    for low, high in spans:
        huge |= (pages >= low >> PAGE_BITS) & (pages < high >> PAGE_BITS)
    return huge
