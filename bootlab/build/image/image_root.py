"""The files of the root file system on a disk image, read without mounting it: of the partition that has os-release."""

from collections.abc import Sequence

from bootlab.build.cache import Cache
from bootlab.build.formats.cpio import Entry
from bootlab.build.image.image_file import EFI, ImageFile
from bootlab.build.image.reading import ImageReader, Volume
from bootlab.build.root.image_entries import read_image_entries
from bootlab.errors import InputError

_RELEASE = ("usr/lib/os-release", "etc/os-release")


def read_image_root(image: ImageFile, cache: Cache) -> tuple[Entry, ...]:
    """Return the folders, files and links of an image's root. The folder of `cache` has to have room for its files.

    Raises InputError where none is found, or its file system is not listed here, MissingTool (grub-common, qemu-utils,
    e2fsprogs).
    """
    if image.format == EFI:
        raise InputError(f"{image.path}: a unified kernel image has no root file system of its own")
    with cache.store_errors("reading a disk image"):
        cache.root.mkdir(parents=True, exist_ok=True)
    with ImageReader(image, cache.root) as reader:
        return read_root(reader, image, cache)[1]


def read_root(reader: ImageReader, image: ImageFile, cache: Cache) -> tuple[Volume, tuple[Entry, ...]]:
    """Return the volume of an opened image that is its root, and the files on it. Raises as `read_image_root`."""
    volume = find_root(reader, image)
    entries: Sequence[Entry] | None = read_image_entries(reader.disk, cache, volume.partition.start)
    if entries is None:
        raise InputError(
            f"{image.path}: its root is on {volume.kind}, whose files are not listed here", hint="ext2 to ext4 is read"
        )
    return volume, tuple(entries)


def find_root(reader: ImageReader, image: ImageFile) -> Volume:
    """Return the volume of an opened image that is its root. Raises InputError where none is found."""
    volume = next((one for one in reader.volumes if one.readable and _is_root(reader, one)), None)
    if volume is None:
        raise InputError(
            f"{image.path}: no root file system found on it: no partition with an os-release",
            hint="bootlab boot IMAGE says which partitions it has",
        )
    return volume


def _is_root(reader: ImageReader, volume: Volume) -> bool:
    return any(reader.read(volume, path) is not None for path in _RELEASE)
