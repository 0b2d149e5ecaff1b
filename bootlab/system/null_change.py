"""A null change: a system that differs in nothing that matters, so that its boot shows what chance alone does."""

from typing import Final

from bootlab.system.kernel import NULL_WORD, without_null
from bootlab.system.value import System

_MILLIONTHS: Final = 1_000_000
_GOLDEN_MILLIONTHS: Final = 618_034
"""Multiples of the golden ratio, modulo 1, lie evenly in 0 to 1 however many of them are taken (H. Weyl, 1916)."""


def null_change(system: System, number: int) -> System:
    """Return null change `number` (1 and up) of a system: a meaningless word on the kernel's command line.

    With `clock.null_tick_us` its kernel's ticks come at another moment of its work, too: by a part of a tick that goes
    with the number, and is no part of any time.
    """
    changed = system.with_cmdline(f"{NULL_WORD}={number}")
    if system.clock.null_tick_us is None:
        return changed
    part = number * _GOLDEN_MILLIONTHS % _MILLIONTHS
    # Not 0, which would move nothing.
    return changed.with_part("clock", skipped_ns=max(1, system.clock.null_tick_us * 1000 * part // _MILLIONTHS))


def without_null_change(system: System) -> System:
    """Return the system that a null change is one of: without its word, its ticks where they were."""
    if without_null(system.kernel.cmdline) == system.kernel.cmdline:
        return system
    unmoved = system.with_part("kernel", cmdline=without_null(system.kernel.cmdline))
    return unmoved.with_part("clock", skipped_ns=0) if system.clock.null_tick_us is not None else unmoved
