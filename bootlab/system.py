"""System: everything that decides a boot, as one immutable value, and TOML -> System with file:key errors.

Nothing here touches a kernel or starts a machine. A technique changes a System by making another one
(`system.with_cmdline("quiet")`), so a comparison is always between two values that can be printed and diffed.
"""

import re
import tomllib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from bootlab.errors import InputError


class Part(BaseModel):
    """A frozen piece of a System; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_enum_values=False)


class MachineType(StrEnum):
    MICROVM = "microvm"
    Q35 = "q35"
    PC = "pc"
    VIRT = "virt"


class ClockKind(StrEnum):
    VIRTUAL = "virtual"
    WALL = "wall"


class Accelerator(StrEnum):
    AUTO = "auto"
    TCG = "tcg"
    KVM = "kvm"


class Compression(StrEnum):
    NONE = "none"
    GZIP = "gzip"
    LZ4 = "lz4"
    ZSTD = "zstd"
    XZ = "xz"


class KernelEntry(StrEnum):
    IMAGE = "image"
    """The image as the distribution ships it: bzImage through the firmware on x86-64, Image on arm64."""
    PVH = "pvh"
    """The uncompressed ELF kernel through its PVH entry: no decompressor runs (x86-64 only)."""


# TOML has no enums: strict mode must still take the plain string.
_TEXT: Any = Field(strict=False)
# A comma would begin another option on QEMU's command line, and a NUL ends a word for the kernel.
_WORD: Any = Field(pattern=r"^[^,\x00]+$")
_LINE: Any = Field(pattern=r"^[^\x00]*$")


class Machine(Part):
    """The emulated machine. `options` are QEMU's own machine properties, e.g. {pit = "off"}."""

    type: Annotated[MachineType, _TEXT]
    cpu: Annotated[str, _LINE] = "max"
    memory_mib: int = Field(default=256, ge=16, le=1 << 20)
    vcpus: int = Field(default=1, ge=1, le=255)
    firmware: str = "default"
    """`default`, `qboot`, or a path to a firmware image."""
    options: dict[Annotated[str, _WORD], Annotated[str, _WORD]] = {}

    @property
    def arch(self) -> str:
        return "aarch64" if self.type is MachineType.VIRT else "x86_64"

    @property
    def uses_qboot(self) -> bool:
        """Whether it starts from qboot: as asked, or as microvm does without ACPI tables (QEMU, hw/i386/microvm.c)."""
        if self.firmware != "default":
            return self.firmware == "qboot"
        return self.type is MachineType.MICROVM and self.options.get("acpi") == "off"


class Clock(Part):
    """Which clock times the boot. `shift`: one instruction is 2**shift ns of virtual time."""

    kind: Annotated[ClockKind, _TEXT] = ClockKind.VIRTUAL
    shift: int = Field(default=0, ge=0, le=10)
    accelerator: Annotated[Accelerator, _TEXT] = Accelerator.AUTO
    """For `wall` only: `auto` takes KVM when a probe boot proves that it works."""


class Kernel(Part):
    """A kernel image by path, or a Debian package to fetch by name."""

    image: Path | None = Field(default=None, strict=False)
    package: str | None = None
    suite: str | None = None
    """Debian suite of `package`, e.g. `bookworm`; by default the suite of this machine."""
    symbols: Path | None = Field(default=None, strict=False)
    """vmlinux or System.map of the same build, for a kernel that does not carry its own symbols (CONFIG_KALLSYMS)."""
    cmdline: Annotated[str, _LINE] = Field(default="", max_length=4096)
    entry: Annotated[KernelEntry, _TEXT] = KernelEntry.IMAGE

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.image is None) == (self.package is None):
            raise ValueError("give exactly one of image (a path) and package (a Debian package)")
        if self.suite is not None and self.package is None:
            raise ValueError("suite says where package comes from; there is no package")
        return self


class Initramfs(Part):
    """An initramfs by path, or a recipe: busybox, init, files and kernel modules in a newc archive.

    A recipe always carries bootlab's own `/sbin/bootlab-mark` and `/sbin/bootlab-facts`.
    """

    path: Path | None = Field(default=None, strict=False)
    busybox: bool = True
    """Put the distribution's static busybox, with its applet links, into /bin."""
    init: Path | None = Field(default=None, strict=False)
    """The file that becomes /init."""
    files: dict[str, Annotated[Path, _TEXT]] = {}
    """Path in the archive -> file on the host."""
    modules: tuple[str, ...] = Field(default=(), strict=False)
    """Kernel modules by name; their dependencies come along. `*` takes every module of the package."""
    compression: Annotated[Compression, _TEXT] = Compression.GZIP

    @model_validator(mode="after")
    def _path_or_recipe(self) -> Self:
        if self.path is not None and (self.init is not None or self.files or self.modules):
            raise ValueError("path names a finished archive; init, files and modules belong to a recipe")
        if self.path is None and self.init is None:
            raise ValueError("give path (a finished archive) or init (the file that becomes /init)")
        return self


class Disk(Part):
    """A virtio disk: an image by path (never written to), or a fresh one made by bootlab."""

    path: Path | None = Field(default=None, strict=False)
    size_mib: int | None = Field(default=None, ge=1, le=1 << 20)
    filesystem: Literal["ext4"] = "ext4"
    serial: str = Field(default="disk0", pattern=r"^[A-Za-z0-9._-]{1,20}$")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.path is None) == (self.size_mib is None):
            raise ValueError("give exactly one of path (an image) and size_mib (a fresh disk)")
        return self


class Network(Part):
    """A virtio network card on QEMU's user-mode network (guest 10.0.2.15, host 10.0.2.2)."""

    guest_port: int | None = Field(default=None, ge=1, le=65535)
    """TCP port in the guest that the host must reach; the host's port is chosen free."""


class Booted(Part):
    """What the user calls booted: a guest mark, a console pattern or an open TCP port."""

    mark: str | None = None
    console: str | None = None
    """Regular expression searched in each console line."""
    deadline_s: float = Field(default=120.0, gt=0, le=86400, strict=False)
    """Host seconds until a boot that is not booted is a hang."""

    @model_validator(mode="after")
    def _one_meaning(self) -> Self:
        if (self.mark is None) == (self.console is None):
            raise ValueError('give exactly one of mark (e.g. "ready") and console (a regular expression)')
        return self

    @field_validator("console")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        return _regular_expression(value)


class Check(Part):
    """How the booted system proves that it still does its work.

    The guest's own checks end in a console line that `console` matches. When `send` is given the host then connects to
    `network.guest_port`, sends that text, and `expect` must match the answer.
    """

    console: str
    fail: str = "bootlab: check failed"
    """A console line matching this is a failed check at once, without waiting for the deadline."""
    send: str | None = None
    expect: str | None = None
    deadline_s: float = Field(default=60.0, gt=0, le=86400, strict=False)

    @field_validator("console", "fail", "expect")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        return _regular_expression(value)

    @model_validator(mode="after")
    def _both_or_neither(self) -> Self:
        if (self.send is None) != (self.expect is None):
            raise ValueError("send (what the host sends over TCP) and expect (what must come back) go together")
        return self


class System(Part):
    """Everything that decides a boot. Two equal Systems are the same boot, given the same seed."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    description: str = ""
    machine: Machine
    clock: Clock = Clock()
    kernel: Kernel
    initramfs: Initramfs | None = None
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
        asks = self.check is not None and self.check.send is not None
        if asks and (self.network is None or self.network.guest_port is None):
            raise ValueError("check.send needs network.guest_port: the port that the host connects to")
        return self

    def with_cmdline(self, *words: str) -> "System":
        """Return this system with `words` added at the end of the kernel command line."""
        return self.with_part("kernel", cmdline=" ".join([self.kernel.cmdline, *words]).strip())

    def with_part(self, part: str, **changes: Any) -> "System":
        """Return this system with keys of one part changed, checked like a file. Raises InputError."""
        old = getattr(self, part)
        if old is None:
            raise InputError(f"{self.name}: the system has no [{part}] to change")
        try:
            return System.model_validate({**dict(self), part: {**dict(old), **changes}})
        except ValidationError as error:
            raise InputError(f"{self.name}: {_complaints(error)[0]}") from error

    def with_seed(self, seed: int) -> "System":
        """Return this system with another seed. Raises InputError for one out of range."""
        try:
            return System.model_validate({**dict(self), "seed": seed})
        except ValidationError as error:
            raise InputError(f"{self.name}: {_complaints(error)[0]}") from error


def _regular_expression(value: str | None) -> str | None:
    if value is not None:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from error
    return value


class BootFiles(Part):
    """The files that one System boots from, all on this host and ready to use."""

    kernel: Path
    """What QEMU's -kernel gets."""
    vmlinux: Path | None = None
    """The uncompressed kernel (ELF, or arm64 Image): where symbols come from. None when it could not be had."""
    initramfs: Path | None = None
    disks: tuple[Path, ...] = ()
    hashes: dict[str, str] = {}
    """Input (`kernel`, `initramfs`, `disk0`, ...) -> sha256."""


def read_system(path: Path) -> System:
    """Return the System that a TOML file describes; relative paths are relative to the file.

    Raises InputError that names file:key for every mistake at once: syntax, unknown key, wrong type, missing file,
    contradictory options.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(
            f"{path}: no such file", hint="bootlab boot examples/debian-cloud.toml boots a shipped example"
        ) from error
    except IsADirectoryError as error:
        raise InputError(f"{path}: is a directory, expected a TOML system file") from error
    except PermissionError as error:
        raise InputError(f"{path}: permission denied") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text, expected a TOML system file") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not TOML: {error}") from error
    document.setdefault("name", re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-._") or "system")
    missing = _resolve_paths(document, path)
    try:
        system = System.model_validate(document)
    except ValidationError as error:
        mistakes = [*_complaints(error), *missing]
        raise InputError(
            "\n".join(f"{path}:{mistake}" for mistake in mistakes), hint="docs/systems.md describes every key"
        ) from error
    if missing:
        raise InputError(
            "\n".join(f"{path}:{mistake}" for mistake in missing),
            hint="paths in a system file are relative to the file itself",
        )
    return system


def _resolve_paths(document: dict[str, Any], file: Path) -> list[str]:
    # Also of a document that is wrong elsewhere: what is not text where a path belongs is left to the check of types.
    missing = []
    for key, table, name in list(_places_of_paths(document)):
        if isinstance(table.get(name), str):
            table[name] = str(file.parent / table[name])
            if not _is_file(Path(table[name])):
                missing.append(f"{key}: no such file: {table[name]}")
    return missing


def _places_of_paths(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    def table(value: Any) -> dict[str, Any]:
        return value if isinstance(value, dict) else {}

    for part, names in (("kernel", ("image", "symbols")), ("initramfs", ("path", "init"))):
        for name in names:
            yield f"{part}.{name}", table(document.get(part)), name
    files = table(table(document.get("initramfs")).get("files"))
    for name in files:
        yield f'initramfs.files."{name}"', files, name
    disks = document.get("disks")
    for index, disk in enumerate(disks if isinstance(disks, list) else ()):
        yield f"disks[{index}].path", table(disk), "path"
    machine = table(document.get("machine"))
    if machine.get("firmware") not in ("default", "qboot"):
        yield "machine.firmware", machine, "firmware"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _complaints(error: ValidationError) -> list[str]:
    return [_complaint(item) for item in error.errors()]


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
