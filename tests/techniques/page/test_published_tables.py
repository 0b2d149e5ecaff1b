"""Every row of the two published tables is a technique of the catalogue, or says why not."""

import pytest

from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.page.published_tables import BOARD_2019, MICROVM_2024, TABLES, PublishedRow

KNOWN = {technique.name for technique in load_catalogue()}
ROWS = [row for table in TABLES for row in table.rows]


@pytest.mark.parametrize("row", ROWS, ids=[row.row for row in ROWS])
def test_a_row_is_a_technique_or_a_reason(row: PublishedRow) -> None:
    assert bool(row.techniques) != bool(row.why), "one of the two, not both"
    assert set(row.techniques) <= KNOWN
    assert row.figure
    assert not row.why.endswith(".")
    assert "|" not in row.row + row.figure + row.why


def test_the_tables_hold_what_was_published() -> None:
    # Each change that the talk and the article give a figure for; a row may name several words of one.
    board = " / ".join(row.row for row in BOARD_2019.rows)
    for word in """
        Thumb-2 uClibc application script unused static initramfs uncompressed tracers serial network USB lpj= SMP
        MODULES quiet PRINTK BUG KALLSYMS EMBEDDED EXPERT THUMB2_KERNEL SLAB SLOB SLUB gzip LZMA XZ LZO LZ4 -Os PROC_FS
        PROC_SYSCTL PROC_PAGE_MONITOR CONFIGFS_FS SYSFS DEBUG_INFO unwinder appended Falcon environment BusyBox tty
        SAMA5D3 faster
    """.split():
        assert word in board, word
    microvm = " / ".join(row.row for row in MICROVM_2024.rows)
    for (
        word
    ) in "tinyconfig SERIAL_8250_CONSOLE ip= sleep vCPUs SMP rcu_barrier memory MAP_POPULATE 2 favordynmods".split():
        assert word in microvm, word
    assert len({row.row for row in ROWS}) == len(ROWS) - 1, "SMP is in both, and nothing else twice"
