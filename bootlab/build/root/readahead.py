"""Puts bootlab-readahead into a root file system: as its init, with a pack, and a unit that says when the boot is done.

The pack keeps its room, whatever is in it: a root that learns and one that reads ahead have all files at one place.
"""

import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from bootlab.build.cache import file_sha256
from bootlab.build.formats.cpio import Entry
from bootlab.build.modules.package import kernel_release
from bootlab.build.root.file_tree import FileTree
from bootlab.build.root.init_units import identify_units, lay_units
from bootlab.build.root.printed import ORIGIN, PATH, PLACES, Learned, Printed
from bootlab.errors import InputError
from bootlab.system import ReadAhead, Rootfs

_ORDERS = rb"(none|block|need)"
PACKS = Printed(
    "readahead",
    "pack",
    rb"f %b|%b|%b|learned \d{1,19}|goal \S{1,127}|order %b|trial %b \d{1,19}"
    % (PATH, PLACES, ORIGIN, _ORDERS, _ORDERS),
)
"""What an earlier boot read."""
_PACK = "etc/bootlab/readahead"
_INIT = "sbin/init"
_REAL_INIT = "sbin/bootlab-readahead.init"
_PROGRAM = "/sbin/bootlab-readahead"
_UNITS = "readahead"
_ROOM = 256 << 10


def lay_readahead(tree: FileTree, wanted: ReadAhead) -> None:
    """Put it into `tree`, which holds the program already. Raises InputError that names the key."""
    init = tree.find(_INIT)
    if init is None:
        raise InputError(
            "rootfs.readahead: the root has no /sbin/init, which bootlab-readahead is started instead of",
            hint="packages with an init (systemd-sysv), bootlab_init = true, or init",
        )
    tree.add(replace(init, path=_REAL_INIT))
    tree.add_link(_INIT, _PROGRAM)
    learned = learned_pack(wanted)
    if learned is not None and len(learned.data) > _ROOM:
        raise InputError(f"{learned.key}: a pack of {len(learned.data)} bytes; there is room for {_ROOM}")
    if learned is not None or wanted.record:
        tree.add_file(_PACK, (PACKS.record if learned is None else learned.data).ljust(_ROOM, b"\0"))
    lay_units(tree, _UNITS, wanted.goal)


def tell_if_in_vain(wanted: ReadAhead, cmdline: str, kernel_tree: Path | None, tell: Callable[[str], None]) -> None:
    """Tell what keeps a guest from reading ahead: an init of the command line's, a pack of another kernel.

    Whether such an init starts the root's own nobody knows. `kernel_tree`: the kernel's package, unpacked.
    """
    inits = [word.removeprefix("init=") for word in cmdline.split() if word.startswith("init=")]
    if inits and inits[-1] not in ("/" + _INIT, _PROGRAM):
        done = "noted" if wanted.record else "read ahead"
        tell(f"rootfs.readahead: kernel.cmdline has init={inits[-1]}: nothing may be {done}, unless it runs /{_INIT}")
    learned = learned_pack(wanted)
    release = kernel_release(kernel_tree) if kernel_tree is not None else None
    if learned is not None and release is not None:
        learned.tell_if_of_another_kernel(release, tell)


def in_boot_order(entries: Sequence[Entry], pack: Learned) -> tuple[Entry, ...]:
    """Return `entries` as an ext4 image takes them: folders, then the files of the pack in its order, then others."""
    files = pack.files
    needed = dict.fromkeys(int(line.split()[1]) for line in pack.data.splitlines() if line.startswith(b"d "))
    place = {files[number]: rank for rank, number in enumerate(needed) if number < len(files)}
    last = len(place)

    def rank(entry: Entry) -> int:
        return -1 if stat.S_ISDIR(entry.mode) else place.get(entry.path, last)

    return tuple(sorted(entries, key=rank))


def layout_of(recipe: Rootfs) -> Learned | None:
    """Return the pack that a root is laid out by; None for none. Raises InputError for what is no pack."""
    if recipe.layout is not None:
        return Learned(PACKS, "rootfs.layout", PACKS.read(recipe.layout, "rootfs.layout"))
    key, text = "rootfs.layout_text", recipe.layout_text.encode(errors="surrogateescape")
    return Learned(PACKS, key, PACKS.expect_whole(text, key)) if text else None


def learned_pack(wanted: ReadAhead) -> Learned | None:
    """Return the pack that a system reads ahead by; None where it has none. Raises InputError for what is no pack."""
    if wanted.pack is not None:
        key = "rootfs.readahead.pack"
        data = PACKS.read(wanted.pack, key)
    elif wanted.text:
        key = "rootfs.readahead.text"
        data = PACKS.expect_whole(wanted.text.encode(errors="surrogateescape"), key)
    else:
        return None
    return Learned(PACKS, key, data if wanted.order is None else _with_order(data, wanted.order))


def identify_readahead(wanted: ReadAhead) -> dict[str, object]:
    """Return what decides what is laid. Raises InputError for a pack that cannot be read."""
    document = wanted.model_dump(mode="json", exclude={"pack"})
    if wanted.pack is not None:
        try:
            document["pack"] = file_sha256(wanted.pack)
        except OSError as error:
            raise InputError(f"rootfs.readahead.pack: {wanted.pack}: {error.strerror}") from error
    document["units"] = identify_units(_UNITS)
    return document


def _with_order(data: bytes, order: str) -> bytes:
    rest = re.sub(rb"(?m)^order \S+$", b"order " + order.encode(), data.partition(b"\n")[2], count=1)
    return PACKS.sealed(rest)
