"""Makes a disk image of Debian's packages: GPT, GRUB for BIOS, an EFI system partition, an ext4 root.

As published images are, but without a mount, a loop device or grub-install: every part is written as a file and then
put in its place, so the same packages give the same bytes.

    sector 0       boot.img (GRUB)       1 MiB  core.img       4 MiB  ESP       then the root, partition 1
"""

import json
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bootlab.build.debian.install import install_root
from bootlab.build.debian.root import DebianRoot
from bootlab.build.formats import ext4
from bootlab.build.formats.partitions import BIOS_BOOT, ESP, LINUX_ROOT_X86_64, SECTOR, Partition, gpt_tables
from bootlab.build.formats.sparse import copy_sparse
from bootlab.build.image.efi_program import make_uki
from bootlab.build.image.fat import make_fat
from bootlab.build.image.image_file import QCOW2, RAW, open_image
from bootlab.build.image.recipe import COMMANDS, CORE, PACKAGES, SHIM_PACKAGES, ImageRecipe, Loader
from bootlab.build.image.root_files import ESP_GRUB_CFG, ESP_SERIAL, kernel_words, lay_files
from bootlab.build.root.file_tree import FileTree
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, InputError
from bootlab.process import run

_FORMAT = 2
_MIB = 1 << 20
_CORE_AT = _MIB
_ESP_AT, _ESP_SIZE = 4 * _MIB, 124 * _MIB
_ROOT_AT = 128 * _MIB
_BEHIND = _MIB
_EFI_BOOT = "EFI/BOOT/BOOTX64.EFI"
_EFI_SECOND = "EFI/BOOT/grubx64.efi"
"""What shim starts."""
_SYSTEMD_EFI = "usr/lib/systemd/boot/efi"
_DEADLINE_S = 120.0


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """An image in the cache. Shared: never to be changed."""

    path: Path
    from_cache: bool
    seconds: float
    """Spent now on composing it; 0.0 when it came from the cache."""
    packages: tuple[tuple[str, str], ...]


def make_image(shop: Workshop, recipe: ImageRecipe) -> BuiltImage:
    """Return the image of `recipe`, composed unless the cache has it.

    Raises InputError (no such package or suite), MissingTool (mmdebstrap, mtools, e2fsprogs, binutils), Unreachable.
    """
    names = (*PACKAGES, *(SHIM_PACKAGES if recipe.loader is Loader.SHIM else ()), *recipe.packages)
    root = install_root(shop, names, recipe.suite, "x86_64", key="--packages", after=COMMANDS)
    began = time.monotonic()
    key = json.dumps([_FORMAT, replace(recipe, format=RAW).identity, root.identity])
    found = shop.cache.find("image", key)

    def write(out: Path) -> None:
        shop.tell("composing the image")
        _compose(root, recipe, out)

    path = found or shop.cache.make("image", key, write)
    if recipe.format == QCOW2:
        key, found = f"{key} {QCOW2}", shop.cache.find("image", f"{key} {QCOW2}")
        path = found or shop.cache.make("image", key, lambda out: _pack(path, out))
    seconds = 0.0 if found is not None else round(time.monotonic() - began, 3)
    return BuiltImage(path, found is not None, seconds, tuple((one.name, one.version) for one in root.packages))


def expect_disk_for(image: Path, size: int) -> None:
    """Raise InputError where a disk of `size` bytes has no room for the image in a file."""
    there = open_image(image).bytes
    if there > size:
        raise InputError(
            f"--disk {size >> 20}: the image has {there:,} bytes already", hint=f"--disk {-(-there >> 20)} at least"
        )


def grow_disk(image: Path, format: str, size: int) -> None:
    """Give the disk in an image file `size` bytes, no fewer than it has, as a cloud has it larger than the image.

    The partition table is not touched: the copy of it at the image's end is not the disk's last sector any more. Raises
    MissingTool (qemu-img).
    """
    if format == QCOW2:
        run(["qemu-img", "resize", "-f", QCOW2, image, str(size)], deadline_s=_DEADLINE_S, package="qemu-utils")
        return
    with image.open("r+b") as file:
        file.truncate(size)


def _pack(raw: Path, out: Path) -> None:
    run(["qemu-img", "convert", "-O", QCOW2, raw, out], deadline_s=_DEADLINE_S, package="qemu-utils")


def _compose(root: DebianRoot, recipe: ImageRecipe, out: Path) -> None:
    scratch = out.parent
    tree = FileTree(root.entries())
    release = _kernel_release(tree)
    lay_files(tree, recipe, release)
    esp = _esp(tree, recipe, release, scratch)
    root_image = scratch / "root"
    ext4.make_from(tree.entries(), root_image, None, journal=True)
    size = _ROOT_AT + root_image.stat().st_size + _BEHIND
    partitions = (
        Partition(1, _ROOT_AT, root_image.stat().st_size, LINUX_ROOT_X86_64),
        Partition(14, _CORE_AT, _ESP_AT - _CORE_AT, BIOS_BOOT),
        Partition(15, _ESP_AT, _ESP_SIZE, ESP),
    )
    boot, core = _grub_for_bios(_data(tree, f"{CORE.rpartition('/')[0]}/boot.img"), _data(tree, CORE))
    first, last = gpt_tables(size, partitions)
    with out.open("wb") as image:
        image.truncate(size)
        image.write(boot + first[len(boot) :])
        image.seek(size - len(last))
        image.write(last)
        image.seek(_CORE_AT)
        image.write(core)
        for at, path in ((_ESP_AT, esp), (_ROOT_AT, root_image)):
            with path.open("rb") as content:
                copy_sparse(content, image, at)


def _grub_for_bios(boot: bytes, core: bytes) -> tuple[bytes, bytes]:
    # As grub-install does (util/setup.c): boot.img is told where core.img begins, and not to ask which drive it is on;
    # core.img's first sector has the list of all others at its end: first one, how many, where to.
    boot_code = bytearray(boot[:440])
    struct.pack_into("<Q", boot_code, 0x5C, _CORE_AT // SECTOR)
    boot_code[0x66:0x68] = b"\x90\x90"
    whole = bytearray(core + bytes(-len(core) % SECTOR))
    if len(whole) > _ESP_AT - _CORE_AT:
        raise BootlabError(f"GRUB's core.img has {len(whole):,} bytes, more than there is room for")
    struct.pack_into("<QHH", whole, SECTOR - 12, _CORE_AT // SECTOR + 1, len(whole) // SECTOR - 1, 0x820)
    return bytes(boot_code), bytes(whole)


def _kernel_release(tree: FileTree) -> str:
    found = [entry.path for entry in tree.entries() if entry.path.startswith("boot/vmlinuz-")]
    if len(found) != 1:
        raise InputError(
            f"--packages: they bring {len(found)} kernels along, expected one",
            hint="every image has linux-image-cloud-amd64: leave other kernels out",
        )
    return found[0].removeprefix("boot/vmlinuz-")


def _data(tree: FileTree, path: str) -> bytes:
    entry = tree.find(path)
    if entry is None:
        raise BootlabError(f"/{path}: the packages of this suite do not have it")
    return entry.data


def _esp(tree: FileTree, recipe: ImageRecipe, release: str, scratch: Path) -> Path:
    kernel, archive = _data(tree, f"boot/vmlinuz-{release}"), _data(tree, f"boot/initrd.img-{release}")
    command_line = kernel_words(recipe)
    files: dict[str, bytes] = {}
    if recipe.loader in (Loader.GRUB, Loader.SHIM):
        grub = _data(tree, "usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed")
        files[_EFI_BOOT] = grub
        if recipe.loader is Loader.SHIM:
            files[_EFI_BOOT] = _data(tree, "usr/lib/shim/shimx64.efi.signed")
            files[_EFI_SECOND] = grub
        # Debian's signed GRUB looks for its configuration here, whatever its own name.
        files["EFI/debian/grub.cfg"] = ESP_GRUB_CFG.encode()
    elif recipe.loader is Loader.SYSTEMD_BOOT:
        files[_EFI_BOOT] = _data(tree, f"{_SYSTEMD_EFI}/systemd-bootx64.efi")
        files |= {"vmlinuz": kernel, "initrd.img": archive}
        files["loader/loader.conf"] = f"timeout {recipe.menu_s}\n".encode()
        entry = (
            f"title Debian GNU/Linux\nversion {release}\nlinux /vmlinuz\ninitrd /initrd.img\noptions {command_line}\n"
        )
        files["loader/entries/debian.conf"] = entry.encode()
    else:
        parts = {".osrel": _data(tree, "usr/lib/os-release"), ".cmdline": command_line.encode(), ".linux": kernel}
        files[_EFI_BOOT] = _uki(
            _data(tree, f"{_SYSTEMD_EFI}/linuxx64.efi.stub"), {**parts, ".initrd": archive}, scratch
        )
    image = scratch / "esp"
    make_fat(image, _ESP_SIZE, ESP_SERIAL, files)
    return image


def _uki(stub: bytes, parts: Mapping[str, bytes], scratch: Path) -> bytes:
    folder = scratch / "uki"
    folder.mkdir()
    paths = {name: folder / name.strip(".") for name in parts}
    for name, path in paths.items():
        path.write_bytes(parts[name])
    (folder / "stub.efi").write_bytes(stub)
    make_uki(folder / "stub.efi", paths, folder / "whole.efi")
    return (folder / "whole.efi").read_bytes()
