"""Technique: one named change to a system, with its mechanism, its cost, its sources and its proof.

A technique is a value. The catalogue refuses one whose text is incomplete, so an entry can always be read as
documentation: what it does, what it risks, who measured what, and how a boot shows that the knob took effect.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from bootlab.system import System


class Layer(StrEnum):
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
    """A device, a log or a feature is gone; safe where nobody needs it."""
    SECURITY = "security"
    """A protection is gone."""


class Proof(StrEnum):
    PROVEN = "proven"
    NOT_SHOWN = "not shown"
    """The boot holds no evidence either way."""
    NO_EFFECT = "no effect"
    """The boot shows that the knob did nothing."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What the baseline boot measured, for techniques whose knob is a measured value."""

    facts: Mapping[str, str]
    """Key -> value, as the guest printed them after ready (guest/facts.sh)."""
    initcalls_ns: Mapping[str, int]
    """Initcall function -> duration in ns."""
    marks: Mapping[str, int]
    console: str
    kernel_config: Mapping[str, str] = field(default_factory=dict)
    """Option without CONFIG_ -> its value as built (`y`, `m`, number or text); an option that is off is absent."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one boot shows about itself; argv and command line are not evidence."""

    facts: Mapping[str, str]
    initcalls_ns: Mapping[str, int]
    marks: Mapping[str, int]
    """Includes the symbols that the technique asked to `watch`: present when the function ran."""
    console: str
    kaslr_slide: int | None
    kernel_config: Mapping[str, str] = field(default_factory=dict)
    """Of the image that booted, as in `Measured`; empty when it is not known."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Input (`kernel`, `initramfs`, `rootfs`, `disk0`, ...) -> bytes."""
    read_bytes: Mapping[str, int] = field(default_factory=dict)
    """Phase -> bytes that an emulated board read from its card in it; empty for other machines."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a published figure comes from. `figure` is quoted as published, or `none published`."""

    figure: str
    where: str


@dataclass(frozen=True, slots=True)
class Removes:
    """What a profile shows that a boot with the technique does without: functions with all that they call.

    With `shortens` it bounds the gain (bootlab advise). What the technique needs instead is not taken off.
    """

    what: str
    """Words for a reader: what is spared, as in `self-tests of the crypto API`."""
    functions: tuple[str, ...] = ()
    """Kernel functions, without the compiler's suffixes (`.isra.0`); `caller/function` only below that caller.

    `function [U-Boot]` is one of that stage.
    """
    keeps: tuple[str, ...] = ()
    """Functions called by those that go on all the same, as the writing of what a decompressor unpacks."""
    stages: tuple[str, ...] = ()
    """What runs before the kernel: of `STAGES`."""
    shortens: tuple[str, ...] = ()
    """Functions and stages that still run, and do less: the gain may lie in them too."""
    each: bool = False
    """The technique takes one of the functions at a time, so each is a cost of its own."""
    replaced: bool = False
    """Something else does the same work instead, so the gain is less: another decompressor, say."""


STAGES = ("[firmware]", "[SPL]", "[OpenSBI]", "[U-Boot]", "[decompressor]")
"""The stages of a profile that are no kernel: all before the image's first instruction, and before the kernel's own."""


@dataclass(frozen=True, slots=True)
class Technique:
    """A named change to a system at one layer."""

    name: str
    """`<layer>_<what>`, the name of its file."""
    layer: Layer
    summary: str
    """One line that completes the sentence "This technique ..."."""
    mechanism: str
    """Why boot time falls: what is no longer executed or waited for."""
    knob: str
    """The exact option, as a user would write it."""
    cost: str
    """What is lost or risked, in words a product owner understands."""
    risk: Risk
    sources: tuple[Source, ...]
    apply: Callable[[System, Measured], System]
    """Returns the changed system. Raises InputError when it cannot."""
    prove: Callable[[Evidence, Evidence], Proof]
    """Given the evidence of the changed boot and of the boot before, says whether the knob took effect."""
    applies: Callable[[System, Measured], str | None] = field(default=lambda system, measured: None)
    """None when the technique applies to the system, else why it does not."""
    watch: tuple[str, ...] = ()
    """Kernel symbols whose first execution the boots on both sides record as marks `watch:SYMBOL`."""
    removes: Removes | None = None
    """None when no function stands for what it spares: half the memory is half of many functions."""
    adds: bool = False
    """It gives the system a feature, and the boot pays for it: tried where it is named, never on every system."""
