"""An SD card from its parts, composed without root, the same bytes every time.

What the boot ROM reads comes first, at the board's own place; then, for Falcon mode, the args (a device tree) and the
kernel as raw sectors; then one partition with the files that U-Boot proper loads, and the script that tells it to. So a
card for Falcon mode boots the standard way too where SPL finds no args. The device tree lies beside the kernel, or
right behind it in one file: then U-Boot proper hands over none, and the args say nothing.
"""

import json
import struct
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path

from bootlab.build.board.bootloader import FalconPlaces
from bootlab.build.board.device_tree import empty_tree, reserve, set_chosen, write_fixed_up
from bootlab.build.board.hibernation import NODE, PROPERTY, HibernationParts, generation, make_plan, without_sleep
from bootlab.build.board.kept_image import make_plan as make_kept_plan
from bootlab.build.board.kept_image import padded_kernel
from bootlab.build.board.legacy_image import kernel_image, script_image
from bootlab.build.cache import Cache, file_sha256
from bootlab.build.formats import ext4
from bootlab.build.formats.cpio import Entry
from bootlab.build.formats.sparse import copy_sparse
from bootlab.build.kernel.image import zimage_size
from bootlab.errors import InputError
from bootlab.process import run
from bootlab.system import SECTOR, Board, Card, CardLayout

KERNEL, DEVICE_TREE, INITRAMFS, SCRIPT = "zImage", "board.dtb", "initramfs", "boot.scr"
"""Names of the files in the partition."""

_FORMAT = 1
_SMALLEST_MIB = 64
_FILE_ROOM = 1 << 20
"""What a file system needs besides its files, at most, of these few."""
_PARTITION_KINDS = {"fat": 0x0C, "ext4": 0x83}
_SWAP_KIND = 0x82
_FAT_ENVIRONMENT = {"MTOOLS_SKIP_CHECK": "1", "SOURCE_DATE_EPOCH": str(ext4.DATE), "TZ": "UTC"}
_FAT_SERIAL = "b0071ab0"


@dataclass(frozen=True, slots=True)
class CardParts:
    """What a card is composed of, all of it on this host."""

    bootloader: Path
    kernel: Path
    device_tree: Path
    cmdline: str
    initramfs: Path | None
    falcon: FalconPlaces | None
    """Where SPL looks for what it loads, if it loads a kernel."""
    memory: range
    """Physical addresses of the board's RAM; the board decides them."""
    hibernation: HibernationParts | None = None
    """Of a card with a swap area."""

    @property
    def identity(self) -> list[object]:
        """Return what decides the card's bytes, as JSON takes it."""
        files = (self.bootloader, self.kernel, self.device_tree, self.initramfs)
        hashes = [None if path is None else file_sha256(path) for path in files]
        of_sleep = [] if self.hibernation is None else [self.hibernation.identity]
        return [*hashes, self.cmdline, None if self.falcon is None else asdict(self.falcon), *of_sleep]


def compose_card(card: Card, parts: CardParts, board: Board, cache: Cache) -> Path:
    """Return the image of the card of `board`, which has one, from the cache when it was composed before.

    Shared: boot it with snapshot=on. Raises InputError for what does not fit or would be loaded where it cannot be,
    MissingTool.
    """
    key = json.dumps([_FORMAT, board.image, card.model_dump(mode="json", exclude={"path", "dtb"}), parts.identity])
    return cache.make("card", key, lambda out: _compose(card, parts, board, out))


def expect_card(path: Path) -> None:
    """Raise InputError for a finished card that the machine cannot take."""
    size = path.stat().st_size
    if not size or size & (size - 1):
        raise InputError(
            f"card.path: {path}: {size:,} bytes; an SD card's size is a power of two",
            hint=f"truncate --size={max(1 << max(size - 1, 0).bit_length(), 1 << 20) >> 20}M {path}",
        )


def _compose(card: Card, parts: CardParts, board: Board, out: Path) -> None:
    layout = board.card
    assert layout is not None
    address = board.kernel_at if card.load_address is None else card.load_address
    raw = [(layout.image_at, parts.bootloader.read_bytes(), "the bootloader")]
    tree_file = out.parent / DEVICE_TREE
    # A word that has one boot hibernate is no part of what the card is.
    cmdline = parts.cmdline if parts.hibernation is None else without_sleep(parts.cmdline)
    write_fixed_up(parts.device_tree, tree_file, cmdline=cmdline, memory=parts.memory, kept=card.kept_ram)
    kernel = parts.kernel.read_bytes()
    made_of = _generation(parts, board, kernel, tree_file)
    tree = tree_file.read_bytes()
    files = {KERNEL: kernel, DEVICE_TREE: tree}
    args = tree
    if card.device_tree == "appended":
        _expect_nothing_behind(kernel)
        kernel += tree
        files = {KERNEL: kernel}
        # SPL takes no args that hold no tree, and a kernel with a tree of its own takes nothing of this one.
        args = empty_tree()
    loaded = kernel if card.kept_ram is None else padded_kernel(kernel)
    _expect_loadable(address, len(loaded), layout, parts.memory)
    if parts.falcon is not None:
        places = parts.falcon
        if len(args) > places.args_size:
            raise InputError(f"card: the args are {len(args):,} bytes, and SPL loads {places.args_size:,}")
        raw.append((places.args_at, args, "the args"))
        if card.kept_ram is not None:
            raw.append((layout.kept_at, make_kept_plan(card.kept_ram, loaded, args, address), "the plan of kept RAM"))
        raw.append((places.kernel_at, kernel_image(loaded, address), "the kernel"))
    files[SCRIPT] = script_image(_script(parts, files, layout), "armv7")
    if parts.initramfs is not None:
        files[INITRAMFS] = parts.initramfs.read_bytes()
    swap = (card.swap_mib or 0) << 20
    size = (card.size_mib or _fitting_mib(layout, files, swap)) << 20
    room = size - layout.files_at - swap
    if room < sum(map(len, files.values())) + _FILE_ROOM:
        raise InputError(
            f"card.size_mib: {size >> 20} MiB are too few: the files begin at {layout.files_at >> 20} MiB",
            hint="leave size_mib out: the card is then as large as it needs to be",
        )
    swap_at = layout.files_at + room
    if parts.hibernation is not None:
        plan = make_plan(parts.hibernation, made_of, board, parts.memory, swap_at)
        raw.append((layout.hibernation_at, plan, "the plan of hibernation"))
    _expect_apart(raw, layout.files_at)
    partition = out.parent / "partition"
    (_make_fat if card.filesystem == "fat" else _make_ext4)(files, partition, room)
    with out.open("wb") as image:
        image.truncate(size)
        spans = [(layout.files_at, room, _PARTITION_KINDS[card.filesystem])]
        spans += [(swap_at, swap, _SWAP_KIND)] if swap else []
        image.write(_partition_table(spans))
        for place, bytes_, _ in raw:
            image.seek(place)
            image.write(bytes_)
        with partition.open("rb") as content:
            copy_sparse(content, image, layout.files_at)
        if parts.hibernation is not None:
            with parts.hibernation.swap.open("rb") as content:
                copy_sparse(content, image, swap_at)


def _generation(parts: CardParts, board: Board, kernel: bytes, tree: Path) -> str:
    """Write into the tree what a board that hibernates is told; return the card's generation, empty of another."""
    if parts.hibernation is None:
        return ""
    reserve(tree, NODE, board.loader_memory, mapped=True)
    made_of = generation(kernel, tree.read_bytes())
    set_chosen(tree, "bootargs", parts.cmdline)
    set_chosen(tree, PROPERTY, made_of)
    return made_of


def _script(parts: CardParts, files: Collection[str], layout: CardLayout) -> str:
    moved = layout.args_address == layout.far_args_address
    tree_at = f"{layout.args_address:#x}" if moved else "${fdt_addr_r}"
    load = "load mmc 0:1"
    lines, words = [f"{load} ${{kernel_addr_r}} {KERNEL}"], ["bootz ${kernel_addr_r}"]
    if DEVICE_TREE in files:
        lines.append(f"{load} {tree_at} {DEVICE_TREE}")
    if parts.initramfs is not None:
        lines.append(f"{load} ${{ramdisk_addr_r}} {INITRAMFS}")
        words.append("${ramdisk_addr_r}:${filesize}")
    if DEVICE_TREE in files:
        words += [tree_at] if parts.initramfs is not None else ["-", tree_at]
    return "\n".join([*lines, " ".join(words)]) + "\n"


def _expect_nothing_behind(kernel: bytes) -> None:
    size = zimage_size(kernel)
    if size is None:
        raise InputError('card.device_tree: "appended" is for a zImage, which looks behind itself, and this is none')
    if size != len(kernel):
        more = len(kernel) - size
        raise InputError(
            f"card.device_tree: the kernel's file has {more:,} bytes behind the zImage of {size:,} already",
            hint="a zImage as the kernel's build makes it; bootlab appends card.dtb itself",
        )


def _expect_loadable(address: int, size: int, layout: CardLayout, memory: range) -> None:
    end = address + size
    if address not in memory or end > memory.stop:
        raise InputError(
            f"card.load_address: {size:,} bytes from {address:#x} do not lie in the board's memory, "
            f"{memory.start:#x} to {memory.stop:#x}"
        )
    if address % 4:
        raise InputError(f"card.load_address: {address:#x} is no multiple of 4, where code can begin")
    if address < layout.args_address + layout.args_size and layout.args_address < end:
        raise InputError(
            f"card.load_address: a kernel of {size:,} bytes from {address:#x} would lie over the args at "
            f"{layout.args_address:#x}",
            hint="a smaller kernel, or another place for it",
        )


def _expect_apart(raw: list[tuple[int, bytes, str]], end: int) -> None:
    # The bootloader's options may move them.
    placed = sorted(raw, key=lambda one: one[0])
    nexts = [*placed[1:], (end, b"", "the first partition")]
    for (place, content, name), (following, _, what) in zip(placed, nexts, strict=True):
        if place + len(content) > following:
            raise InputError(
                f"card: {name}, {len(content):,} bytes at {place:#x}, reaches into {what} at {following:#x}"
            )


def _fitting_mib(layout: CardLayout, files: dict[str, bytes], swap: int) -> int:
    needed = layout.files_at + sum(map(len, files.values())) * 9 // 8 + _FILE_ROOM + swap
    return max(_SMALLEST_MIB, 1 << (-(-needed >> 20) - 1).bit_length())


def _partition_table(spans: list[tuple[int, int, int]]) -> bytes:
    # Primary partitions, the first one to boot from. Heads and cylinders are of a time before such cards.
    none = b"\xfe\xff\xff"
    entries = b"".join(
        struct.pack("<B3sB3sII", 0 if number else 0x80, none, kind, none, at // SECTOR, size // SECTOR)
        for number, (at, size, kind) in enumerate(spans)
    )
    return bytes(440) + bytes.fromhex("b0071ab0") + bytes(2) + entries.ljust(64, b"\0") + b"\x55\xaa"


def _make_fat(files: dict[str, bytes], path: Path, size: int) -> None:
    path.touch()
    folder = path.parent / "files"
    folder.mkdir()
    run(
        ["mformat", "-i", path, "-C", "-T", str(size // SECTOR), "-h", "255", "-s", "63", "-N", _FAT_SERIAL, "::"],
        env=_FAT_ENVIRONMENT,
        package="mtools",
    )
    for name, content in files.items():
        (folder / name).write_bytes(content)
        run(["mcopy", "-i", path, folder / name, f"::{name}"], env=_FAT_ENVIRONMENT, package="mtools")


def _make_ext4(files: dict[str, bytes], path: Path, size: int) -> None:
    entries = [Entry(name, 0o100644, content) for name, content in sorted(files.items())]
    ext4.make_from(entries, path, size >> 20, journal=False)
