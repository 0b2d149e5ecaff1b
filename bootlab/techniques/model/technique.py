"""Technique: one named change to a system, with its text, its proof and what it takes out of a boot.

A technique is a value, put together of four parts that know nothing of each other. The catalogue refuses one whose text
is incomplete, so it can always be read as documentation: what it does, what it risks, who measured what.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from bootlab.system import System
from bootlab.techniques.model.evidence import Measured, Proof
from bootlab.techniques.model.published import Published
from bootlab.techniques.model.removed_work import Removes


class Layer(StrEnum):
    """Where a technique changes the system; the folder of its file and the first word of its name."""

    MACHINE = "machine"
    FIRMWARE = "firmware"
    BOOTLOADER = "bootloader"
    """A board's: U-Boot's configuration, and what is built from it."""
    CMDLINE = "cmdline"
    KERNEL = "kernel"
    """The kernel's configuration, and what is built from it."""
    INITRAMFS = "initramfs"
    ROOTFS = "rootfs"
    APPLICATION = "application"
    """How the system's own program is configured, compiled and linked."""
    USERSPACE = "userspace"
    """What is started before it, and by whom."""


class Risk(StrEnum):
    """Whether the technique may stand in the recommended stack."""

    NONE = "none"
    FUNCTION = "function"
    """A device, a log, a feature or the system's own speed is lost; safe where nobody needs it."""
    SECURITY = "security"
    """A protection is gone."""


@dataclass(frozen=True, slots=True)
class Text:
    """What a reader is told about a technique."""

    summary: str
    """One line that completes the sentence "This technique ..."."""
    mechanism: str
    """Why boot time falls: what is no longer executed or waited for."""
    cost: str
    """What is lost or risked, in words a product owner understands."""
    risk: Risk
    published: tuple[Published, ...]


Apply = Callable[[System, Measured], System]
Applies = Callable[[System, Measured], str | None]
Learning = Callable[[System], System]


def everywhere(system: System, measured: Measured) -> str | None:
    """Return None: a change that every system can have."""
    return None


@dataclass(frozen=True, slots=True)
class Change:
    """What a technique does to a system at one layer."""

    layer: Layer
    knob: str
    """The exact option, as a user would write it."""
    apply: Apply
    """Returns the changed system. Raises InputError when it cannot."""
    applies: Applies = everywhere
    """None when the technique applies to the system, else why it does not."""
    adds: bool = False
    """It gives the system a feature, and the boot pays for it: tried where it is named, never on every system."""
    options: tuple[str, ...] = ()
    """The options of the kernel's configuration that it is about; what else changes with them is told in its row."""
    learning: Learning | None = None
    """Returns the system whose boot, made first, prints as facts what `apply` needs; None: it needs no boot."""
    learns_places: bool = False
    """What it learns is where things lie on the disk, so a stack takes it behind all that change what lies there."""


@dataclass(frozen=True, slots=True)
class Technique:
    """A named change to a system."""

    name: str
    """`<layer>_<what>`."""
    text: Text
    change: Change
    proof: Proof
    removes: Removes | None = None
    """None when no function stands for what it spares: half the memory is half of many functions."""
