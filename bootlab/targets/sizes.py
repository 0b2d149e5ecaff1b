"""How large the files are that a system boots from, by the names that its hashes have."""

from bootlab.system import BootFiles, System


def sizes_of(system: System, files: BootFiles) -> dict[str, int]:
    """Return the bytes of kernel, initramfs, card, flash, rootfs and disks, of those there are. Raises OSError."""
    # Disks follow the root file system, which is the first.
    names = [f"disk{index}" for index in range(len(files.disks))]
    if system.rootfs is not None:
        names = ["rootfs", *names[:-1]]
    named = {
        "kernel": files.kernel,
        "initramfs": files.initramfs,
        "image": files.image,
        "card": files.card,
        "flash": files.flash,
        **dict(zip(names, files.disks, strict=True)),
    }
    return {name: path.stat().st_size for name, path in named.items() if path is not None}
