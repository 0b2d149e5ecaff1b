"""An initramfs from a recipe: a newc archive, compressed as the kernel unpacks it; the same bytes every time."""

from dataclasses import replace
from pathlib import Path

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.formats import cpio
from bootlab.build.formats.compress import compress
from bootlab.build.root import archive_check
from bootlab.build.root.content import Ingredients, collect, identify_content
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import Compression, Initramfs


def build(shop: Workshop, recipe: Initramfs, made_of: Ingredients) -> Path:
    """Return the archive that `recipe` describes, from the cache when it was made before.

    One to embed is left uncompressed: the kernel's own compression is over it.
    Raises InputError for what the recipe asks and cannot be had, MissingTool (lzop).
    """

    def write(path: Path) -> None:
        path.write_bytes(compress(cpio.write(collect(recipe, made_of, shop.tell)), _compression(recipe)))

    return shop.cache.make("initramfs", key(recipe, made_of), write)


def key(recipe: Initramfs, made_of: Ingredients) -> str:
    """Return what the cache knows the archive by. Raises InputError for a file that cannot be read."""
    return f"{_compression(recipe).value} {identify_content(recipe, made_of)}"


def _compression(recipe: Initramfs) -> Compression:
    return Compression.NONE if recipe.embedded else recipe.compression


def unpack(path: Path, cache: Cache) -> Path:
    """Return the finished archive at `path` as one plain newc archive, as a kernel with it inside wants it.

    Raises InputError when it is cut short, damaged or of an unknown form.
    """

    def write(out: Path) -> None:
        entries = read_contents(path)
        if entries is None:
            raise InputError(f"initramfs.path: {path}: not a cpio archive", hint="a kernel can only hold one of those")
        tree = {entry.path.removeprefix("./").strip("/"): entry for entry in entries}
        out.write_bytes(cpio.write(replace(entry, path=name) for name, entry in tree.items() if name not in ("", ".")))

    return cache.make("initramfs", f"unpacked {file_sha256(path)}", write)


def read_contents(path: Path) -> list[cpio.Entry] | None:
    """Return what the archive at `path` carries, in order; None when its form is not known here.

    Raises InputError when it is cut short or damaged.
    """
    try:
        return archive_check.entries(path.read_bytes())
    except InputError as error:
        raise InputError(f"{path}: {error.message}") from error


def expect_whole(path: Path, cache: Cache) -> None:
    """Raise InputError for a finished archive that is cut short or damaged."""
    # Decompressing it all takes a second or two for a large one: done once for each content.
    try:
        key = file_sha256(path)
    except OSError as error:
        raise InputError(f"initramfs.path: {path}: {error.strerror}") from error

    def check(out: Path) -> None:
        try:
            read_contents(path)
        except InputError as error:
            raise InputError(f"initramfs.path: {error.message}", hint="build or copy the file again") from error
        out.write_text("")

    cache.make("whole", key, check)
