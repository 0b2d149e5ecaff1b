"""The files that one system boots from, as a target is given them."""

from pathlib import Path

from bootlab.system.part import Part


class BootFiles(Part):
    """The files that one System boots from, all on this host and ready to use."""

    kernel: Path
    """What QEMU's -kernel gets; of a board, what lies on its card or in its flash chip."""
    vmlinux: Path | None = None
    """The uncompressed kernel (ELF or Image): where symbols come from. None when it could not be had."""
    initramfs: Path | None = None
    """Loaded beside the kernel."""
    embedded: Path | None = None
    """The archive that was built into the kernel instead."""
    disks: tuple[Path, ...] = ()
    card: Path | None = None
    """The SD card's image, of a board that has one."""
    flash: Path | None = None
    """The flash chip's image, of a board that has one."""
    image: Path | None = None
    """The disk that the machine boots from by its own firmware; `kernel` and `initramfs` are then what is on it."""
    words: str = ""
    """With `image`, where QEMU loads its kernel itself: the kernel's command line."""
    image_format: str = ""
    """`raw` or `qcow2`."""
    firmware: Path | None = None
    """What a board's machine starts in its memory, where its medium does not hold it: SPL.

    With `image`: OVMF's code."""
    firmware_variables: Path | None = None
    """What OVMF keeps its settings in, as it is before the first boot."""
    loaders: tuple[Path, ...] = ()
    """The EFI programs on the image that come before its kernel, in the order in which they start each other."""
    boot_code: str = ""
    """The first bytes of the image's first sector, in hex; empty where it has no code."""
    core_code: str = ""
    """The same of GRUB's core.img, which that loads."""
    core_at: int = 0x8000
    """Physical address of that."""
    spl: Path | None = None
    """ELF file of the bootloader's first stage, with symbols, when it was built."""
    uboot: Path | None = None
    """ELF file of U-Boot proper, with symbols, when it was built."""
    opensbi: Path | None = None
    """The OpenSBI that SPL starts, as it lies in memory, when the bootloader was built with one."""
    opensbi_at: int = 0
    """Physical address of that."""
    symbols: Path | None = None
    """Where the kernel's symbols come from when it is not `vmlinux`: kernel.symbols, or the ELF file of a build."""
    decompressor: Path | None = None
    """ELF file of the image's own decompressor, with symbols (arch/x86/boot/compressed/vmlinux of a build)."""
    types: Path | None = None
    """Object file with the struct layouts of a kernel that has none in itself (build.kernel.types)."""
    kernel_config: Path | None = None
    """The kernel's configuration (.config) as it was built, when it is known."""
    kernel_build_s: float = 0.0
    """Host seconds spent on building the kernel for these files; 0 when nothing was built, or it was built before."""
    remarks: tuple[str, ...] = ()
    """What a reader of a boot should know of how these were made."""
    hashes: dict[str, str] = {}
    """Input (`kernel`, `initramfs`, `disk0`, ...) -> sha256."""

    @property
    def written(self) -> tuple[Path, ...]:
        """Return what a machine writes to that another boot may find: its disks, or a board's card."""
        return self.disks if self.card is None else (self.card,)
