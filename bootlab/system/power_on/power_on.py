"""What a power-on finds that an earlier one has left: what was kept in RAM, a root or all that a board boots from."""

from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from bootlab.system.part import TEXT, Part, matching

_ALIGNED_MIB: Final = 2
"""The kernel maps such memory in sections of so much."""
_LOWEST_MIB: Final = 96
"""Below, the kernel lies, with all that it unpacks."""
_AT_END_MIB: Final = 32
"""The initramfs and the firmware's tables are at the end of memory."""
_LOWEST_OF_ARCHIVE_MIB: Final = 128
_BELOW_MIB: Final = 2048
"""Where the memory of a PC may go on behind a gap."""


class KeptRam(Part):
    """The memory that outlives the power: of a [rootfs] image and dm-verity tree lie in it, of a board's [card] the
    kernel with its initramfs and the device tree; and a header at its end."""

    size_mib: int = Field(ge=2, le=_BELOW_MIB)
    """Of the region that is in self-refresh: what lies in it, and a header of 4 KiB."""
    at_mib: int = Field(default=128, ge=_LOWEST_MIB, le=1 << 20)
    """Where the region begins in physical memory, which begins at 0 on x86-64, at 1024 on arm64's virt and the armv7
    board."""
    verify: Literal["verity", "all", "header"] = "verity"
    """Of a root `verity`: each block as it is read, and a wrong one restarts the machine; `all`: all of it before it is
    mounted, and a wrong one has the disk mounted instead. Of a board `all`: its CRC-32, before it is entered, and a
    wrong one has the card read instead. Of both `header`: no block, a flipped bit is read as it is."""
    # Left out of documents where there is none, as those of older boots.
    dax: bool = Field(default=False, exclude_if=lambda value: not value)
    """Map the files of a root where they lie, past the page cache (`-o dax=always`); of `all` and `header`, of erofs
    and ext4. Where the kernel maps none so, the disk is mounted instead."""
    changes_mib: int | None = Field(default=None, ge=1, le=_BELOW_MIB, exclude_if=lambda value: value is None)
    """Of a root: memory for what is written over it, which `bootlab-kept save` writes to the disk with
    `filesystem = "changes"`, for the next start; without it a root is read-only."""
    settles: bool = Field(default=False, exclude_if=lambda value: not value)
    """Of a root with `changes_mib`: the system says itself that it is ready, by a unit or script of its init behind all
    others, so that its RAM is seen to and its changes are saved; without it the root's own files say so."""
    without: tuple[str, ...] = Field(default=(), strict=False, exclude_if=lambda value: not value)
    """Files and folders that are not kept in RAM, and are read from the disk: a region with some of the files."""

    @model_validator(mode="after")
    def _aligned(self) -> Self:
        for key, value in (("size_mib", self.size_mib), ("at_mib", self.at_mib)):
            if value % _ALIGNED_MIB:
                raise ValueError(f"{key} is {value}: the kernel takes whole sections of {_ALIGNED_MIB} MiB")
        if self.settles and self.changes_mib is None:
            raise ValueError("settles is of a system that writes to its root: changes_mib gives room for that")
        return self

    @property
    def start(self) -> int:
        """Return the physical address at which it begins."""
        return self.at_mib << 20

    @property
    def size(self) -> int:
        """Return how many bytes it has."""
        return self.size_mib << 20

    def word(self, memory_at: int) -> str:
        """Return the word by which the kernel is told that this memory is none of its own, as the machine's begins.

        On x86-64, whose begins at 0, it says that this memory is kept, too; elsewhere the device tree does.
        """
        return f"mem={self.at_mib - (memory_at >> 20)}M" if memory_at else f"memmap={self.size_mib}M!{self.at_mib}M"

    def expect_within(self, memory: range) -> None:
        """Raise ValueError for a region that is not in what a board's bootloader leaves alone of its memory."""
        if self.start < memory.start or self.start + self.size > memory.stop:
            raise ValueError(
                f"card.kept_ram: {self.size_mib} MiB at {self.at_mib} are not in what this board's bootloader leaves "
                f"alone: {memory.start >> 20} to {memory.stop >> 20}; at_mib counts from address 0"
            )

    def expect_at_end(self, memory_at: int, memory_mib: int) -> None:
        """Raise ValueError for a region that is not the end of a machine's memory, which begins at `memory_at`."""
        first = memory_at >> 20
        begin = first + memory_mib - self.size_mib
        # QEMU loads the initramfs in the middle, at most so far up, and the device tree behind it (hw/arm/boot.c).
        if begin - first < min(memory_mib // 2, _LOWEST_OF_ARCHIVE_MIB) + _AT_END_MIB:
            raise ValueError(
                f"rootfs.kept_ram.size_mib: {self.size_mib} of {memory_mib} MiB leave no room for the initramfs, "
                "which is loaded in the middle: more machine.memory_mib"
            )
        if self.at_mib != begin:
            raise ValueError(
                f"rootfs.kept_ram.at_mib is {self.at_mib}: the kernel is told how much memory it has, so the region is "
                f"the end of machine.memory_mib: at_mib = {begin}, counted from address 0"
            )

    def expect_room(self, memory_mib: int) -> None:
        """Raise ValueError for a region that is not in the middle of a machine's memory."""
        end = self.at_mib + self.size_mib
        if end > min(memory_mib - _AT_END_MIB, _BELOW_MIB):
            raise ValueError(
                f"rootfs.kept_ram: {self.size_mib} MiB at {self.at_mib} end at {end}, and they must end "
                f"{_AT_END_MIB} MiB before the end of machine.memory_mib ({memory_mib}), and below {_BELOW_MIB}"
            )


class PowerOnKind(StrEnum):
    """How a machine comes to be on, by what it finds of the time before."""

    COLD = "cold"
    """Nothing: all RAM is lost."""
    SELF_REFRESH = "self-refresh"
    """It was switched off, and the region of kept RAM alone was held in self-refresh."""
    WARM_RESET = "warm-reset"
    """It was reset: all RAM is as it was."""
    HIBERNATED = "hibernated"
    """It was put to sleep when it was ready, and its memory is in an image on its swap disk."""
    SUSPENDED = "suspended"
    """It was suspended to RAM (S3) when it was ready, and wakes: in the same boot, and time 0 is the wake."""
    S2IDLE = "s2idle"
    """The same with all devices asleep, and the machine on and idle."""


KEEPS_RAM: Final = (PowerOnKind.SELF_REFRESH, PowerOnKind.WARM_RESET)
SLEEPS: Final = (PowerOnKind.SUSPENDED, PowerOnKind.S2IDLE)


class Fault(StrEnum):
    """What went wrong between two power-ons."""

    RAM_LOST = "ram-lost"
    """The supply of the kept RAM failed."""
    HEADER_BIT = "header-bit"
    """A bit of the header has turned."""
    FILE_BIT = "file-bit"
    """A bit of `fault_file` has turned."""
    IMAGE_BIT = "image-bit"
    """A bit has turned in the middle of what a board's SPL is to enter."""
    REFILL_CUT = "refill-cut"
    """Power was cut while the RAM was filled, half way."""
    OLD_IMAGE = "old-image"
    """The disk has a newer image since, and its initramfs; or the card has."""
    HANG = "start-hung"
    """The start before came from the RAM, and was reset before it was ready."""
    SAVE_CUT = "save-cut"
    """Power was cut while changes of the root were written to their disk, half way, and not for the first time."""
    CHANGES_BIT = "changes-bit"
    """A bit has turned in the changes that were written last."""
    CHANGES_HUNG = "changes-hung"
    """Three starts with the changes that were written last were reset before they were ready."""
    OTHER_KERNEL = "other-kernel"
    """The image is of another kernel than the one that is started."""
    IMAGE_CUT = "image-cut"
    """The second half of the image was never written."""
    NO_IMAGE = "no-image"
    """There is no image: the machine was not hibernated, or its image was taken before."""
    IMAGE_TAKEN = "image-taken"
    """A start took the image, and its power was cut before its disk had kept that the swap area holds none now."""
    ROOT_CHANGED = "root-changed"
    """Another system has mounted the root since, and written to it."""


OF_CHANGES: Final = (Fault.SAVE_CUT, Fault.CHANGES_BIT, Fault.CHANGES_HUNG)
_OF_HIBERNATED: Final = (
    Fault.OTHER_KERNEL,
    Fault.IMAGE_CUT,
    Fault.NO_IMAGE,
    Fault.IMAGE_TAKEN,
    Fault.ROOT_CHANGED,
)
_OF_BOTH: Final = (Fault.OLD_IMAGE,)


class PowerOn(Part):
    """The kind of power-on that is booted: a boot before it leaves what it finds, once, and is kept in the cache."""

    kind: Annotated[PowerOnKind, TEXT] = PowerOnKind.COLD
    fault: Annotated[Fault, TEXT] | None = Field(default=None, exclude_if=lambda value: value is None)
    """What is wrong with what it finds."""
    fault_file: Annotated[str, matching(r"(?:/[!-~]+)+", "is no path in the root, as /bin/app")] | None = Field(
        default=None, exclude_if=lambda value: value is None
    )
    """The file of the root in which `file-bit` turns a bit: the lowest of its first byte."""

    devices: bool = Field(default=False, exclude_if=lambda value: not value)
    """Of a machine that sleeps: tell how long each device took to wake. Noting it takes time, so `woke` comes later."""

    @property
    def finds(self) -> bool:
        """Return whether a boot before has to leave something."""
        return self.kind in KEEPS_RAM or self.kind is PowerOnKind.HIBERNATED

    @model_validator(mode="after")
    def _fault_of_kind(self) -> Self:
        if self.fault is not None:
            kinds: tuple[PowerOnKind, ...] = (PowerOnKind.HIBERNATED,) if self.fault in _OF_HIBERNATED else KEEPS_RAM
            if self.fault in _OF_BOTH:
                kinds = (*KEEPS_RAM, PowerOnKind.HIBERNATED)
            if self.kind not in kinds:
                raise ValueError(
                    f'fault = "{self.fault.value}" is of kind {" and ".join(kinds)}, and kind is "{self.kind.value}"'
                )
        if self.devices and self.kind not in SLEEPS:
            raise ValueError(f"devices = true is of kind {' and '.join(SLEEPS)}: no other wakes its devices")
        if (self.fault is Fault.FILE_BIT) != (self.fault_file is not None):
            raise ValueError('fault_file names the file of fault = "file-bit", and one needs the other')
        return self
