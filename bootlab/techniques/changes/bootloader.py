"""U-Boot built with other options, why a board's bootloader cannot be, and what its console proves."""

import re
from collections.abc import Callable, Mapping

from bootlab.system import System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.technique import Applies, Apply


def not_built(system: System) -> str | None:
    """Say why there is no bootloader to build anew; None where there is."""
    if system.machine.type.is_real:
        return f"bootlab does not build this board's bootloader ({system.machine.type.value})"
    if system.board is None:
        return f"machine.type {system.machine.type.value!r} has no bootloader"
    return finished_medium(system)


def finished_medium(system: System) -> str | None:
    """Say why bootloader, kernel, command line and initramfs of a board cannot be changed; None where they can."""
    if system.finished_medium is None:
        return None
    key, _ = system.finished_medium
    return f"what the board boots from is finished ({key})"


def no_uboot_proper(system: System) -> str | None:
    """Say why options of U-Boot proper mean nothing; None where they do mean something."""
    if (reason := not_built(system)) is not None:
        return reason
    if system.bootloader is not None and system.bootloader.falcon:
        return "in Falcon mode U-Boot proper never runs"
    return None


Options = Callable[[System], Mapping[str, str]]
"""What a technique asks of a board's U-Boot: option -> value."""


def options_applies(options: Options, unless: Callable[[System], str | None] = no_uboot_proper) -> Applies:
    """Return the check that the bootloader was not asked for all of `options` already.

    `unless` says why they mean nothing: without U-Boot proper, for those that are not of SPL.
    """

    def applies(system: System, measured: Measured) -> str | None:
        if (reason := unless(system)) is not None:
            return reason
        assert system.bootloader is not None
        asked = system.bootloader.options
        if all(asked.get(name) == value for name, value in options(system).items()):
            return "bootloader.options say so already"
        return None

    return applies


def with_bootloader_options(options: Options) -> Apply:
    """Return an `apply` that adds options of U-Boot's configuration."""

    def apply(system: System, measured: Measured) -> System:
        assert system.bootloader is not None
        return system.with_part("bootloader", options={**system.bootloader.options, **options(system)})

    return apply


def console_changes(pattern: str, wanted: str) -> Proof:
    """The bootloader says `pattern` with another first group than before, and now one that `wanted` matches."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        new, old = (re.search(pattern, side.console) for side in (after, before))
        if new is None or old is None or re.fullmatch(wanted, old[1]):
            return Effect.NOT_SHOWN
        return Effect.PROVEN if re.fullmatch(wanted, new[1]) else Effect.NONE

    return Proof(prove)


def console_loses(pattern: str) -> Proof:
    """The bootloader no longer says what it said before."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        if re.search(pattern, after.console):
            return Effect.NONE
        return Effect.PROVEN if re.search(pattern, before.console) else Effect.NOT_SHOWN

    return Proof(prove)
