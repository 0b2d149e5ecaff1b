"""Yocto's deploy folder: an image's qemuboot.conf says how runqemu boots it, and with which kernel and root.

    tmp/deploy/images/qemux86-64/core-image-minimal-qemux86-64.rootfs.qemuboot.conf
    [config_bsp]  qb_default_kernel = bzImage--6.12...bin  qb_machine = -machine q35  qb_mem = -m 256  ...

What runqemu makes of these keys (OE-core's scripts/runqemu: check_*, setup_*), with slirp and the first serial console.
"""

import configparser
import glob
import json
import os
import re
from pathlib import Path
from typing import Any, Final

from bootlab.build.outputs.assignments import read_small
from bootlab.build.outputs.output import BuildOutput, BuildTool, KernelSource
from bootlab.build.outputs.parts import parts_of
from bootlab.build.outputs.qemu_words import parse_qemu_words
from bootlab.build.source.config_text import read_config
from bootlab.errors import InputError

CONF: Final = ".qemuboot.conf"
_SECTION: Final = "config_bsp"
_BELOW: Final = ("", "deploy/images", "images", "tmp/deploy/images", "build/tmp/deploy/images")
_UNPACKED: Final = (".zst", ".gz", ".xz", ".bz2")
_DISKS: Final = ("wic", "hddimg")
_ARCHIVES: Final = ("cpio", "cpio.gz", "cpio.xz", "cpio.zst", "cpio.lz4", "cpio.lzma")
_ROOTS: Final = ("ext4", "ext3", "ext2", "squashfs", "squashfs-xz", "squashfs-zst", "squashfs-lz4", "erofs", "btrfs")
# What changes nothing that is booted, though it is in the same folder.
_LOADERS: Final = re.compile(r"(u-boot|fw_|bl31|ovmf|grub|systemd-boot|syslinux|bootx64|tf-a|opensbi).*", re.IGNORECASE)


def find_confs(folder: Path) -> list[Path]:
    """Return the qemuboot.conf of each image in a deploy folder, or in the one machine's below it; none elsewhere.

    Each is listed once, by its link where it has one.
    """
    for below in _BELOW:
        place = folder / below if below else folder
        for pattern in (f"*{CONF}", f"*/*{CONF}"):
            found = [path for path in sorted(place.glob(pattern)) if path.is_file()]
            if found:
                return _once(found)
    return []


def read_yocto(folder: Path) -> BuildOutput:
    """Return what the one image in a deploy folder is. Raises InputError where there is none, or several."""
    confs = find_confs(folder)
    if len(confs) == 1:
        return read_conf(confs[0])
    if confs:
        listed = "".join(f"\n  {path}" for path in confs[:20])
        raise InputError(f"{folder}: {len(confs)} images, each with its own qemuboot.conf:{listed}", hint="name one")
    raise InputError(
        f"{folder}: no *{CONF} in it: that file says which kernel and root are an image, and on which machine",
        hint='IMAGE_CLASSES += "qemuboot" writes it; QEMU\'s machines have it by themselves',
    )


def read_conf(conf: Path) -> BuildOutput:
    """Return what an image is by its qemuboot.conf. Raises InputError for one that cannot be booted."""
    keys = _keys(conf)
    folder = conf.parent
    machine = Path(keys.get("machine", "")).name
    link = Path(keys.get("image_link_name") or conf.name.removesuffix(CONF)).name
    kind, path = _root(folder, keys, conf)
    data = _test_data(folder, link, keys)
    version = " ".join(filter(None, [data.get("DISTRO_NAME", "Yocto"), data.get("DISTRO_VERSION", "")]))
    found = BuildOutput(
        tool=BuildTool.YOCTO,
        folder=folder,
        about=f"{version}: {link}",
        name=link,
        guest=parse_qemu_words(_command(keys, conf), str(conf)),
        settings=data,
    )
    if kind in _DISKS and "wic:no-kernel-in-fs" not in keys.get("qb_fsinfo", ""):
        found.image = path
    else:
        found.kernel = _kernel(folder, keys, conf)
        if kind in _ARCHIVES:
            found.initramfs = path
        elif path is not None:
            found.rootfs = path
    bios = Path(keys.get("qb_default_bios", "")).name
    found.firmware = folder / bios if bios not in ("", "none") and found.kernel is not None else None
    found.guest.cmdline = _command_line(found, keys, kind)
    _consoles(found, keys)
    _source(found, folder, machine, data)
    _note_the_rest(found, link, conf)
    return found


def _keys(conf: Path) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(read_small(conf))
    except configparser.Error as error:
        raise InputError(f"{conf}: not a qemuboot.conf: {str(error).splitlines()[0]}") from error
    if not parser.has_section(_SECTION):
        raise InputError(f"{conf}: not a qemuboot.conf: it has no [{_SECTION}]")
    return dict(parser.items(_SECTION))


def _command(keys: dict[str, str], conf: Path) -> str:
    program = keys.get("qb_system_name") or _program(keys.get("machine", ""))
    if not program:
        raise InputError(f"{conf}: QB_SYSTEM_NAME is empty: it says which QEMU runs the image")
    memory = keys.get("qb_mem", "") or "-m 256"
    memory = re.sub(r"^(?:-m *)?(\d+)[mM]?$", r"-m \1", memory.strip())
    words = ("qb_machine", "qb_cpu", "qb_smp", "qb_network_device", "qb_rng", "qb_opt_append", "qb_graphics")
    return " ".join([program, memory, *(keys.get(key, "").replace("@MAC@", "52:54:00:12:34:02") for key in words)])


def _program(machine: str) -> str:
    # What runqemu takes a machine for that says nothing (guess_qb_system).
    known = {"qemux86-64": "x86_64", "qemuarm64": "aarch64", "qemuriscv64": "riscv64", "qemuarm": "arm"}
    return f"qemu-system-{known[machine]}" if machine in known else ""


def _kernel(folder: Path, keys: dict[str, str], conf: Path) -> Path:
    # Names, and never a way to another folder or a pattern.
    said, kind = (Path(keys.get(key, "")).name for key in ("qb_default_kernel", "kernel_imagetype"))
    for name in filter(None, (said, kind)):
        if (folder / name).is_file():
            return folder / name
    started = [path for path in sorted(folder.glob(f"{glob.escape(kind)}*")) if path.is_file()] if kind else []
    if started:
        return started[0]
    raise InputError(f"{conf}: its kernel is not there: {said or 'QB_DEFAULT_KERNEL is empty'}", hint=f"in {folder}")


def _root(folder: Path, keys: dict[str, str], conf: Path) -> tuple[str, Path | None]:
    # A name, and never a way to another folder.
    names = [Path(name).name for name in (keys.get("image_link_name"), keys.get("image_name")) if name]
    wanted = keys.get("qb_default_fstype", "") or "ext4"
    if wanted == "none" or keys.get("qb_rootfs") == "none":
        return "none", None
    plain = wanted.removesuffix(next((end for end in _UNPACKED if wanted.endswith(end)), "\0"))
    kinds = [wanted, plain, *_ROOTS, *(f"{one}.zst" for one in _ROOTS), *_ARCHIVES, *_DISKS, "wic.zst"]
    for kind in dict.fromkeys(kinds):
        for name in names:
            path = folder / f"{name}.{kind}"
            if path.is_file():
                base = kind if kind in _ARCHIVES else kind.split(".")[0]
                return base, path
    raise InputError(
        f"{conf}: its root file system is not there: {names[0] if names else '*'}.{wanted}",
        hint=f"IMAGE_FSTYPES makes it; looked in {folder}",
    )


def _command_line(found: BuildOutput, keys: dict[str, str], kind: str) -> str:
    if found.kernel is None:
        return ""
    if found.initramfs is not None:
        root = "root=/dev/ram0 rw debugshell"
    elif found.rootfs is None:
        root = ""
    else:
        said = keys.get("qb_kernel_root", "") or "/dev/vda"
        device, *options = said.split()
        if not device.startswith("/dev/vda"):
            here = f"/dev/vda{device[len(device.rstrip('0123456789')) :]}"
            found.remarks.append(f"its root is {device} for runqemu, and here on the first virtio disk, {here}")
            said = " ".join([here, *options])
        root = f"root={said}" + ("" if {"ro", "rw"} & set(said.split()) else " rw")
    ip = (keys.get("qb_cmdline_ip_slirp") or "ip=dhcp") if found.guest.network else ""
    return " ".join(" ".join([root, ip, keys.get("qb_kernel_cmdline_append", "")]).split())


def _consoles(found: BuildOutput, keys: dict[str, str]) -> None:
    named = [entry.partition(";")[2] for entry in keys.get("serial_consoles", "").split()]
    named = [one for one in named if one]
    if found.kernel is not None and named:
        words = [f"console={named[0]}"]
        found.guest.cmdline = " ".join([*found.guest.cmdline.split(), *words])
    for one in named[1:]:
        found.guest.left_out[f"console={one}"] = "bootlab's guests have one serial port; its getty finds none"


def _test_data(folder: Path, link: str, keys: dict[str, str]) -> dict[str, str]:
    for name in filter(None, (link, Path(keys.get("image_name", "")).name)):
        path = folder / f"{name}.testdata.json"
        if path.is_file():
            try:
                read: Any = json.loads(read_small(path))
            except (ValueError, RecursionError) as error:
                raise InputError(f"{path}: not JSON: {error}") from error
            return (
                {key: value for key, value in read.items() if isinstance(value, str)} if isinstance(read, dict) else {}
            )
    return {}


def _source(found: BuildOutput, folder: Path, machine: str, data: dict[str, str]) -> None:
    # TMPDIR/deploy/images/MACHINE -> TMPDIR/work-shared/MACHINE/kernel-source (kernel.bbclass, STAGING_KERNEL_DIR).
    tmp = folder.parent.parent.parent
    shared = tmp / "work-shared" / machine
    source, config = shared / "kernel-source", shared / "kernel-build-artifacts" / ".config"
    if machine and (source / "Makefile").is_file() and config.is_file():
        found.source = KernelSource(source, config)
        if found.kernel is not None and "KALLSYMS" not in read_config(config):
            found.symbols = next(iter(sorted(config.parent.glob("System.map-*"))), None)
    else:
        found.missing.append(f"the kernel's source and configuration: {shared}/kernel-source, kernel-build-artifacts")
    if kernel := data.get("PREFERRED_PROVIDER_virtual/kernel"):
        found.also["PREFERRED_PROVIDER_virtual/kernel"] = f"{kernel}: the recipe of its kernel"


def _note_the_rest(found: BuildOutput, link: str, conf: Path) -> None:
    # Path.resolve() refuses a link that leads in a circle; such a one is no file, and nothing is said of it.
    booted = {os.path.realpath(path) for path in parts_of(found)}
    links = {os.path.realpath(path) for path in found.folder.iterdir() if path.is_symlink()}
    found.also[conf.name] = "how runqemu boots the image: the machine, and the kernel's command line, are from it"
    for path in sorted(found.folder.iterdir()):
        place = os.path.realpath(path)
        if not path.is_file() or place in booted or (place in links and not path.is_symlink()):
            continue
        if path.suffix == ".dtb":
            found.also.setdefault(path.name, "a device tree: the machine has QEMU's own")
        elif _LOADERS.match(path.name):
            found.also.setdefault(path.name, "a bootloader: QEMU starts the kernel itself")
        elif path.name.startswith(link) and path.suffix not in (".json", ".conf"):
            found.also.setdefault(path.name, "not booted")


def _once(confs: list[Path]) -> list[Path]:
    links = [path for path in confs if path.is_symlink()]
    targets = {path.resolve() for path in links}
    return sorted([*links, *(path for path in confs if path not in links and path.resolve() not in targets)])
