"""What a system needs of its kernel's configuration, held against it before anything is booted."""

from collections.abc import Mapping

from bootlab.errors import InputError
from bootlab.system import KernelEntry, PowerOnKind, System


def expect_options(system: System, options: Mapping[str, str]) -> None:
    """Raise InputError for a kernel without what the system needs; `options`: of its configuration, as in `SMP="y"`."""
    missing = [option for option in system.appended_tree_options if options.get(option) != "y"]
    if missing:
        set_so = ", ".join(f"{option} = true" for option in missing)
        raise InputError(
            f'card.device_tree: "appended" needs a kernel with {" and ".join(missing)}, and this one is without',
            hint=f'kernel.build.options: {set_so}; or card.device_tree = "separate"',
        )
    if system.kept_ram is not None and system.kept_ram.dax and options.get("FS_DAX") != "y":
        raise InputError(
            "rootfs.kept_ram.dax needs a kernel with FS_DAX, and this one is without",
            hint="kernel.build.options: FS_DAX = true; of Debian's kernels those for amd64 have it, "
            "and since Debian 13 those for arm64",
        )
    _expect_looked_at(system, options)
    if system.hibernated_by_loader:
        _expect_hibernates(options)


def _expect_hibernates(options: Mapping[str, str]) -> None:
    needed = {
        "HIBERNATION": "it writes an image",
        "SUSPEND": "its interrupt controller is restored",
        "HIBERNATION_COMP_LZ4": "SPL unpacks no other",
        "SWAP": "the image lies in a swap area",
        "MMC_SUNXI": "that is on the card",
    }
    missing = [option for option in needed if options.get(option) != "y"]
    if missing:
        said = ", ".join(f"{option} ({needed[option]})" for option in missing)
        raise InputError(
            f"card.swap_mib needs a kernel with {said}, and this one is without",
            hint="kernel.build.fragments: as examples/persistence/hibernated-board.config has them",
        )


def _expect_looked_at(system: System, options: Mapping[str, str]) -> None:
    if system.power_on is None or system.power_on.kind is not PowerOnKind.HIBERNATED:
        return
    if (
        options.get("HIBERNATION") == options.get("VIRTIO_BLK") == "y"
        and "noresume" not in system.kernel.cmdline.split()
    ):
        raise InputError(
            "kernel.cmdline: this kernel has its disk's driver built in, so it would take an image by itself, before "
            "bootlab-sleep has looked whether it is of this machine",
            hint="noresume leaves it to the initramfs",
        )


def expect_restorer(system: System, options: Mapping[str, str], restored: Mapping[str, str]) -> None:
    """Raise InputError for a restorer's kernel without what it needs for the system's.

    `options`: of its configuration; `restored`: of the kernel whose image it takes, empty where that is not known.
    """
    needed = {"HIBERNATION": "it takes up an image", "KEXEC": "without an image it enters the system's own kernel"}
    missing = [f"{option} ({why})" for option, why in needed.items() if options.get(option) != "y"]
    if missing:
        raise InputError(
            f"restorer.kernel: without {' and '.join(missing)}",
            hint="restorer.kernel.build.options: " + ", ".join(f"{option} = true" for option in needed),
        )
    levels = [bool(options.get("X86_5LEVEL") == "y"), bool(restored.get("X86_5LEVEL") == "y")]
    if system.kernel.entry is KernelEntry.IMAGE and restored and levels[0] != levels[1]:
        raise InputError(
            "restorer.kernel: X86_5LEVEL is y of one kernel and not of the other: where the processor has five levels "
            "of page tables, one would go on with the other's number of them",
            hint=f"restorer.kernel.build.options: X86_5LEVEL = {str(levels[1]).lower()}",
        )
