"""Which memory huge pages may back, and which first touches fault there."""

import numpy as np
import pytest

from bootlab.price.memory import first_of_piece, huge_spans, in_spans

MIB = 1 << 20
GIB = 1 << 30


@pytest.mark.parametrize(
    ("machine", "memory_mib", "spans"),
    [
        ("microvm", 128, [(2 * MIB, 128 * MIB)]),
        ("q35", 2048, [(2 * MIB, 2 * GIB)]),
        ("q35", 2816, [(2 * MIB, 2 * GIB), (4 * GIB, 4 * GIB + 768 * MIB)]),
        ("q35", 2815, [(2 * MIB, 2814 * MIB)]),
        ("pc", 3072, [(2 * MIB, 3 * GIB)]),
        ("pc", 4096, [(2 * MIB, 3 * GIB), (4 * GIB, 5 * GIB)]),
        ("microvm", 17, [(2 * MIB, 16 * MIB)]),
        ("virt", 257, [(GIB, GIB + 256 * MIB)]),
        ("virt", 4096, [(GIB, 5 * GIB)]),
    ],
)
def test_spans(machine: str, memory_mib: int, spans: list[tuple[int, int]]) -> None:
    assert list(huge_spans(machine, memory_mib)) == spans


def test_no_rom_takes_the_first_chunk_of_firecrackers_memory() -> None:
    assert list(huge_spans("microvm", 128, "firecracker")) == [(0, 128 * MIB)]


def test_the_first_page_of_a_chunk_faults_and_each_page_elsewhere() -> None:
    spans = huge_spans("microvm", 128)
    pages = np.array([0x201, 0x200, 0x1FF, 0x1FE, 0x400, 0x201 + 0x200, 0xFFFF0, 0xFFFF1], dtype=np.uint64)
    assert first_of_piece(pages, spans).tolist() == [True, False, True, True, True, False, True, True]
    assert in_spans(pages, spans).tolist() == [True, True, False, False, True, True, False, False]
    assert first_of_piece(pages[:0], spans).tolist() == []
    assert first_of_piece(pages, ()).all()
