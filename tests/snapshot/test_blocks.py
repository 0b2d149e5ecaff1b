"""Which blocks a machine knew, and whether a changed disk differs in one of these; with real qcow2 files."""

import subprocess
from pathlib import Path

import pytest

from bootlab.snapshot.blocks import BLOCK, ChangedDisk, compare_disks, known_blocks

SIZE = 64 * BLOCK
KNOWN = [(2 * BLOCK, 4 * BLOCK), (10 * BLOCK, 11 * BLOCK)]


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "disk"
    path.write_bytes(bytes(range(1, 65)) * BLOCK)
    return path


def changed(disk: Path, *blocks: int) -> Path:
    other = disk.with_name("other")
    content = bytearray(disk.read_bytes())
    for block in blocks:
        content[(block + 1) * BLOCK - 1] ^= 1
    other.write_bytes(content)
    return other


def test_what_was_read_and_what_was_written_is_known(disk: Path) -> None:
    overlay = disk.with_name("overlay")
    subprocess.run(
        ["qemu-img", "create", "-q", "-f", "qcow2", "-o", f"cluster_size={BLOCK}", overlay, str(SIZE)], check=True
    )
    below = f"driver=qcow2,file.driver=file,file.filename={overlay},backing.driver=raw,"
    below += f"backing.file.driver=file,backing.file.filename={disk}"
    # As QEMU's -drive copy-on-read=on does it: a filter above the overlay.
    words = ["qemu-io", "-C", "--image-opts", below]
    for command in (
        f"read {2 * BLOCK} {BLOCK + 1}",
        f"write -P 7 {10 * BLOCK + 512} 512",
        f"write -z {20 * BLOCK} {BLOCK}",
    ):
        subprocess.run([*words, "-c", command], check=True, capture_output=True)
    assert known_blocks(overlay) == [*KNOWN, (20 * BLOCK, 21 * BLOCK)]


def test_a_disk_may_differ_where_nobody_looked(disk: Path) -> None:
    assert compare_disks(disk, changed(disk), KNOWN) == ChangedDisk(0, 0, None)
    assert compare_disks(disk, changed(disk, 0, 1, 4, 9, 11, 63), KNOWN) == ChangedDisk(6, 0, None)


def test_and_nowhere_else(disk: Path) -> None:
    assert compare_disks(disk, changed(disk, 1, 3, 10), KNOWN) == ChangedDisk(3, 2, 3 * BLOCK)
    assert compare_disks(disk, changed(disk, 2), KNOWN) == ChangedDisk(1, 1, 2 * BLOCK)
    assert compare_disks(disk, changed(disk, 63), [(0, SIZE)]) == ChangedDisk(1, 1, 63 * BLOCK)
