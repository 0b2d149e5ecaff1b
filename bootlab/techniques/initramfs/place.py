"""Where the files of the initramfs lie instead: inside the kernel, or on a disk."""

from bootlab.errors import InputError
from bootlab.system import Content, FileSystem, MachineType, Rootfs, System
from bootlab.techniques.changes.kernel_options import NOT_BUILT, option_value
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.proofs import find_line, line_appears
from bootlab.techniques.model.published import BOOTLIN_2019, BOOTLIN_TRAINING, Published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_SOURCE = "INITRAMFS_SOURCE"


def _lies_beside(system: System, measured: Measured) -> str | None:
    if system.initramfs is None:
        return "the system has no initramfs"
    if system.kernel.build is None:
        return NOT_BUILT
    return "the initramfs is inside the kernel already" if system.initramfs.embedded else None


def _is_inside(after: Evidence, before: Evidence) -> Effect:
    # A kernel that was handed an archive frees it, and says so; an x86 one says where it lay.
    if find_line(after.facts, after.console, r"^Freeing initrd memory|^RAMDISK: \[mem") is not None:
        return Effect.NONE
    inside, was = (bool(side.kernel_config.get(_SOURCE)) for side in (after, before))
    if not after.kernel_config or not before.kernel_config:
        return Effect.NOT_SHOWN
    if not inside:
        return Effect.NONE
    return Effect.NOT_SHOWN if was else Effect.PROVEN


def _disk_options(system: System) -> dict[str, str]:
    names = ["BLOCK", "BLK_DEV", "VIRTIO_MENU", "VIRTIO_BLK", "EXT4_FS", "DEVTMPFS", "DEVTMPFS_MOUNT"]
    machine = system.machine
    if machine.type is not MachineType.MICROVM or machine.options.get("pcie") == "on":
        names += ["PCI", "VIRTIO_PCI"]
    else:
        names.append("VIRTIO_MMIO")
        if machine.options.get("acpi") == "off":
            # QEMU then names the devices on the command line.
            names.append("VIRTIO_MMIO_CMDLINE_DEVICES")
    return dict.fromkeys(names, "y")


def _can_be_mounted(system: System, measured: Measured) -> str | None:
    recipe = system.initramfs
    if recipe is None:
        return "the system has no initramfs"
    if recipe.path is not None:
        return "initramfs.path is a finished archive; bootlab packs only what it builds from a recipe"
    if system.rootfs is not None:
        return "the system has a root file system already"
    if system.disks:
        return "the system's other disks would change their names: /dev/vda becomes /dev/vdb"
    if system.kernel.build is None:
        wanted = [
            option for option in _disk_options(system) if option_value(system, measured, option) not in ("y", None)
        ]
        if wanted:
            return f"the kernel cannot mount a disk by itself: {', '.join(wanted)} is not built in"
    return None


def _on_a_disk(system: System, measured: Measured) -> System:
    recipe = system.initramfs
    if recipe is None:
        raise InputError("the system has no initramfs")
    content = {name: getattr(recipe, name) for name in Content.model_fields}
    init = "/init" if recipe.init is not None else "/sbin/init"
    words = [word for word in system.kernel.cmdline.split() if not word.startswith("rdinit=")]
    for word in system.kernel.cmdline.split():
        if word.startswith("rdinit="):
            init = word.partition("=")[2]
    words += ["root=/dev/vda", "rootfstype=ext4", "rw", f"init={init}"]
    root = Rootfs.model_validate({**content, "filesystem": FileSystem.EXT4})
    changed = system.model_copy(update={"rootfs": root, "initramfs": None}).with_part("kernel", cmdline=" ".join(words))
    return changed.with_options(**_disk_options(system)) if changed.kernel.build is not None else changed


TECHNIQUES = (
    Technique(
        name="initramfs_embedded",
        text=Text(
            summary="builds the initramfs into the kernel, where only the kernel's own compression is over it",
            mechanism=(
                "One file is loaded instead of two, and the archive is not unpacked a second time: what "
                "the kernel's decompressor has laid into memory is copied from there."
            ),
            cost="each change of a file builds the kernel again",
            risk=Risk.NONE,
            published=(Published("-170 ms, -200 KB (BBB, 1.6 MB initramfs)", BOOTLIN_2019),),
        ),
        change=Change(
            Layer.INITRAMFS,
            "initramfs.embedded = true (CONFIG_INITRAMFS_SOURCE, CONFIG_INITRAMFS_COMPRESSION_NONE)",
            lambda system, measured: system.with_part("initramfs", embedded=True),
            _lies_beside,
        ),
        proof=Proof(_is_inside),
    ),
    Technique(
        name="initramfs_on_disk",
        text=Text(
            summary="keeps the files of the initramfs on an ext4 disk that the kernel mounts",
            mechanism=(
                "Only what is opened is read, where an archive is loaded and unpacked as a whole, used or "
                "not. In return the kernel must set up disks and a file system before init."
            ),
            cost="the kernel needs the drivers of disk and file system built in, and init waits for the disk",
            risk=Risk.FUNCTION,
            published=(Published("initramfs 9.660 s in all, ext4 9.862 s: it loses there", BOOTLIN_TRAINING),),
        ),
        change=Change(
            Layer.INITRAMFS,
            "[rootfs] with what [initramfs] held, and root=/dev/vda on the command line",
            _on_a_disk,
            _can_be_mounted,
        ),
        proof=line_appears(r"VFS: Mounted root \(ext4 filesystem\)"),
    ),
)
