"""What a boot shows of itself, and how two boots prove that a change took effect.

A proof is given the evidence of the changed boot and of the boot before it. The asymmetry is deliberate: NONE overrules
a measured saving, so it is only said when the boot positively shows it; a log that was cut off shows nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Effect(StrEnum):
    """Whether the knob took effect, as the boot itself shows."""

    PROVEN = "proven"
    NOT_SHOWN = "not shown"
    """The boot holds no evidence either way."""
    NONE = "no effect"
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
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Input (`rootfs`, ...) -> bytes, of what a technique is put on; as in `Evidence`."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one boot shows about itself; argv and command line are not evidence."""

    facts: Mapping[str, str]
    initcalls_ns: Mapping[str, int]
    marks: Mapping[str, int]
    """Includes the symbols that the proof asked to `watch`: present when the function ran."""
    console: str
    kaslr_slide: int | None
    kernel_config: Mapping[str, str] = field(default_factory=dict)
    """Of the image that booted, as in `Measured`; empty when it is not known."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Input (`kernel`, `initramfs`, `rootfs`, `disk0`, ...) -> bytes."""
    read_bytes: Mapping[str, int] = field(default_factory=dict)
    """Phase -> bytes that were read in it, from a board's card or from disks; empty where that is not counted."""
    exits: Mapping[str, int] = field(default_factory=dict)
    """Class of exit of KVM, or of fault -> how often up to ready; empty where no host model was charged."""
    passed_bytes: Mapping[str, int] = field(default_factory=dict)
    """Modelled disk (`rootfs`, ...) -> bytes between the end of a read and the beginning of the next, added up."""
    firmware_programs: frozenset[str] = frozenset()
    """What of UEFI's programs, and of the network card's ROM, was started; empty where none was looked for."""
    wakes_ns: Mapping[str, int] = field(default_factory=dict)
    """Device of a machine that slept, with its driver before it (`usb 1-1`), -> how long its callbacks took as it woke.

    Those of 0.1 ms and more; empty where nobody asked for them (`power_on.devices`)."""


Prove = Callable[[Evidence, Evidence], Effect]


@dataclass(frozen=True, slots=True)
class Proof:
    """How boots show that a knob took effect."""

    prove: Prove
    """Given the evidence of the changed boot and of the boot before, says whether the knob took effect."""
    watch: tuple[str, ...] = ()
    """Kernel symbols whose first execution the boots on both sides record as marks `watch:SYMBOL`.

    `SPL:FUNCTION` is a function of a board's first stage.
    """
