"""Why the kernel found no root: an initramfs it ignored, a disk it does not drive, a file system it cannot read.

The kernel says the same panic for all of them (init/do_mounts.c), so what the system offers is held against what the
configuration can take.
"""

import re

from bootlab.measure.causes.guest_files import GuestFiles
from bootlab.measure.causes.kernel_options import KernelOptions
from bootlab.system import BootFiles, FileSystem, MachineType, System

# The last two: a kernel without block devices mounts nothing, and runs whatever init the initramfs may hold.
_NO_ROOT = re.compile(
    r"VFS: (?:Unable to mount root fs|Cannot open root device)|No working init found|Run /sbin/init as init process"
)
_NOT_MOUNTED = re.compile(r"bootlab: no root: ([^\r\n]+)")
"""What the /init of initramfs.mount_root says before it gives up (guest/mount_root.sh)."""
_MOUNTED = "VFS: Mounted root"
_UNPACKING = re.compile(r"Initramfs unpacking failed: (.*)")
_NOT_CONFIGURED = re.compile(r"compression method (\S+) not configured")
_NO_FILE_SYSTEM = "No filesystem could mount root"
_MAGICS = {
    b"\x1f\x8b": "GZIP", b"BZh": "BZIP2", b"\x5d\x00\x00": "LZMA", b"\xfd7zXZ": "XZ", b"\x89LZO": "LZO",
    b"\x02\x21\x4c\x18": "LZ4", b"\x28\xb5\x2f\xfd": "ZSTD",
}  # fmt: skip
_DRIVERS = {FileSystem.EXT4: "EXT4_FS", FileSystem.SQUASHFS: "SQUASHFS", FileSystem.EROFS: "EROFS_FS"}
_UNPACKERS = {FileSystem.SQUASHFS: "SQUASHFS_{}", FileSystem.EROFS: "EROFS_FS_ZIP_{}"}
_SQUASHFS = re.compile(r'squashfs.*Filesystem uses "(\w+)" compression. This is not supported', re.IGNORECASE)


def find_root_cause(
    system: System, console: str, options: KernelOptions, files: BootFiles | None, held: GuestFiles | None
) -> str | None:
    """Return why there was no root to go on with, or None. `held` is what the initramfs carries, if that is known."""
    if (said := _NOT_MOUNTED.search(console)) is not None:
        return said[1].strip()
    unpacking = _UNPACKING.search(console)
    if unpacking is not None:
        return _unpacking(unpacking[1].strip(), options)
    if _NO_ROOT.search(console) is None:
        return None
    words = dict(word.split("=", 1) for word in system.kernel.cmdline.split() if "=" in word)
    if system.initramfs is not None and "root" not in words:
        return _initramfs_ignored(system, words, console, options, files, held)
    if "root" not in words:
        return "the kernel command line names no root: root=/dev/vda is the first disk, or give an [initramfs]"
    return _disk(system, words["root"], console, options)


def _unpacking(message: str, options: KernelOptions) -> str:
    if (method := _NOT_CONFIGURED.search(message)) is not None:
        name = method[1].upper()
        blame = options.blame(f"RD_{name}") or f"CONFIG_RD_{name} is missing"
        return f"the initramfs is compressed with {method[1]}, and {blame}"
    if "write error" in message or "memory" in message:
        return "the initramfs does not fit into memory once it is unpacked: raise machine.memory_mib"
    return f"the initramfs cannot be unpacked ({message}): is it a newc archive, in a compression of the kernel's?"


def _initramfs_ignored(
    system: System,
    words: dict[str, str],
    console: str,
    options: KernelOptions,
    files: BootFiles | None,
    held: GuestFiles | None,
) -> str | None:
    said = "the kernel found no init in the initramfs, and went on to look for another"
    needed = ["BLK_DEV_INITRD"]
    archive = files.initramfs if files is not None else None
    if archive is not None:
        with archive.open("rb") as file:
            start = file.read(8)
        needed += [f"RD_{name}" for magic, name in _MAGICS.items() if start.startswith(magic)]
    if options.off(*needed):
        return f"{said}: {options.blame(*needed)}"
    init = words.get("rdinit", "/init")
    if held is not None and held.complete:
        entry = held.find(init)
        if entry is None:
            return f"{said}: there is no {init} in it"
        if not entry.mode & 0o111:
            return f"{said}: its {init} is not executable: chmod +x"
    if not options.known and "npack" not in console and "quiet" not in system.kernel.cmdline.split():
        return f"{said}, and did not unpack one: {options.blame('BLK_DEV_INITRD')}"
    return None


def _disk(system: System, root: str, console: str, options: KernelOptions) -> str | None:
    if _MOUNTED in console:
        if "No working init found" not in console:
            return None
        return f"root={root} was mounted, and holds no init: init=PATH on the command line says which program it is"
    if not system.disks and system.rootfs is None:
        return f"root={root}, and the system has no disk: give [rootfs] or [[disks]]"
    driver = _driver_options(system)
    if system.machine.type is MachineType.MICROVM and "VIRTIO_MMIO" in driver and not options.off(*driver):
        # Only the ACPI tables, or words that QEMU adds to the command line, tell where the devices are.
        place = "VIRTIO_MMIO_CMDLINE_DEVICES" if _without_acpi(system) else "ACPI"
        driver.append(place)
    if modules := options.modules(*driver, *_file_system_options(system)):
        said = ", ".join(f"CONFIG_{name}" for name in modules)
        return f"root={root}: {said} = m, and nothing loads a module before there is a root: build it in (= y)"
    device = root.removeprefix("/dev/")
    listed = re.search(rf"\b{re.escape(device)}\b\s*(?:\n|$|[0-9a-f-]*\s)", _partitions(console)) is not None
    if not listed and options.off(*driver):
        return f"root={root}: the kernel sees no such disk: {options.blame(*driver)}"
    if (squashed := _SQUASHFS.search(console)) is not None:
        return f"root={root}: {options.blame(f'SQUASHFS_{squashed[1].upper()}')}"
    wanted = _file_system_options(system)
    if wanted and options.off(*wanted):
        return f"root={root}: the disk is there, and its file system cannot be read: {options.blame(*wanted)}"
    if not options.known and not listed:
        return f"root={root}: the kernel sees no such disk; built in it must have {_all(driver)}"
    if not options.known or _NO_FILE_SYSTEM in console:
        kind = system.rootfs.filesystem.value if system.rootfs is not None and system.rootfs.path is None else "its"
        return f"root={root}: no file system of this kernel could read it: it needs the driver of {kind} file system"
    return None


def _driver_options(system: System) -> list[str]:
    if system.rootfs is not None and system.rootfs.device == "pmem":
        return ["BLOCK", "ACPI", "ACPI_NFIT", "LIBNVDIMM", "BLK_DEV", "BLK_DEV_PMEM"]
    if system.rootfs is not None and system.rootfs.device == "nvme":
        return ["BLOCK", "PCI", "BLK_DEV_NVME"]
    driver = ["BLK_DEV", "VIRTIO_BLK"]
    if system.rootfs is not None and system.rootfs.device == "scsi":
        driver = ["SCSI", "SCSI_LOWLEVEL", "SCSI_VIRTIO", "BLK_DEV_SD"]
    if system.machine.type is MachineType.MICROVM and system.machine.options.get("pcie") != "on":
        return ["BLOCK", "VIRTIO_MENU", "VIRTIO_MMIO", *driver]
    return ["BLOCK", "PCI", "VIRTIO_MENU", "VIRTIO_PCI", *driver]


def _file_system_options(system: System) -> list[str]:
    root = system.rootfs
    if root is None:
        # A disk of bootlab's making is ext4; of an image given by path nothing is known.
        return ["EXT4_FS"] if system.disks and system.disks[0].size_mib is not None else []
    if root.path is not None:
        return []
    names = [_DRIVERS[root.filesystem]]
    if root.filesystem in _UNPACKERS and root.compression.value not in ("none", "lz4", "gzip"):
        names.append(_UNPACKERS[root.filesystem].format(root.compression.value.upper()))
    return names


def _without_acpi(system: System) -> bool:
    return system.machine.options.get("acpi") == "off" or "acpi=off" in system.kernel.cmdline.split()


def _partitions(console: str) -> str:
    # Between these lines the kernel lists what block devices it has (printk_all_partitions()).
    found = re.search(
        r"(?:available partitions|List of all partitions):(.*?)(?:panic|tried:|List of all bdev)", console, re.S
    )
    return found[1] if found is not None else ""


def _all(names: list[str]) -> str:
    return ", ".join(f"CONFIG_{name}" for name in names)
