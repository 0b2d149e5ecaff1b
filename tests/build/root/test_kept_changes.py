"""What was written over a root in kept RAM as it lies on its disk: its headers, and what a fault does to them."""

import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from bootlab.build.root.kept_changes import SlotHeader, read_slot, read_slots, slot_block, spoil_changes
from bootlab.errors import InputError
from bootlab.process import run
from bootlab.system import Fault

HEADER = SlotHeader(3, "ab" * 32, 5000, zlib.crc32(bytes(5000)))
BYTES = 1 << 20
SECOND = 4096 + 127 * 4096


def test_a_header_is_read_as_it_was_written_and_not_when_any_bit_has_turned() -> None:
    block = bytearray(slot_block(HEADER))
    assert read_slot(bytes(block)) == HEADER and not block[512:].strip(b"\0"), "one sector: no cut leaves half of it"
    for bit in range(8 * len(block.rstrip(b"\0"))):
        block[bit // 8] ^= 1 << bit % 8
        assert read_slot(bytes(block)) is None
        block[bit // 8] ^= 1 << bit % 8


@pytest.mark.skipif(shutil.which("qemu-img") is None, reason="needs qemu-utils")
def test_the_guest_reads_the_slots_that_are_written_here(tmp_path: Path) -> None:
    guest = Path(__file__).parents[3] / "guest"
    (tmp_path / "store").write_bytes(spoilt(tmp_path, disk(), Fault.CHANGES_HUNG))
    (tmp_path / "read.c").write_text(
        '#include "kept/store.h"\n#include <stdio.h>\n'
        "int main(int n, char **words) { struct store s; if (n != 2 || store_open(words[1], &s)) return 1; "
        "for (int i = 0; i < SLOTS; i++) "
        'printf("%d %d %s %d %x %s\\n", s.slots[i].status, (int)s.slots[i].generation, s.slots[i].root, '
        "(int)s.slots[i].bytes, s.slots[i].sum, store_trial(&s, i)); return 0; }\n"
    )
    sources = [guest / "kept/store.c", guest / "kept/header.c"]
    words = ["cc", "-D_GNU_SOURCE", f"-I{guest}", "-o", tmp_path / "read", tmp_path / "read.c", *sources]
    subprocess.run(words, check=True)
    done = subprocess.run([tmp_path / "read", tmp_path / "store"], capture_output=True, text=True, check=True)
    told = [f"0 {one} {HEADER.root} 5000 {HEADER.sum:x} {trial}" for one, trial in ((3, "none"), (4, "try3"))]
    assert done.stdout.splitlines() == told


def disk() -> bytes:
    """Return a disk with two generations, of which the second is the newer one."""
    data = bytearray(BYTES)
    data[4096:8192] = slot_block(HEADER)
    data[SECOND : SECOND + 4096] = slot_block(SlotHeader(4, HEADER.root, 5000, HEADER.sum))
    return bytes(data)


def spoilt(folder: Path, data: bytes, fault: Fault) -> bytes:
    (folder / "below").write_bytes(bytes(BYTES))
    (folder / "raw").write_bytes(data)
    run(["qemu-img", "convert", "-O", "qcow2", "-S", "0", folder / "raw", folder / "over.qcow2"])
    spoil_changes(folder / "over.qcow2", folder / "below", fault)
    run(["qemu-img", "convert", "-O", "raw", folder / "over.qcow2", folder / "raw"])
    return (folder / "raw").read_bytes()


@pytest.mark.skipif(shutil.which("qemu-img") is None, reason="needs qemu-utils")
def test_each_fault_changes_what_it_says(tmp_path: Path) -> None:
    turned = bytearray(spoilt(tmp_path, disk(), Fault.CHANGES_BIT))
    turned[SECOND + 4096 + 2500] ^= 1
    assert turned == disk(), "one bit, in the middle of the newest, and nothing else"
    (tmp_path / "old").write_bytes(spoilt(tmp_path, disk(), Fault.OLD_IMAGE))
    with (tmp_path / "old").open("rb") as file:
        slots = read_slots(file, BYTES)
    assert [one.generation for one in slots.values()] == [3, 4] and HEADER.root not in {x.root for x in slots.values()}
    assert spoilt(tmp_path, disk(), Fault.HEADER_BIT) == disk(), "that one is of the RAM"
    with pytest.raises(InputError, match="the boot before has written no changes"):
        spoilt(tmp_path, bytes(BYTES), Fault.CHANGES_BIT)
