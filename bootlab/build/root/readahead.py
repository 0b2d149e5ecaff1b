"""Puts bootlab-readahead into a root file system: as its init, with a pack, and a unit that says when the boot is done.

The pack keeps its room, whatever is in it: a root that learns and one that reads ahead have all files at one place.
"""

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import replace

from bootlab.build.cache import file_sha256
from bootlab.build.formats.cpio import Entry
from bootlab.build.root.file_tree import FileTree
from bootlab.build.root.init_units import identify_units, lay_units
from bootlab.build.root.printed import Printed
from bootlab.errors import InputError
from bootlab.system import ReadAhead, Rootfs

PACKS = Printed("readahead", "pack")
"""What an earlier boot read."""
_PACK = "etc/bootlab/readahead"
_INIT = "sbin/init"
_REAL_INIT = "sbin/bootlab-readahead.init"
_PROGRAM = "/sbin/bootlab-readahead"
_UNITS = "readahead"
_ROOM = 256 << 10
_SIGNLESS = (1 << 63) - 1
"""What the guest keeps of an identity: no sign (root_identity in guest/readahead/machine.c)."""


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
    pack = PACKS.record if wanted.record else _pack(wanted)
    if pack:
        if len(pack) > _ROOM:
            raise InputError(f"rootfs.readahead: a pack of {len(pack)} bytes; there is room for {_ROOM}")
        tree.add_file(_PACK, pack.ljust(_ROOM, b"\0"))
    lay_units(tree, _UNITS, wanted.goal)


def in_boot_order(entries: Sequence[Entry], recipe: Rootfs) -> tuple[Entry, ...]:
    """Return `entries` as an ext4 image is to take them: folders, then the files of the pack in its order, then others.

    Raises InputError for what is no pack.
    """
    data = _laid_by(recipe)
    files = [line[2:] for line in data.splitlines() if line.startswith(b"f ")]
    needed = dict.fromkeys(int(line.split()[1]) for line in data.splitlines() if line.startswith(b"d "))
    place = {os.fsdecode(files[number]): rank for rank, number in enumerate(needed) if number < len(files)}
    last = len(place)

    def rank(entry: Entry) -> int:
        return -1 if stat.S_ISDIR(entry.mode) else place.get(entry.path, last)

    return tuple(sorted(entries, key=rank))


def _laid_by(recipe: Rootfs) -> bytes:
    if recipe.layout is not None:
        return PACKS.read(recipe.layout, "rootfs.layout")
    return PACKS.expect_whole(recipe.layout_text.encode(errors="surrogateescape"), "rootfs.layout_text")


def expect_learned_on(wanted: ReadAhead, root_id: int) -> None:
    """Raise InputError for a pack that was not learned on the file system that statfs calls `root_id`.

    The guest would ignore it: what it says of places on the disk is true of another one.
    """
    found = re.search(rb"(?m)^root (\d+)$", _pack(wanted))
    if found is not None and int(found[1]) != root_id & _SIGNLESS:
        raise InputError(
            "rootfs.readahead.pack: it was learned on a root that lies otherwise on its disk (rootfs.layout)",
            hint="learn it anew: boot this system once with rootfs.readahead.record = true",
        )


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


def _pack(wanted: ReadAhead) -> bytes:
    if wanted.pack is not None:
        data = PACKS.read(wanted.pack, "rootfs.readahead.pack")
    elif wanted.text:
        data = PACKS.expect_whole(wanted.text.encode(errors="surrogateescape"), "rootfs.readahead.text")
    else:
        return b""
    return data if wanted.order is None else _with_order(data, wanted.order)


def _with_order(data: bytes, order: str) -> bytes:
    rest = re.sub(rb"(?m)^order \S+$", b"order " + order.encode(), data.partition(b"\n")[2], count=1)
    return PACKS.sealed(rest)
