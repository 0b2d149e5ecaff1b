"""The emulated machine, its devices and its clock."""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from bootlab.system.disk_model import AnyDiskModel
from bootlab.system.part import LINE, TEXT, WORD, Part, matching
from bootlab.system.shape import expect_shape, shaped
from bootlab.system.source.firmware import FirmwareBuild

_DEVICE = matching(r"[A-Za-z0-9][^\s\x00]*", "is not the words of QEMU's -device, without blanks")


class MachineType(StrEnum):
    """The machines that can be emulated, and real boards by their architecture."""

    MICROVM = "microvm"
    Q35 = "q35"
    PC = "pc"
    VIRT = "virt"
    ORANGEPI_PC = "orangepi-pc"
    """A board with an Allwinner H3 (armv7), which boots from its SD card."""
    BOARD_X86_64 = "x86_64-board"
    """A real board, as those below: of it only the architecture is known here."""
    BOARD_ARM64 = "aarch64-board"
    BOARD_ARMV7 = "armv7-board"
    BOARD_RISCV64 = "riscv64-board"
    BOARD_UNKNOWN = "unknown-board"
    """A machine that is only asked from outside: not even its architecture is known."""

    @property
    def is_real(self) -> bool:
        """Return whether it is a board on a line, as against an emulated machine."""
        return self.value.endswith("-board")


_ARCHITECTURES = {MachineType.VIRT: ("aarch64", "riscv64"), MachineType.ORANGEPI_PC: ("armv7",)}
"""Architectures of the machine types that are not x86-64, the default first."""
_FIXED: dict[str, dict[str, Any]] = {
    MachineType.ORANGEPI_PC.value: {"cpu": "cortex-a7", "memory_mib": 1024, "vcpus": 4, "firmware": "default"}
}
"""What a board's hardware decides (QEMU, hw/arm/orangepi.c)."""


HOST_MODEL: Final = r"[A-Za-z0-9][A-Za-z0-9._-]*|[^\x00\n]*\.toml"
"""A model that comes with bootlab, by its name, or the path of one."""


class ClockKind(StrEnum):
    """Which clock a boot is timed by (docs/concepts.md)."""

    VIRTUAL = "virtual"
    WALL = "wall"
    CONSOLE = "console"
    """The clock of a board: the host stamps each console line."""
    OUTSIDE = "outside"
    """The clock of a machine that is asked over a network: the host stamps each answer."""


class Accelerator(StrEnum):
    """What executes the guest on the wall clock."""

    AUTO = "auto"
    TCG = "tcg"
    KVM = "kvm"


class PageSize(StrEnum):
    """What backs the guest's memory on the host; the guest cannot see it, and only a wall clock does."""

    AUTO = "auto"
    """QEMU's own choice: anonymous memory, with transparent huge pages where this host hands them out."""
    SMALL = "4K"
    """A memory file of the host's plain pages, which never become huge ones."""
    HUGE = "2M"
    """A memory file of reserved huge pages: the host must have as many free as the guest has memory."""


class Machine(Part):
    """The emulated machine. `options` are QEMU's own machine properties, e.g. {pit = "off"}."""

    type: Annotated[MachineType, TEXT]
    # Left out of documents where it is not given: boots recorded before there was a choice still count as the same.
    architecture: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """`aarch64` (the default) or `riscv64`, of `virt`; that of every other type is its own."""
    cpu: Annotated[str, LINE] = "max"
    memory_mib: int = Field(default=256, ge=16, le=1 << 20)
    vcpus: int = Field(default=1, ge=1, le=255)
    firmware: str = "default"
    """`default`, `qboot`, `ovmf` (UEFI, of Debian's packages: OVMF, on arm64 AAVMF), or a path to a firmware image."""
    firmware_suite: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """Debian suite of `ovmf`, by default this machine's: versions differ by seconds."""
    firmware_build: FirmwareBuild | None = Field(default=None, exclude_if=lambda value: value is None)
    """`ovmf` built from its source, instead of that of a package."""
    secure_boot: bool = Field(default=False, exclude_if=lambda value: not value)
    """Of `ovmf` on q35: firmware that starts only what is signed, with Microsoft's keys, as Debian's package has it."""
    boot_menu_s: int | None = Field(default=None, ge=0, le=60, exclude_if=lambda value: value is None)
    """How long its firmware waits for a key that opens its own menu; None: it shows none."""
    options: dict[Annotated[str, WORD], Annotated[str, WORD]] = {}
    devices: tuple[Annotated[str, _DEVICE], ...] = Field(default=(), strict=False)
    """More devices, as words of QEMU's `-device`: `usb-kbd`, `ES1370,audiodev=none` (which plays to nobody)."""
    page_size: Annotated[PageSize, TEXT] = PageSize.AUTO
    shape: Literal["firecracker"] | None = Field(default=None, exclude_if=lambda value: value is None)
    """Of `microvm` on the virtual clock: another VMM's machine that it is brought near to (docs/price.md)."""
    hypervisor: Literal["kvm"] | None = Field(default=None, exclude_if=lambda value: value is None)
    """For the virtual clock on x86-64: the hypervisor that the guest is to see (price.md); None: QEMU's own answer."""

    @model_validator(mode="before")
    @classmethod
    def _as_the_board_has_it(cls, given: Any) -> Any:
        if isinstance(given, dict) and "shape" in given:
            given = shaped(given)
        if isinstance(given, dict) and (fixed := _FIXED.get(str(given.get("type")))):
            return {**fixed, **given}
        return given

    @model_validator(mode="after")
    def _board_is_fixed(self) -> Self:
        for key, value in _FIXED.get(self.type.value, {}).items():
            if getattr(self, key) != value:
                raise ValueError(f"{key} of machine.type {self.type.value!r} is {value}: the board has no other")
        return self

    @model_validator(mode="after")
    def _shape_fits(self) -> Self:
        if self.shape is not None:
            expect_shape(self.shape, self.type.value, self.options)
        return self

    @model_validator(mode="after")
    def _guest_is_told_of_all_vcpus(self) -> Self:
        if self.vcpus > 1 and self.tells_one_vcpu:
            what = f"shape {self.shape!r}" if self.shape is not None else 'machine.options.acpi = "off"'
            raise ValueError(f"vcpus is {self.vcpus}: a microvm without ACPI ({what}) tells its guest of one CPU only")
        return self

    @model_validator(mode="after")
    def _firmware_of_a_suite(self) -> Self:
        if self.firmware_suite is not None and self.firmware != "ovmf":
            raise ValueError('firmware_suite says where firmware = "ovmf" comes from')
        if self.firmware_build is not None and (self.firmware != "ovmf" or self.type is not MachineType.Q35):
            raise ValueError('firmware_build is of firmware = "ovmf" on "q35"')
        if self.firmware_build is not None and (self.firmware_suite is not None or self.secure_boot):
            raise ValueError("firmware_build is built without Secure Boot, and of no package: leave those keys out")
        if self.secure_boot and (self.firmware != "ovmf" or self.type is not MachineType.Q35):
            raise ValueError('secure_boot is of firmware = "ovmf" on "q35", which keeps its variables in SMM')
        return self

    @model_validator(mode="after")
    def _type_has_the_architecture(self) -> Self:
        known = self._architectures
        if self.architecture is not None and self.architecture not in known:
            what = f"machine.type {self.type.value!r} is {' or '.join(known)}"
            raise ValueError(f"architecture {self.architecture!r}: {what}")
        return self

    @property
    def arch(self) -> str:
        """Return the architecture asked for, else the machine's first: `x86_64`, `aarch64`, `armv7`, `riscv64`."""
        return self.architecture or self._architectures[0]

    @property
    def _architectures(self) -> tuple[str, ...]:
        if self.type.is_real:
            return (self.type.value.removesuffix("-board"),)
        return _ARCHITECTURES.get(self.type, ("x86_64",))

    @property
    def tells_one_vcpu(self) -> bool:
        """Whether its guest starts one CPU however many there are: without ACPI microvm has no table of them."""
        return self.type is MachineType.MICROVM and self.options.get("acpi") == "off"

    @property
    def uses_qboot(self) -> bool:
        """Whether it starts from qboot: as asked, or as microvm does without ACPI tables (QEMU, hw/i386/microvm.c)."""
        if self.firmware != "default":
            return self.firmware == "qboot"
        return self.type is MachineType.MICROVM and self.options.get("acpi") == "off"


class BootClock(Part):
    """Which clock times the boot. `shift`: one instruction is 2**shift ns of virtual time."""

    kind: Annotated[ClockKind, TEXT] = ClockKind.VIRTUAL
    shift: int = Field(default=0, ge=0, le=10)
    accelerator: Annotated[Accelerator, TEXT] = Accelerator.AUTO
    """For `wall` only: `auto` takes KVM when a probe boot proves that it works."""
    # Left out of documents where nothing is charged, as in those of older boots.
    charges: dict[Annotated[str, WORD], Annotated[int, Field(ge=1, le=3600 * 10**9)]] = Field(
        default={}, exclude_if=lambda value: not value
    )
    """For `virtual` only: kernel function -> ns that each call of it takes more than its instructions."""
    host_model: (
        Annotated[str, matching(HOST_MODEL, "is no host model: a name, or a file whose name ends in .toml")] | None
    ) = Field(default=None, exclude_if=lambda value: value is None)
    """For `virtual` on x86-64: what a host of KVM takes for each exit and page is charged to the clock (price.md)."""

    tick_us: int | None = Field(default=None, ge=2, le=1_000_000, exclude_if=lambda value: value is None)
    """For `virtual` only: how far apart the kernel's ticks are, 10^6 / CONFIG_HZ. Seeds and null changes then move them
    against its work (measuring.md)."""

    @model_validator(mode="after")
    def _charges_are_of_the_virtual_clock(self) -> Self:
        if self.tick_us is not None and self.kind is not ClockKind.VIRTUAL:
            raise ValueError(f'tick_us is of the virtual clock; kind is "{self.kind.value}"')
        if self.host_model is not None and self.kind is not ClockKind.VIRTUAL:
            raise ValueError(f'host_model is charged to the virtual clock; kind is "{self.kind.value}"')
        if self.charges and self.kind is not ClockKind.VIRTUAL:
            raise ValueError(f'charges are added to the virtual clock; kind is "{self.kind.value}"')
        return self


class Attachment(StrEnum):
    """What a disk is attached to."""

    VIRTIO = "virtio"
    AHCI = "ahci"
    """SATA: q35 has a controller with six ports."""
    USB = "usb"
    """Needs a USB controller among machine.devices."""
    NVME = "nvme"
    """/dev/nvme0n1, and so on: a controller for each."""
    SCSI = "scsi"
    """/dev/sda, and so on: on one virtio controller for all."""
    CD = "cd"
    """A CD in a drive on a virtio SCSI controller: of an [image] that is an ISO."""


class Disk(Part):
    """A disk: an image by path (never written to), or a fresh one made by bootlab."""

    path: Path | None = Field(default=None, strict=False)
    size_mib: int | None = Field(default=None, ge=1, le=1 << 20)
    filesystem: Literal["ext4", "swap", "changes"] = "ext4"
    """What is on a fresh one; `swap`: a swap area, into which a machine may hibernate; `changes`: nothing yet, and then
    what was written over a root in kept RAM (persistence.md)."""
    attach: Annotated[Attachment, TEXT] = Attachment.VIRTIO
    serial: Annotated[str, matching(r"[A-Za-z0-9._-]{1,20}", "is not 1 to 20 letters, digits and . _ -")] = "disk0"
    # Left out of documents where there is none, as those of older boots.
    model: AnyDiskModel | None = Field(default=None, exclude_if=lambda value: value is None)
    """What it takes on the virtual clock; without one it answers at once."""
    keep_writes: bool = Field(default=False, exclude_if=lambda value: not value)
    """Keep all that is written to a disk with a model, with the boot: what a power cut leaves follows from it."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.path is None) == (self.size_mib is None):
            raise ValueError("give exactly one of path (an image) and size_mib (a fresh disk)")
        if self.attach is Attachment.CD:
            raise ValueError('attach "cd" is of an [image] that is an ISO')
        if self.filesystem != "ext4" and (self.size_mib is None or self.attach is not Attachment.VIRTIO):
            raise ValueError(f'filesystem = "{self.filesystem}" is of a fresh disk, with size_mib, on virtio')
        if self.keep_writes and self.model is None:
            raise ValueError("keep_writes is of a disk with a model")
        if self.model is not None and self.attach is not Attachment.VIRTIO:
            raise ValueError(f'model is of a disk on virtio, and attach is "{self.attach.value}"')
        return self


class Storage(Part):
    """The storage that kernel, initramfs and device tree are loaded from: a stated model, for a clock that has none.

    Loading takes `latency_us` a file and its bytes at `mb_s`; it is counted before power-on's first instruction, as a
    term of its own.
    """

    mb_s: float = Field(gt=0, le=1e6)
    """10^6 bytes a second."""
    latency_us: float = Field(default=0, ge=0, le=1e7)
    """Time from asking for a file to its first byte."""

    @property
    def words(self) -> str:
        """Return the model for a reader, as in `load at 20 MB/s + 500 us a file`."""
        latency = f" + {self.latency_us:g} us a file" if self.latency_us else ""
        return f"load at {self.mb_s:g} MB/s{latency}"

    def load_ns(self, sizes: Iterable[int]) -> int:
        """Return the time to load files of these sizes, in bytes, one after the other."""
        return round(sum(self.latency_us * 1000 + size * 1000 / self.mb_s for size in sizes))
