"""Put the initramfs's files on a disk, and have the kernel mount it."""

from bootlab.errors import InputError
from bootlab.system import Content, FileSystem, MachineType, Rootfs, System
from bootlab.techniques.build_options import option_value
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Layer, Measured, Risk, Source, Technique


def _options(system: System) -> dict[str, str]:
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


def _applies(system: System, measured: Measured) -> str | None:
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
        wanted = [option for option in _options(system) if option_value(system, measured, option) not in ("y", None)]
        if wanted:
            return f"the kernel cannot mount a disk by itself: {', '.join(wanted)} is not built in"
    return None


def _apply(system: System, measured: Measured) -> System:
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
    return changed.with_options(**_options(system)) if changed.kernel.build is not None else changed


TECHNIQUE = Technique(
    name="initramfs_on_disk",
    layer=Layer.INITRAMFS,
    summary="keeps the files of the initramfs on an ext4 disk that the kernel mounts",
    mechanism=(
        "Only what is opened is read, where an archive is loaded and unpacked as a whole, used or not. In return the "
        "kernel must set up disks and a file system before init."
    ),
    knob="[rootfs] with what [initramfs] held, and root=/dev/vda on the command line",
    cost="the kernel needs the drivers of disk and file system built in, and init waits for the disk",
    risk=Risk.FUNCTION,
    sources=(
        Source("initramfs 9.660 s in all, ext4 9.862 s: it loses there", "BL: Bootlin boot-time training slides"),
    ),
    apply=_apply,
    prove=line_appears(r"VFS: Mounted root \(ext4 filesystem\)"),
    applies=_applies,
)
