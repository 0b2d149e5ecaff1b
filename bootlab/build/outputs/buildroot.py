"""Buildroot's output folder: images/ and .config, what was built in build/, and how its QEMU boards are started.

    output/.config, output/images/{bzImage,rootfs.ext2,start-qemu.sh}, output/build/linux-6.12/.config

start-qemu.sh, which board/qemu/post-image.sh writes for QEMU's defconfigs, is Buildroot's own way to boot its images.
Without it the machine follows from the configuration, and what no machine here is like is said.
"""

import os
import re
from pathlib import Path
from typing import Final

from bootlab.build.kernel.image import inspect
from bootlab.build.outputs.assignments import parse_assignments, read_small
from bootlab.build.outputs.output import BuildOutput, BuildTool, KernelSource
from bootlab.build.outputs.parts import parts_of
from bootlab.build.outputs.qemu_words import QemuCommand, parse_qemu_words
from bootlab.build.source.config_text import read_config
from bootlab.errors import InputError

_HEAD: Final = re.compile(r"^# Buildroot (\S+) Configuration$", re.MULTILINE)
_TREE: Final = re.compile(r"^MAKEARGS := -C (\S+)", re.MULTILINE)
_START: Final = "start-qemu.sh"
_CONTINUED: Final = re.compile(r"\\\r?\n")
_KERNELS: Final = ("bzImage", "Image", "zImage", "Image.gz", "vmlinux", "vmlinuz", "Image.lz4", "Image.zst")
_ROOTS: Final = ("rootfs.ext4", "rootfs.ext3", "rootfs.ext2", "rootfs.squashfs", "rootfs.erofs", "rootfs.btrfs")
_PACKED: Final = ("", ".gz", ".xz", ".zst", ".bz2", ".lzma", ".lz4", ".lzo")
_ARCHITECTURES: Final = {"x86_64": "x86_64", "aarch64": "aarch64", "riscv64": "riscv64", "arm": "armv7"}
_CONSOLES: Final = {"x86_64": "ttyS0", "aarch64": "ttyAMA0", "riscv64": "ttyS0"}
_CARD_BOARDS: Final = {"sun8i-h3-orangepi-pc": "orangepi-pc"}
"""Device tree -> the machine of bootlab's that is such a board."""
_MEMORY_MIB: Final = 256
_LOADERS: Final = re.compile(r"(u-boot|MLO|SPL|spl|fw_jump|fw_dynamic|fw_payload|bl31|flash|grub|boot[a-z0-9]+\.efi).*")
_ROOT_DISK: Final = re.compile(r"root=/dev/(sda|hda|nvme0n1|mmcblk0)\b")
_GETTY: Final = "BR2_TARGET_GENERIC_GETTY"


def find_images(folder: Path) -> Path | None:
    """Return the folder of images that a folder of Buildroot's has; None for what is not Buildroot's.

    It may be the tree, the output folder, or images/ itself.
    """
    for images in (folder / "images", folder / "output" / "images", folder):
        if not images.is_dir():
            continue
        if (images / _START).is_file() or _config_of(images) is not None:
            return images
    return None


def read_buildroot(folder: Path) -> BuildOutput:
    """Return what is in a Buildroot output folder. Raises InputError for one that cannot be booted."""
    images = find_images(folder) or (folder / "images" if (folder / "images").is_dir() else folder)
    path = _config_of(images)
    text = read_small(path) if path is not None else ""
    options = parse_assignments(text)
    version = head[1] if (head := _HEAD.search(text)) else ""
    defconfig = Path(options.get("BR2_DEFCONFIG", "")).name
    about = " ".join(["Buildroot", version, *([f"({defconfig})"] if defconfig else [])]).replace("  ", " ").strip()
    found = BuildOutput(
        tool=BuildTool.BUILDROOT,
        folder=images,
        about=about,
        name=defconfig.removesuffix("_defconfig") or _folder_name(images),
        guest=QemuCommand(""),
        settings=options,
    )
    start = images / _START
    if start.is_file():
        _as_started(found, start)
    else:
        found.missing.append(f"{_START} (only Buildroot's QEMU defconfigs have it)")
        _as_configured(found, options)
    _from_the_build(found, images.parent / "build", options)
    if path is not None and options.get(_GETTY) != "y":
        found.remarks.append(f"{_GETTY} is not set, so no login prompt may come: booted.console says what does")
    _note_the_rest(found, options)
    return found


def _config_of(images: Path) -> Path | None:
    # Without O= the configuration lies in Buildroot's own tree, beside output/.
    for path in (images.parent / ".config", images.parent.parent / ".config"):
        if path.is_file() and _HEAD.search(read_small(path)[:400]):
            return path
    return None


def _folder_name(images: Path) -> str:
    named = [one for one in (images, *images.parents) if one.name not in ("images", "output", "")]
    return named[0].name if named else "buildroot"


def _as_started(found: BuildOutput, script: Path) -> None:
    # As a shell reads it: a line that ends in a backslash goes on in the next one.
    text = _CONTINUED.sub("", read_small(script))
    lines = [line for line in text.splitlines() if "qemu-system-" in line]
    if not lines:
        raise InputError(f"{script}: no qemu-system-... is called in it")
    found.guest = guest = parse_qemu_words(lines[-1], str(script))
    found.also[script.name] = "how Buildroot starts QEMU: the machine, and the kernel's command line, are from it"
    images = found.folder
    found.kernel, found.initramfs, found.firmware = (
        images / name if name is not None else None for name in (guest.kernel, guest.initrd, guest.bios)
    )
    drives = [(images / one.file, one) for one in guest.drives]
    if found.kernel is None and drives:
        path, drive = drives.pop(0)
        found.card, found.image = (path, None) if drive.attach == "sd" else (None, path)
    elif drives and "root=/dev/" in guest.cmdline:
        path, drive = drives.pop(0)
        found.rootfs = path
        if drive.attach != "virtio":
            found.remarks.append(f"{path.name} is attached by {drive.attach} there, and here by virtio, as /dev/vda")
            guest.cmdline = _ROOT_DISK.sub("root=/dev/vda", guest.cmdline)
    for path, drive in drives:
        if drive.attachment is None:
            guest.left_out[f"-drive {drive.file}"] = f"no disk here is attached by {drive.attach}"
        else:
            found.disks.append((path, drive.attachment))


def _as_configured(found: BuildOutput, options: dict[str, str]) -> None:
    images = found.folder
    kernel = next((images / one for one in _KERNELS if (images / one).is_file()), None)
    arch = _ARCHITECTURES.get(options.get("BR2_ARCH", ""), "")
    if "BR2_ARCH" not in options and kernel is not None:
        # Images that were copied away from their configuration.
        arch = inspect(kernel).arch
    trees = [Path(one).name for one in options.get("BR2_LINUX_KERNEL_INTREE_DTS_NAME", "").split()]
    card = next((_CARD_BOARDS[one] for one in trees if one in _CARD_BOARDS), None)
    if card is not None and (images / "sdcard.img").is_file():
        found.guest, found.card = QemuCommand("armv7", machine=card, memory_mib=1024, vcpus=4), images / "sdcard.img"
        found.kernel = kernel
        return
    if arch not in _CONSOLES:
        said = options.get("BR2_ARCH") or arch or "what is not said: there is neither a .config nor a kernel"
        raise InputError(
            f"{images}: built for {said}, and bootlab has no machine for it",
            hint=f"it emulates {', '.join(_CONSOLES)}, and boots a real board by [target]: docs/serial.md",
        )
    machine = "q35" if arch == "x86_64" else "virt"
    found.guest = QemuCommand(arch, machine=machine, memory_mib=_MEMORY_MIB, network=True)
    disk = next((images / one for one in ("disk.img", "sdcard.img") if (images / one).is_file()), None)
    if arch == "x86_64" and disk is not None:
        found.image = disk
        return
    found.kernel = kernel
    if found.kernel is None:
        raise InputError(
            f"{images}: no kernel in it: none of {', '.join(_KERNELS)}",
            hint="BR2_LINUX_KERNEL=y builds one; docs/outputs.md says what is looked for",
        )
    words = [f"console={_CONSOLES[arch]}"]
    archives = [images / f"rootfs.cpio{one}" for one in _PACKED]
    found.rootfs = next((images / f"{one}{end}" for one in _ROOTS for end in _PACKED if _is(images, one, end)), None)
    if found.rootfs is not None:
        words = ["root=/dev/vda", "rootwait", *words]
    elif options.get("BR2_TARGET_ROOTFS_INITRAMFS") == "y":
        found.also["rootfs.cpio"] = "the kernel has it inside (BR2_TARGET_ROOTFS_INITRAMFS)"
    else:
        found.initramfs = next((one for one in archives if one.is_file()), None)
        if found.initramfs is None:
            found.missing.append(f"a root file system: {', '.join(_ROOTS)} or rootfs.cpio")
    found.guest.cmdline = " ".join(words)
    if trees or disk is not None:
        found.remarks.append(
            f"booted on QEMU's {machine}, which is not its board"
            + (f" ({', '.join(trees)})" if trees else "")
            + ": drivers and times of the board's own are not seen"
        )


def _is(images: Path, name: str, ending: str) -> bool:
    return (images / f"{name}{ending}").is_file()


def _from_the_build(found: BuildOutput, build: Path, options: dict[str, str]) -> None:
    trees = [one for one in sorted(build.glob("linux-*")) if (one / ".config").is_file()]
    trees = [one for one in trees if not one.name.startswith(("linux-headers", "linux-firmware", "linux-tools"))]
    if len(trees) != 1:
        what = "no folder" if not trees else f"{len(trees)} folders"
        found.missing.append(f"the kernel's configuration: {what} build/linux-*/ with a .config")
        return
    tree = trees[0]
    config = tree / ".config"
    if found.kernel is not None and "KALLSYMS" not in read_config(config):
        found.symbols = next((one for one in (tree / "vmlinux", tree / "System.map") if one.is_file()), None)
    archive = _tarball(tree, options)
    if archive is None:
        found.missing.append("the kernel's source, as a tarball in BR2_DL_DIR: the tree in build/ was built in")
        return
    listed = tree / ".applied_patches_list"
    lines = read_small(listed).splitlines() if listed.is_file() else []
    patches = [_top(tree) / line for line in lines if line]
    if gone := [one for one in patches if not one.is_file()]:
        found.missing.append(f"{len(gone)} patches of the kernel, {gone[0]} first: no kernel can be built as this one")
        return
    found.source = KernelSource(archive, config, tuple(patches))


def _tarball(tree: Path, options: dict[str, str]) -> Path | None:
    location = options.get("BR2_LINUX_KERNEL_CUSTOM_TARBALL_LOCATION", "").replace("file://", "", 1)
    if location and Path(location).is_file():
        return Path(location)
    downloads = options.get("BR2_DL_DIR", "").replace("$(TOPDIR)", str(_top(tree)))
    name = Path(location).name if location else ""
    folder = Path(downloads or _top(tree) / "dl") / "linux"
    wanted = [folder / name] if name else [folder / f"{tree.name}.tar.{end}" for end in ("xz", "gz", "bz2")]
    return next((one for one in wanted if one.is_file()), None)


def _top(tree: Path) -> Path:
    # Buildroot's own tree, where output/ lies in it; with O= its Makefile there says where it is.
    output = tree.parent.parent
    makefile = output / "Makefile"
    said = _TREE.search(read_small(makefile)) if makefile.is_file() else None
    return Path(said[1]) if said is not None else output.parent


def _note_the_rest(found: BuildOutput, options: dict[str, str]) -> None:
    booted = {os.path.realpath(path) for path in parts_of(found)}
    for path in sorted(found.folder.iterdir()):
        if not path.is_file() or os.path.realpath(path) in booted:
            continue
        if path.suffix == ".dtb":
            found.also.setdefault(path.name, "a device tree: the machine has QEMU's own")
        elif _LOADERS.fullmatch(path.name):
            found.also.setdefault(path.name, "a bootloader: QEMU starts the kernel itself")
        else:
            found.also.setdefault(path.name, "not booted")
    for key, what in (
        ("BR2_LINUX_KERNEL_CONFIG_FRAGMENT_FILES", "fragments, in the kernel's configuration already"),
        ("BR2_ROOTFS_OVERLAY", "an overlay, in the root file system already"),
    ):
        if options.get(key):
            found.also[key] = f"{options[key]}: {what}"
