"""A root file system image from a recipe: ext4, squashfs or erofs, made without root, the same bytes every time.

Each file system by its own maker, fed in the way that needs no root: ext4 through debugfs, squashfs from a tar archive,
erofs from a folder under fakeroot (its maker reads archives only since 1.7, and Debian 12 has 1.5).
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from uuid import UUID, uuid5

from bootlab.build.formats import ext4, tar
from bootlab.build.formats.cpio import Entry
from bootlab.build.formats.ext4_late import BLOCK, LatePart
from bootlab.build.root.content import Ingredients, collect, identify_content
from bootlab.build.root.preload import learned_habits
from bootlab.build.root.printed import Learned
from bootlab.build.root.readahead import in_boot_order, layout_of, learned_pack
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError, MissingTool
from bootlab.process import ProgramFailed, require_program, run
from bootlab.system import Compression, FileSystem, Rootfs

_UUID = "b0071ab0-0000-4000-8000-000000000003"
_DEADLINE_S = 1200.0
_FORMAT = 3
_PMEM_ALIGNMENT = 2 << 20
_BLOCKS_OF_MIB = (1 << 20) // BLOCK
_SQUASHFS = {
    Compression.NONE: ("-noI", "-noId", "-noD", "-noF", "-noX"),
    Compression.GZIP: ("-comp", "gzip"),
    Compression.LZ4: ("-comp", "lz4", "-Xhc"),
    Compression.LZO: ("-comp", "lzo"),
    Compression.ZSTD: ("-comp", "zstd"),
    Compression.XZ: ("-comp", "xz"),
}
_EROFS = {
    Compression.GZIP: "deflate",
    Compression.LZ4: "lz4hc",
    Compression.ZSTD: "zstd",
    Compression.XZ: "lzma",
}
"""What erofs calls it. lz4hc packs tighter than lz4 and unpacks the same."""


def build(shop: Workshop, recipe: Rootfs, made_of: Ingredients) -> Path:
    """Return the image that `recipe` describes, from the cache when it was made before. Shared: never write to it.

    Raises InputError for what the recipe asks and cannot be had, MissingTool (with what to install), ProgramFailed.
    """

    def write(path: Path) -> None:
        # Packing a large root takes long; that its maker is not here is said at once.
        maker = _MAKERS[recipe.filesystem](recipe, path)
        shop.tell(f"making the {recipe.filesystem.value} root file system")
        entries = collect(recipe, made_of, shop.tell)
        layout, paths = layout_of(recipe), {entry.path for entry in entries}
        for learned in (layout, *_learned(recipe)):
            if learned is not None:
                learned.expect_files_in(paths, shop.tell)
        if recipe.filesystem is FileSystem.EROFS and _has_xattrs(entries):
            # Its maker cannot read those that fakeroot has made.
            count = sum(bool(entry.xattrs) for entry in entries)
            shop.tell(f'rootfs.filesystem = "erofs": file capabilities and attributes of {count} files are not kept')
        maker(entries if layout is None else in_boot_order(entries, layout))
        if recipe.device == "pmem":
            with path.open("ab") as image:
                image.truncate(-(-image.tell() // _PMEM_ALIGNMENT) * _PMEM_ALIGNMENT)

    return shop.cache.make("rootfs", key(recipe, made_of), write)


def key(recipe: Rootfs, made_of: Ingredients) -> str:
    """Return what the cache knows the image by. Raises InputError for a file that cannot be read."""
    form = f"{_FORMAT} {recipe.filesystem.value} {recipe.compression.value} {recipe.size_mib} {recipe.journal}"
    # An image laid out by a pack has a UUID of its own since format 3; no other image changed by that.
    own_uuid = " own uuid" if recipe.laid_out else ""
    late = f" late {recipe.late} {recipe.late_mib}" if recipe.late else ""
    mapped = " mapped" if _is_mapped(recipe) else ""
    return f"{form} {recipe.device == 'pmem'} {identify_content(recipe, made_of)}{own_uuid}{late}{mapped}"


_Make = Callable[[Sequence[Entry]], None]


def _ext4(recipe: Rootfs, path: Path) -> _Make:
    require_program("debugfs", package="e2fsprogs")

    def make(entries: Sequence[Entry]) -> None:
        late = LatePart(recipe.late, recipe.late_mib * _BLOCKS_OF_MIB) if recipe.late else None
        # What a part of its own holds moves nothing else.
        early = entries if late is None else late.split(entries)[0]
        uuid = _uuid_of_order(early) if recipe.laid_out else ext4.DEFAULT_UUID
        for learned in _learned(recipe):
            learned.expect_learned_on(ext4.statfs_id(uuid))
        ext4.make_from(entries, path, recipe.size_mib, journal=recipe.journal, uuid=uuid, late=late)

    return make


def _learned(recipe: Rootfs) -> list[Learned]:
    pack = learned_pack(recipe.readahead) if recipe.readahead is not None else None
    habits = learned_habits(recipe.preload) if recipe.preload is not None else None
    return [one for one in (pack, habits) if one is not None]


def _uuid_of_order(entries: Sequence[Entry]) -> str:
    # What was learned of the places on one disk says nothing of another: a guest tells the two apart.
    names = "\n".join(entry.path for entry in entries).encode(errors="surrogateescape")
    return str(uuid5(UUID(ext4.DEFAULT_UUID), sha256(names).hexdigest()))


def _squashfs(recipe: Rootfs, path: Path) -> _Make:
    require_program("sqfstar", package="squashfs-tools")
    argv: list[str | Path] = ["sqfstar", "-quiet", "-no-progress", "-all-time", "0", "-mkfs-time", "0"]
    argv += ["-root-mode", "755", "-root-uid", "0", "-root-gid", "0", *_SQUASHFS[recipe.compression], path]

    def make(entries: Sequence[Entry]) -> None:
        argv[1:1] = ["-xattrs" if _has_xattrs(entries) else "-no-xattrs"]
        run(argv, input=tar.write(entries), deadline_s=_DEADLINE_S, package="squashfs-tools")

    return make


def _erofs(recipe: Rootfs, path: Path) -> _Make:
    require_program("fakeroot", package="fakeroot")
    options = ["-T0", "-x-1", f"-U{_UUID}"]
    if _is_mapped(recipe):
        # The end of a file that lies beside its inode is no page to be mapped.
        options.append("-Enoinline_data")
    if recipe.compression is not Compression.NONE:
        options.append(f"-z{_erofs_compressor(recipe.compression)}")
    folder, archive = path.parent / "files", path.parent / "files.tar"
    commands = 'tar --extract --preserve-permissions --same-owner --file "$1" --directory "$2" && shift && '
    commands += 'folder=$1 image=$2 && shift 2 && exec mkfs.erofs "$@" "$image" "$folder"'

    def make(entries: Sequence[Entry]) -> None:
        folder.mkdir(mode=0o755)
        folder.chmod(0o755)
        archive.write_bytes(tar.write(entries))
        argv: list[str | Path] = ["fakeroot", "--", "sh", "-c", commands, "sh", archive, folder, path, *options]
        admin = {"PATH": f"{Path(require_program('mkfs.erofs')).parent}:/usr/bin:/bin"}
        run(argv, deadline_s=_DEADLINE_S, env=admin, package="fakeroot")

    require_program("mkfs.erofs", package="erofs-utils")
    return make


def _is_mapped(recipe: Rootfs) -> bool:
    return recipe.kept_ram is not None and recipe.kept_ram.dax


def _has_xattrs(entries: Sequence[Entry]) -> bool:
    return any(entry.xattrs for entry in entries)


def _erofs_compressor(how: Compression) -> str:
    if how not in _EROFS:
        raise InputError(
            f"rootfs.compression: erofs has no {how.value}", hint=f"it has {', '.join(one.value for one in _EROFS)}"
        )
    version, known = _erofs_maker(require_program("mkfs.erofs", package="erofs-utils"))
    if _EROFS[how] not in known:
        raise MissingTool(
            f"rootfs.compression: this machine's mkfs.erofs{version} cannot pack with {how.value}",
            hint=f"it can with {', '.join(known)}; Debian 13's erofs-utils 1.8 has more",
        )
    return _EROFS[how]


@lru_cache
def _erofs_maker(program: str) -> tuple[str, tuple[str, ...]]:
    # 1.5 lists its compressors on one line of its help, 1.8 one a line.
    texts = []
    for option in ("-V", "--help"):
        try:
            done = run([program, option])
            texts.append((done.stdout + done.stderr).decode(errors="replace"))
        except ProgramFailed as error:
            # 1.5 knows no -V, but says which it is before it says so.
            texts.append(error.stdout + error.stderr)
    version = re.search(r"\d+(\.\d+)+", texts[0])
    known = re.findall(r"\b(lz4hc|lz4|lzma|deflate|libdeflate|zstd)\b", texts[1])
    return (f" ({version[0]})" if version else ""), tuple(dict.fromkeys(known))


_MAKERS: dict[FileSystem, Callable[[Rootfs, Path], _Make]] = {
    FileSystem.EXT4: _ext4,
    FileSystem.SQUASHFS: _squashfs,
    FileSystem.EROFS: _erofs,
}
