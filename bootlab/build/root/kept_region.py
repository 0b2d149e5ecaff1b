"""A root in kept RAM as it lies there: image, dm-verity tree, header; made here as the guest makes it, and spoilt.

    image                 whole blocks of 4 KiB, padded with zeros: the root, or some of its files (kept_ram.without)
    dm-verity tree        sha256, the top level first; the disk has both, one behind the other, to be copied: of some of
                          the files behind the whole root
    header                in the last block of the region (guest/kept/header.h)

The root hash of the tree is the generation of the image: the initramfs names the one that it takes (guest/kept/plan.h).
"""

import hashlib
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.formats.sparse import copy_sparse
from bootlab.errors import InputError, StoreError
from bootlab.system import Fault, Rootfs

PLAN: Final = "/etc/bootlab/kept"
"""Where an initramfs has what it must know."""
DISK, PLAN_FILE = "disk", "plan"
_BLOCK: Final = 4096
_SALT: Final = bytes.fromhex("b0071ab0" * 8)
"""Any does: it is there so that trees of other systems do not fit, and here all are to repeat."""
_FOUND_IN_FILE: Final = 256
"""So many bytes of a file are looked for in an image; a file system may lay the rest elsewhere."""
_HEADER: Final = re.compile(
    rb"(bootlab-kept-header 1\nstate ([a-z]{1,15})\nroot ([0-9a-f]{64})\nbytes (\d+)\n)crc ([0-9a-f]{8})\n\0*"
)


@dataclass(frozen=True, slots=True)
class KeptRoot:
    """A root that is to be kept in RAM. `disk`: its copy on disk, image and tree; `plan`: for the initramfs."""

    disk: Path
    plan: Path


@dataclass(frozen=True, slots=True)
class RegionHeader:
    """What the header of a region says; `root`: the generation."""

    state: str
    root: str
    bytes: int


def make_kept_root(
    cache: Cache, image: Path, recipe: Rootfs, *, whole: Path | None = None, store: str | None = None
) -> KeptRoot:
    """Return what a root in kept RAM is made of, from the cache when it was made before.

    `image`: what is kept; `whole`: the root, where that is not all of it; `store`: the device that has its changes,
    where it has some. Raises InputError for what does not fit into
    its region.
    """
    kept = recipe.kept_ram
    assert kept is not None  # the system's own check
    # A tree over a single block would have no level.
    size = max(2, -(-image.stat().st_size // _BLOCK)) * _BLOCK
    copied_from = 0 if whole is None else -(-whole.stat().st_size // _BLOCK) * _BLOCK
    needed = size + sum(-(-count * 32 // _BLOCK) for count in _levels(size // _BLOCK)) * _BLOCK
    if needed > kept.size - _BLOCK:
        raise InputError(
            f"rootfs.kept_ram.size_mib: {kept.size_mib} MiB do not hold this root: image, tree and header take "
            f"{(needed + _BLOCK) / (1 << 20):.2f} MiB",
            hint='filesystem = "erofs" or "squashfs" with a compression takes less, without what a start does not need',
        )

    def write(out: Path) -> None:
        out.mkdir()
        data = image.read_bytes()
        data += bytes(size - len(data))
        root, tree = _verity_tree(data)
        assert size + len(tree) == needed
        before = b"" if whole is None else whole.read_bytes().ljust(copied_from, b"\0")
        (out / DISK).write_bytes(before + data + tree)
        plan = (
            f"bootlab-kept 1\nregion {kept.start} {kept.size}\nimage {size}\nbytes {needed}\n"
            f"copied_from {copied_from}\nfilesystem {recipe.filesystem.value}\nverify {kept.verify}\n"
            f"dax {int(kept.dax)}\nchanges {(kept.changes_mib or 0) << 20}\nstore {store or '-'}\n"
            f"root {root.hex()}\nsalt {_SALT.hex()}\n"
        )
        (out / PLAN_FILE).write_text(plan, encoding="ascii")

    under = "" if whole is None else f" over {file_sha256(whole)}"
    key = f"4 {file_sha256(image)}{under} {store} {recipe.filesystem.value} {kept.model_dump_json()}"
    made = cache.make("kept-root", key, write)
    return KeptRoot(made / DISK, made / PLAN_FILE)


def header_block(header: RegionHeader) -> bytes:
    """Return the block that says this."""
    text = f"bootlab-kept-header 1\nstate {header.state}\nroot {header.root}\nbytes {header.bytes}\n".encode()
    return (text + b"crc %08x\n" % zlib.crc32(text)).ljust(_BLOCK, b"\0")


def read_header(block: bytes) -> RegionHeader | None:
    """Return what a block says; None for one that is no header, or damaged."""
    found = _HEADER.fullmatch(block)
    if found is None or int(found[5], 16) != zlib.crc32(found[1]):
        return None
    return RegionHeader(found[2].decode(), found[3].decode(), int(found[4]))


def copy_kept_memory(left: Path, out: Path, region: range | None) -> None:
    """Write what a power-on finds of the memory that a boot before has left: all, or a region of it and else zeros.

    `region`: its bytes, from the memory's first on.
    """
    with left.open("rb") as source, out.open("wb") as target:
        target.truncate(left.stat().st_size)
        if region is None:
            copy_sparse(source, target, 0)
            return
        source.seek(region.start)
        for at in range(region.start, region.stop, _BLOCK):
            if (block := source.read(_BLOCK)).strip(b"\0"):
                target.seek(at)
                target.write(block)


def spoil(memory: Path, region: range, fault: Fault, content: bytes) -> None:
    """Do to a region in a machine's memory what the fault does; `content`: of the file that is spoilt.

    Faults of the boot before have left their traces already. Raises InputError for content that
    is not there as it is, or elsewhere, too; StoreError for a region without a header.
    """
    header_at = region.stop - _BLOCK
    with memory.open("r+b") as file:
        if fault is Fault.RAM_LOST:
            _write(file, region.start, bytes(len(region)))
        elif fault is Fault.HEADER_BIT:
            _turn_bit(file, header_at + len("bootlab-kept-header 1\nstate "))
        elif fault is Fault.FILE_BIT:
            file.seek(region.start)
            found = _place_of(content, file.read(len(region)))
            _turn_bit(file, region.start + found)
        elif fault is Fault.IMAGE_BIT:
            _turn_bit(file, region.start + _header_at(file, header_at).bytes // 2)
        elif fault is Fault.OLD_IMAGE:
            header = _header_at(file, header_at)
            older = hashlib.sha256(header.root.encode()).hexdigest()
            _write(file, header_at, header_block(RegionHeader(header.state, older, header.bytes)))


def _header_at(file: IO[bytes], at: int) -> RegionHeader:
    file.seek(at)
    if (header := read_header(file.read(_BLOCK))) is None:
        raise StoreError(
            "power_on: what the boot before has left in memory has no whole header any more",
            hint="the folder `left` of bootlab's cache may go: what is in it is made again",
        )
    return header


def _place_of(content: bytes, data: bytes) -> int:
    """Return where a file lies in an image, by what it begins with."""
    head = content[:_FOUND_IN_FILE]
    found = other = data.find(head) if head else -1
    if found < 0:
        raise InputError(
            "power_on.fault_file: its bytes are not in the image as they are: the file is empty, or packed",
            hint='rootfs.compression = "none"',
        )
    while (other := data.find(head, other + 1)) >= 0:
        # A file may have the same words again and again.
        if content[other - found :][: len(head)] != head:
            raise InputError(
                f"power_on.fault_file: the {len(head)} bytes that it begins with are in the image more than once: "
                "which of them are the file's is not known",
                hint="name a file that begins with bytes of its own",
            )
    return found


def _turn_bit(file: IO[bytes], at: int) -> None:
    file.seek(at)
    (byte,) = file.read(1)
    _write(file, at, bytes([byte ^ 1]))


def _write(file: IO[bytes], at: int, data: bytes) -> None:
    file.seek(at)
    file.write(data)


def _levels(blocks: int) -> Iterable[int]:
    """Yield how many hashes each level of a tree has, the lowest first; a level of one block is the last."""
    while True:
        yield blocks
        blocks = -(-blocks * 32 // _BLOCK)
        if blocks == 1:
            return


def _verity_tree(data: bytes) -> tuple[bytes, bytes]:
    """Return the root hash and the tree of an image, as dm-verity version 1 has it (linux, verity.rst)."""
    levels: list[bytes] = []
    below = data
    while True:
        hashes = b"".join(_hash(below[at : at + _BLOCK]) for at in range(0, len(below), _BLOCK))
        below = hashes.ljust(-(-len(hashes) // _BLOCK) * _BLOCK, b"\0")
        levels.insert(0, below)
        if len(below) == _BLOCK:
            return _hash(below), b"".join(levels)


def _hash(block: bytes) -> bytes:
    return hashlib.sha256(_SALT + block).digest()
