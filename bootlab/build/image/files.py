"""The files that a system with a disk image boots from: the image, its firmware, and what is known of its kernel."""

from pathlib import Path
from typing import Any

from bootlab.build.cache import file_sha256
from bootlab.build.firmware.uefi import UefiFirmware, find_uefi, with_own_entry
from bootlab.build.formats.cpio import Entry
from bootlab.build.image.changed_copy import LoaderChange, make_changed_copy
from bootlab.build.image.contents import BIOS, UEFI, Chain
from bootlab.build.image.image_file import EFI, ISO, RAW, open_image
from bootlab.build.image.image_root import read_image_root
from bootlab.build.image.kept_contents import ReadImage, read_image
from bootlab.build.kernel.image import extract_vmlinux, inspect
from bootlab.build.root.initramfs import read_contents
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import Attachment, BootFiles, System
from bootlab.system.kernel import add_words

_CD_CORE_AT = 0x8200
"""cdboot.img leaves out the sector that loads the rest from a disk."""


def find_image_files(shop: Workshop, system: System) -> BootFiles:
    """Return what `system`, which has an image, boots from; nothing of it is written to.

    Raises InputError for an image that cannot boot with the system's firmware, MissingTool, Unreachable (OVMF).
    """
    read, chain = find_booted_image(shop, system)
    assert system.image is not None
    direct = system.image.loader == "direct"
    if direct and read.image.format == EFI:
        raise InputError(
            'image.loader: "direct": QEMU loads a unified kernel image itself already', hint="leave it out"
        )
    by_uefi = system.machine.firmware == "ovmf"
    firmware = find_uefi(shop, system) if by_uefi else UefiFirmware()
    if read.boot_entry is not None:
        firmware = with_own_entry(shop, firmware, read.boot_entry)
    kernel = read.file(chain.kernel) if chain.kernel else None
    if kernel is None:
        raise InputError(
            f"image: {read.image.path}: {chain.loader} is on it, and no kernel that it would boot was found"
        )
    vmlinux = _vmlinux(shop, kernel)
    archive = read.file(chain.initramfs) if chain.initramfs else None
    named = {
        "kernel": kernel,
        "initramfs": archive,
        "firmware": firmware.code,
        "firmware_variables": firmware.variables,
    }
    hashes = {name: file_sha256(path) for name, path in named.items() if path is not None}
    return BootFiles(
        kernel=kernel,
        vmlinux=vmlinux,
        initramfs=archive,
        # QEMU takes a colon in a relative path for a protocol's.
        image=read.image.path.absolute(),
        image_format=RAW if read.image.format == ISO else read.image.format,
        firmware=firmware.code,
        firmware_variables=firmware.variables,
        symbols=system.kernel.symbols,
        loaders=() if direct else tuple(read.file(program.file) for program in chain.programs),
        words=add_words(chain.words, system.kernel.cmdline) if direct else "",
        remarks=() if direct else _menu_remark(chain),
        hashes={"image": read.sha256, **hashes},
        **({} if direct else _bios_stages(read, system.image.attach)),
    )


def find_booted_image(shop: Workshop, system: System) -> tuple[ReadImage, Chain]:
    """Return the image that `system` boots, a changed copy where it asks for one, and how it comes to its kernel.

    Raises as `find_image_files`.
    """
    assert system.image is not None
    read = read_image(shop, open_image(system.image.path))
    by_uefi = system.machine.firmware == "ovmf"
    if read.contents.arch != system.machine.arch:
        raise InputError(
            f"image: {read.image.path}: boots {read.contents.arch}, and the machine is {system.machine.arch}",
            hint='machine.type = "virt" is arm64, "q35" and "pc" are x86-64',
        )
    _expect_medium(read, system.image.attach, by_uefi)
    chain = _expect_chain(read, by_uefi)
    change = LoaderChange(system.kernel.cmdline, system.image, system.machine.firmware_suite)
    if change.is_none:
        return read, chain
    read = make_changed_copy(shop, read, chain, change)
    chain = _expect_chain(read, by_uefi)
    if read.boot_entry is not None:
        # The loader stays on the image, and is not asked.
        chain = chain.model_copy(update={"loader": "the kernel's EFI stub", "programs": ()})
    return read, chain


def read_booted_entries(shop: Workshop, system: System, part: str) -> tuple[Entry, ...]:
    """Return the files of the image that `system` boots: of its root (rootfs), or of its loader's initramfs.

    Raises InputError for what is not there or cannot be listed, and as `find_image_files`.
    """
    read, chain = find_booted_image(shop, system)
    if part == "rootfs":
        return read_image_root(read.image, shop.cache)
    entries = read_contents(read.file(chain.initramfs)) if chain.initramfs else None
    if entries is None:
        raise InputError(f"image: {read.image.path}: what is in its initramfs is not known")
    return tuple(entries)


def _menu_remark(chain: Chain) -> tuple[str, ...]:
    wait_s = chain.wait_s
    if not wait_s:
        return ()
    how_long = "for ever" if wait_s < 0 else f"{wait_s:g} s"
    remedy = "" if wait_s < 0 else "; bootloader_menu_none leaves it out"
    return (f"the menu of {chain.loader} waits {how_long} for a key, in the phase `loader`{remedy}",)


def _bios_stages(read: ReadImage, attach: Attachment) -> dict[str, Any]:
    contents = read.contents
    if attach is Attachment.CD:
        return {"boot_code": contents.cd_code, "core_code": contents.cd_core_code, "core_at": _CD_CORE_AT}
    return {"boot_code": contents.boot_code, "core_code": contents.core_code}


def _expect_medium(read: ReadImage, attach: Attachment, by_uefi: bool) -> None:
    is_iso, path = read.image.format == ISO, read.image.path
    if attach is Attachment.CD and not is_iso:
        raise InputError(f'image.attach = "cd": {path} is no ISO image', hint='attach = "virtio" is a disk')
    if is_iso and attach is not Attachment.CD and not by_uefi and not read.contents.boot_code:
        raise InputError(
            f'image.attach = "{attach.value}": {path} is no hybrid: its first sector has no code of GRUB\'s that BIOS '
            "could start from a disk",
            hint='attach = "cd" is a CD',
        )


def _expect_chain(read: ReadImage, by_uefi: bool) -> Chain:
    chains = read.contents.chains
    chain = chains.get(UEFI if by_uefi else BIOS)
    if chain is None:
        other = (
            'machine.firmware = "default" boots it by BIOS' if by_uefi else 'machine.firmware = "ovmf" boots it by UEFI'
        )
        how = "UEFI: it has no EFI/BOOT/BOOTX64.EFI" if by_uefi else "BIOS: no GRUB begins in its first sector"
        raise InputError(f"image: {read.image.path}: does not boot by {how}", hint=other)
    return chain


def _vmlinux(shop: Workshop, kernel: Path) -> Path | None:
    def extract(out: Path) -> None:
        extract_vmlinux(kernel, out)

    try:
        inspect(kernel)
        return shop.cache.make("vmlinux", file_sha256(kernel), extract)
    except InputError as error:
        shop.tell(f"no symbols: {error.message}")
        return None
