"""What a board boots from: the bootloader to build, and the card or flash chip that carries it and the kernel."""

from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from bootlab.system.part import Part
from bootlab.system.power_on.power_on import KeptRam
from bootlab.system.source.build import SourceBuild


class Bootloader(SourceBuild):
    """U-Boot, to be built.

    `package` is Debian's source package, `u-boot`, of which the upstream release is taken; `suite` is the Debian suite
    that has it, by default this machine's; `base` is one of the tree's own configurations, by default the board's.
    """

    key: ClassVar[str] = "bootloader"
    project: ClassVar[str] = "U-Boot"
    what: ClassVar[str] = "bootloader"

    falcon: bool = False
    """SPL loads the kernel itself, from raw sectors of the card, and U-Boot proper never runs."""
    # Left out of documents where it is not given, as all that came after boots that are on record.
    opensbi: Path | None = Field(default=None, strict=False, exclude_if=lambda value: value is None)
    """The fw_dynamic.bin that SPL starts, of a riscv64 board; by default that of Debian's package `opensbi`."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.source is None) == (self.package is None):
            raise ValueError('give exactly one of source (a tree or tarball) and package ("u-boot")')
        if self.base is not None and self.config is not None:
            raise ValueError("give at most one of base and config: each is a whole configuration")
        if self.suite is not None and self.package is None:
            raise ValueError("suite says where package comes from; there is no package")
        return self


class Card(Part):
    """An SD card: composed of bootloader, kernel, device tree and initramfs, or a finished image. Never written to."""

    path: Path | None = Field(default=None, strict=False)
    """A finished image; its size is a power of two."""
    size_mib: int | None = Field(default=None, ge=1, le=1 << 20)
    """A power of two; by default the smallest that fits, from 64."""
    filesystem: Literal["fat", "ext4"] = "fat"
    """File system of the partition with the files that U-Boot proper loads."""
    dtb: Path | None = Field(default=None, strict=False)
    """The device tree, of a kernel that is not built here; of one that is, its own for this board."""
    load_address: int | None = Field(default=None, ge=0, lt=1 << 32)
    """Where SPL puts and enters the kernel in Falcon mode; by default where U-Boot proper would."""
    # Left out of documents where it is not given, as all that came after boots that are on record.
    device_tree: Literal["separate", "appended"] = Field(
        default="separate", exclude_if=lambda value: value == "separate"
    )
    """How the kernel gets its device tree: from who starts it, or right behind its own image (ARM_APPENDED_DTB)."""
    device_tree_pruned: bool = Field(default=False, exclude_if=lambda value: not value)
    """Leave out of the device tree what the kernel, which is built here, has no driver for."""
    kept_ram: KeptRam | None = Field(default=None, exclude_if=lambda value: value is None)
    """Where SPL finds kernel, initramfs and device tree in RAM that has outlived the power (Falcon mode)."""

    swap_mib: int | None = Field(default=None, ge=4, le=4096, exclude_if=lambda value: value is None)
    """Of a swap area on the card, its second partition, into which the board hibernates and from which SPL goes on
    (Falcon mode)."""

    @model_validator(mode="after")
    def _path_or_composed(self) -> Self:
        own_tree = self.device_tree == "appended" or self.device_tree_pruned
        of_composed = (self.size_mib, self.dtb, self.load_address is not None, own_tree)
        if self.path is not None and any((*of_composed, self.kept_ram, self.swap_mib)):
            raise ValueError(
                "path names a finished card; size_mib, dtb, load_address, device_tree_pruned, "
                "device_tree, kept_ram and swap_mib are of one to be composed"
            )
        if self.size_mib is not None and self.size_mib & (self.size_mib - 1):
            raise ValueError("size_mib must be a power of two: QEMU takes no other card")
        return self


class Flash(Part):
    """A flash chip: composed of bootloader, kernel, command line and initramfs, or a finished image. Never written to.

    SPL is not in it: the machine starts with SPL in memory, as a boot ROM would leave it.
    """

    path: Path | None = Field(default=None, strict=False)
    """A finished image, of the chip's whole size."""
    compression: Literal["none", "gzip"] = "none"
    """How the kernel in the chip is packed: there is less to read then, and U-Boot proper has to unpack it."""

    @model_validator(mode="after")
    def _path_or_composed(self) -> Self:
        if self.path is not None and self.compression != "none":
            raise ValueError("path names a finished image; compression is of one to be composed")
        return self
