"""What a system needs of its kernel's configuration, held against it before anything is booted."""

from collections.abc import Mapping

from bootlab.errors import InputError
from bootlab.system import PowerOnKind, System


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
