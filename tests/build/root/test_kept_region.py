"""A root in kept RAM as it lies there: its tree and header, and what a fault does to it."""

import hashlib
import subprocess
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.root.kept_region import (
    RegionHeader,
    copy_kept_memory,
    header_block,
    make_kept_root,
    read_header,
    spoil,
)
from bootlab.errors import InputError, StoreError
from bootlab.system import Fault, KeptRam, Rootfs

REGION = KeptRam(size_mib=2, at_mib=96)
SPAN = range(REGION.start, REGION.start + REGION.size)
HEADER = RegionHeader("valid", "ab" * 32, 8192)
MEMORY = 100 << 20


def recipe(folder: Path, region: KeptRam = REGION) -> Rootfs:
    return Rootfs(path=folder / "image", device="kept-ram", kept_ram=region)


def image(folder: Path, blocks: int) -> Path:
    path = folder / "image"
    path.write_bytes(b"".join(hashlib.sha256(b"%d" % number).digest() * 128 for number in range(blocks)))
    return path


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = tmp_path / "memory"
    with path.open("wb") as file:
        file.truncate(MEMORY)
        file.seek(REGION.start + 4096)
        file.write(b"a file of the root")
        file.seek(REGION.start + REGION.size - 4096)
        file.write(header_block(HEADER))
        file.seek(1 << 20)
        file.write(b"elsewhere")
    return path


def header_of(memory: Path) -> RegionHeader | None:
    with memory.open("rb") as file:
        file.seek(REGION.start + REGION.size - 4096)
        return read_header(file.read(4096))


@pytest.mark.parametrize("blocks", [2, 127, 128, 129, 300])
def test_the_tree_has_every_level_that_the_kernel_expects(tmp_path: Path, blocks: int) -> None:
    kept = make_kept_root(Cache(tmp_path / "cache"), image(tmp_path, blocks), recipe(tmp_path))
    plan = dict(line.split(" ", 1) for line in kept.plan.read_text().splitlines())
    data = kept.disk.read_bytes()
    assert int(plan["image"]) == blocks * 4096 and int(plan["bytes"]) == len(data)
    tree, salt = data[blocks * 4096 :], bytes.fromhex(plan["salt"])
    # The first block of a tree is its top, whose hash is the root.
    assert hashlib.sha256(salt + tree[:4096]).hexdigest() == plan["root"]
    lowest = tree[4096:] if blocks > 128 else tree
    for number in (0, blocks - 1):
        block = data[number * 4096 : (number + 1) * 4096]
        assert lowest[number * 32 : number * 32 + 32] == hashlib.sha256(salt + block).digest()


def test_some_of_the_files_lie_behind_the_whole_root(tmp_path: Path) -> None:
    """The disk is mounted as it is, and of what is behind that root the region is a copy."""
    whole = tmp_path / "whole"
    whole.write_bytes(b"all of it" * 1000)
    cache, some = Cache(tmp_path / "cache"), image(tmp_path, 3)
    alone, kept = (make_kept_root(cache, some, recipe(tmp_path), whole=other) for other in (None, whole))
    plans = [dict(line.split(" ", 1) for line in one.plan.read_text().splitlines()) for one in (alone, kept)]
    assert plans[0] == plans[1] | {"copied_from": "0"} and plans[1]["copied_from"] == "12288"
    assert kept.disk.read_bytes() == whole.read_bytes().ljust(12288, b"\0") + alone.disk.read_bytes()


def test_the_plan_says_whether_files_are_mapped_and_where_changes_go(tmp_path: Path) -> None:
    cache, some = Cache(tmp_path / "cache"), image(tmp_path, 3)
    mapped = KeptRam(size_mib=2, at_mib=96, verify="all", dax=True)
    plans = [make_kept_root(cache, some, recipe(tmp_path, one)).plan.read_text() for one in (REGION, mapped)]
    assert all("\nchanges 0\nstore -\n" in plan for plan in plans)
    changed = KeptRam(size_mib=2, at_mib=96, changes_mib=4)
    plan = make_kept_root(cache, some, recipe(tmp_path, changed), store="/dev/vdb").plan.read_text()
    assert "\nchanges 4194304\nstore /dev/vdb\n" in plan
    assert "\ndax 0\n" in plans[0] and "\ndax 1\n" in plans[1]


def test_a_root_that_is_larger_than_its_region_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"rootfs.kept_ram.size_mib: 2 MiB do not hold this root.* 2\.03 MiB"):
        make_kept_root(Cache(tmp_path / "cache"), image(tmp_path, 513), recipe(tmp_path))


def test_a_header_is_read_as_it_was_written_and_not_when_any_bit_has_turned() -> None:
    block = bytearray(header_block(HEADER))
    assert read_header(bytes(block)) == HEADER
    for bit in range(8 * len(block.rstrip(b"\0"))):
        block[bit // 8] ^= 1 << bit % 8
        assert read_header(bytes(block)) is None
        block[bit // 8] ^= 1 << bit % 8
    assert read_header(bytes(4096)) is None and read_header(b"") is None


def test_the_guest_reads_the_header_that_is_written_here(tmp_path: Path) -> None:
    guest = Path(__file__).parents[3] / "guest"
    (tmp_path / "block").write_bytes(header_block(HEADER))
    (tmp_path / "read.c").write_text(
        '#include "kept/header.h"\n#include <stdio.h>\n#include <unistd.h>\n'
        "int main(void) { char block[HEADER_SIZE]; struct header h; "
        "if (read(0, block, sizeof block) != sizeof block || header_read(block, &h)) return 1; "
        'printf("%s %s %d", h.state, h.root, (int)h.bytes); return 0; }\n'
    )
    words = ["cc", f"-I{guest}", "-o", tmp_path / "read", tmp_path / "read.c", guest / "kept/header.c"]
    subprocess.run(words, check=True)
    with (tmp_path / "block").open("rb") as block:
        done = subprocess.run([tmp_path / "read"], stdin=block, capture_output=True, text=True, check=True)
    assert done.stdout == f"valid {HEADER.root} 8192"


def test_self_refresh_keeps_the_region_alone_and_a_reset_keeps_all(tmp_path: Path, memory: Path) -> None:
    copy_kept_memory(memory, tmp_path / "region", SPAN)
    copy_kept_memory(memory, tmp_path / "all", None)
    assert (tmp_path / "all").read_bytes() == memory.read_bytes()
    kept = (tmp_path / "region").read_bytes()
    assert len(kept) == MEMORY and b"elsewhere" not in kept and b"a file of the root" in kept
    assert header_of(tmp_path / "region") == HEADER


def test_each_fault_changes_what_it_says(memory: Path) -> None:
    before = memory.read_bytes()
    spoil(memory, SPAN, Fault.FILE_BIT, b"a file of")
    after = bytearray(memory.read_bytes())
    after[REGION.start + 4096] ^= 1
    assert after == before, "one bit, and nothing else"
    spoil(memory, SPAN, Fault.IMAGE_BIT, b"")
    assert memory.read_bytes() == before, "the middle of what the header tells of is that very bit"
    spoil(memory, SPAN, Fault.OLD_IMAGE, b"")
    assert (old := header_of(memory)) is not None and old.state == "valid" and old.root != HEADER.root
    spoil(memory, SPAN, Fault.HEADER_BIT, b"")
    assert header_of(memory) is None
    spoil(memory, SPAN, Fault.RAM_LOST, b"")
    assert not memory.read_bytes()[REGION.start : REGION.start + REGION.size].strip(b"\0")


def test_a_region_that_has_lost_its_header_cannot_be_spoilt_and_the_reason_is_told(memory: Path) -> None:
    spoil(memory, SPAN, Fault.RAM_LOST, b"")
    for fault in (Fault.OLD_IMAGE, Fault.IMAGE_BIT):
        with pytest.raises(StoreError, match="has no whole header any more"):
            spoil(memory, SPAN, fault, b"")


def test_a_file_that_is_packed_cannot_be_spoilt(memory: Path) -> None:
    for content in (b"not there", b""):
        with pytest.raises(InputError, match="power_on.fault_file"):
            spoil(memory, SPAN, Fault.FILE_BIT, content)


def test_a_file_that_begins_like_another_is_not_taken_for_it(memory: Path) -> None:
    with memory.open("r+b") as file:
        file.seek(REGION.start + 8192)
        file.write(b"another, a file of the root too")
    before = memory.read_bytes()
    with pytest.raises(InputError, match="power_on.fault_file: the 9 bytes .* more than once"):
        spoil(memory, SPAN, Fault.FILE_BIT, b"a file of")
    assert memory.read_bytes() == before
    with memory.open("r+b") as file:
        file.seek(REGION.start + 16384)
        file.write(b"again " * 1000)
    spoil(memory, SPAN, Fault.FILE_BIT, b"again " * 1000)
    assert memory.read_bytes()[REGION.start + 16384] == b"a"[0] ^ 1
