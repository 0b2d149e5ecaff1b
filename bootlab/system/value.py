"""System: everything that decides a boot, as one immutable value.

Nothing here touches a kernel or starts a machine. A technique changes a System by making another one
(`system.with_cmdline("quiet")`), so a comparison is always between two values that can be printed and diffed.
"""

from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, model_validator

from bootlab.errors import InputError
from bootlab.system.booted import Booted, Check
from bootlab.system.content import Initramfs, Rootfs
from bootlab.system.kernel import Kernel, KernelEntry
from bootlab.system.machine import Accelerator, Clock, ClockKind, Disk, Machine, MachineType, Network, Storage
from bootlab.system.part import Part


class System(Part):
    """Everything that decides a boot. Two equal Systems are the same boot, given the same seed."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    description: str = ""
    machine: Machine
    clock: Clock = Clock()
    kernel: Kernel
    initramfs: Initramfs | None = None
    rootfs: Rootfs | None = None
    storage: Storage | None = None
    disks: tuple[Disk, ...] = Field(default=(), strict=False)
    network: Network | None = None
    booted: Booted
    check: Check | None = None
    marks: dict[str, str] = {}
    """Mark name -> kernel symbol whose first execution is the mark (virtual clock, or wall with TCG)."""
    seed: int = Field(default=1, ge=1, le=(1 << 31) - 1)

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        machine, kernel = self.machine, self.kernel
        if kernel.entry is KernelEntry.PVH and machine.arch != "x86_64":
            raise ValueError(
                f'kernel.entry = "pvh" is an x86-64 boot protocol; machine.type {machine.type.value!r} is arm64'
            )
        if machine.firmware == "qboot" and machine.type is MachineType.VIRT:
            raise ValueError('machine.firmware = "qboot" is an x86 firmware; the virt machine needs none')
        if self.clock.kind is ClockKind.VIRTUAL and self.clock.accelerator is Accelerator.KVM:
            raise ValueError('clock.accelerator = "kvm" cannot count instructions; use clock.kind = "wall"')
        if self.initramfs is not None and self.initramfs.embedded and kernel.build is None:
            raise ValueError("initramfs.embedded puts the archive into a kernel that is built: it needs kernel.build")
        asks = self.check is not None and self.check.send is not None
        if asks and (self.network is None or self.network.guest_port is None):
            raise ValueError("check.send needs network.guest_port: the port that the host connects to")
        return self

    def with_cmdline(self, *words: str) -> "System":
        """Return this system with `words` added at the end of the kernel command line."""
        return self.with_part("kernel", cmdline=" ".join([self.kernel.cmdline, *words]).strip())

    def with_options(self, **options: str) -> "System":
        """Return this system with options of the kernel to build changed, as in `SMP="n"`.

        Raises InputError when the kernel is not built.
        """
        build = self.kernel.build
        if build is None:
            raise InputError(f"{self.name}: the kernel is not built, so it has no options to change")
        return self.with_part("kernel", build={**dict(build), "options": {**build.options, **options}})

    def with_part(self, part: str, **changes: Any) -> "System":
        """Return this system with keys of one part changed, checked like a file. Raises InputError."""
        old = getattr(self, part)
        if old is None:
            raise InputError(f"{self.name}: the system has no [{part}] to change")
        try:
            return System.model_validate({**dict(self), part: {**dict(old), **changes}})
        except ValidationError as error:
            raise InputError(f"{self.name}: {complaints(error)[0]}") from error

    def with_seed(self, seed: int) -> "System":
        """Return this system with another seed. Raises InputError for one out of range."""
        try:
            return System.model_validate({**dict(self), "seed": seed})
        except ValidationError as error:
            raise InputError(f"{self.name}: {complaints(error)[0]}") from error


def complaints(error: ValidationError) -> list[str]:
    """Return what pydantic found wrong, one `key: what` for each."""
    return [_complaint(item) for item in error.errors()]


class BootFiles(Part):
    """The files that one System boots from, all on this host and ready to use."""

    kernel: Path
    """What QEMU's -kernel gets."""
    vmlinux: Path | None = None
    """The uncompressed kernel (ELF, or arm64 Image): where symbols come from. None when it could not be had."""
    initramfs: Path | None = None
    disks: tuple[Path, ...] = ()
    symbols: Path | None = None
    """Where the kernel's symbols come from when it is not `vmlinux`: kernel.symbols, or the ELF file of a build."""
    decompressor: Path | None = None
    """ELF file of the image's own decompressor, with symbols (arch/x86/boot/compressed/vmlinux of a build)."""
    kernel_config: Path | None = None
    """The kernel's configuration (.config) as it was built, when it is known."""
    kernel_build_s: float = 0.0
    """Host seconds spent on building the kernel for these files; 0 when nothing was built, or it was built before."""
    hashes: dict[str, str] = {}
    """Input (`kernel`, `initramfs`, `disk0`, ...) -> sha256."""


def _complaint(item: Any) -> str:
    key = ".".join(str(part) for part in item["loc"]) or "(whole file)"
    kind, got = item["type"], item["input"]
    if kind == "extra_forbidden":
        return f"{key}: unknown key"
    if kind == "missing":
        return f"{key}: missing"
    message = item["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    if isinstance(got, str | int | float | bool):
        return f"{key}: {message}, got {got!r}"
    return f"{key}: {message}"
