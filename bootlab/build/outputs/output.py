"""What was found in an output folder of another build tool: its parts, how the tool boots them, what is not used.

Each tool's reader fills one of these in; nothing here knows which tool it was.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from bootlab.build.outputs.qemu_words import QemuCommand
from bootlab.system import Attachment


class BuildTool(StrEnum):
    """Who made a folder. The value is what stands before a folder that does not say so itself: `buildroot:DIR`."""

    BUILDROOT = "buildroot"
    YOCTO = "yocto"
    NIXOS = "nixos"
    MKOSI = "mkosi"
    DEBOS = "debos"


@dataclass(frozen=True, slots=True)
class KernelSource:
    """Where a kernel was built, and of what: enough to build it with other options."""

    source: Path
    """A tarball, or a tree that nothing was built in."""
    config: Path
    patches: tuple[Path, ...] = ()
    """What the tool applied to the source."""


@dataclass(slots=True)
class BuildOutput:
    """A build's output. A path that is None was not found; exactly one of `kernel`, `image` and `card` is booted."""

    tool: BuildTool
    folder: Path
    """Where the images are."""
    about: str
    """Tool, version and configuration, for people."""
    name: str
    """What the system is called."""
    guest: QemuCommand
    """The machine, and the kernel's command line."""
    kernel: Path | None = None
    initramfs: Path | None = None
    rootfs: Path | None = None
    """A file system, maybe compressed."""
    image: Path | None = None
    """A whole disk, with its own bootloader."""
    card: Path | None = None
    """A board's SD card."""
    firmware: Path | None = None
    """What runs before the kernel, where it is not QEMU's own."""
    disks: list[tuple[Path, Attachment]] = field(default_factory=list)
    """Further disks."""
    symbols: Path | None = None
    """A vmlinux or System.map of this very kernel, where its image has no symbols of its own."""
    source: KernelSource | None = None
    settings: dict[str, str] = field(default_factory=dict)
    """What its tool was told: options of Buildroot's .config, variables of Yocto's."""
    prompt: str = "login:"
    """What the console says when it is ready."""
    also: dict[str, str] = field(default_factory=dict)
    """Other things that were found, and are not booted -> what they are, or why not."""
    missing: list[str] = field(default_factory=list)
    """What was looked for and not found."""
    remarks: list[str] = field(default_factory=list)
    """What a user should know of the machine that was chosen."""
