"""Every row of the five published accounts is a technique of the catalogue, or says why not."""

import pytest

from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.page.published_car import CAR_2016
from bootlab.techniques.page.published_row import PublishedRow, PublishedTable
from bootlab.techniques.page.published_tables import (
    BOARD_2019,
    DISTRIBUTION_2008,
    FREEBSD_2022,
    MICROVM_2024,
    TABLES,
)

KNOWN = {technique.name for technique in load_catalogue()}
ROWS = [row for table in TABLES for row in table.rows]


@pytest.mark.parametrize("row", ROWS, ids=[row.row for row in ROWS])
def test_a_row_is_a_technique_or_a_reason(row: PublishedRow) -> None:
    assert bool(row.techniques) != bool(row.why), "one of the two, not both"
    assert set(row.techniques) <= KNOWN
    assert row.figure
    assert not row.why.endswith(".")
    assert "|" not in row.row + row.figure + row.why


WORDS = {
    BOARD_2019.name: """
        Thumb-2 uClibc application script unused static initramfs uncompressed tracers serial network USB lpj= SMP
        MODULES quiet PRINTK BUG KALLSYMS EMBEDDED EXPERT THUMB2_KERNEL SLAB SLOB SLUB gzip LZMA XZ LZO LZ4 -Os PROC_FS
        PROC_SYSCTL PROC_PAGE_MONITOR CONFIGFS_FS SYSFS DEBUG_INFO unwinder appended Falcon environment BusyBox tty
        SAMA5D3 faster
    """,
    MICROVM_2024.name: """
        tinyconfig SERIAL_8250_CONSOLE ip= sleep vCPUs SMP rcu_barrier memory MAP_POPULATE 2 favordynmods
    """,
    DISTRIBUTION_2008.name: """
        perceived manager LSB dbus ptys usb-storage initrd floppy daemon modprobe ALSA iptables harddrake dkms readahead
        idle preload prelink defragmentation quiet late hibernation
    """,
    FREEBSD_2022.name: """
        22 TSLOG kernel gptboot cache ahead console BIOS UEFI vm_mem vm_page_array cpu_mp start_aps clocks acpi_timer
        atkbd hpt nvme em acpi_ec VGA root arm64 netif rtsold devd randomdev IPv6 solicitation duplicate first
    """,
    CAR_2016.name: """
        phase bootloader RAM programs PRAMFS drivers init parallel udev DMA picture all CAN suspend snapshot battery
    """,
}


@pytest.mark.parametrize("table", TABLES, ids=[table.name for table in TABLES])
def test_the_tables_hold_what_was_published(table: PublishedTable) -> None:
    # Each change that the account has a figure for; a row may name several words of one.
    rows = " / ".join(row.row for row in table.rows)
    for word in WORDS[table.name].split():
        assert word in rows, word


def test_no_row_stands_twice() -> None:
    both = [name for name in {row.row for row in ROWS} if sum(row.row == name for row in ROWS) > 1]
    assert both == ["SMP"], "the board and the microVM have it"
