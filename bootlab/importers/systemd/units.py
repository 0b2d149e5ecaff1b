"""What systemd's outputs have in common: its clock, its phases, the names of units."""

import re
from collections.abc import Mapping
from typing import Final

from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Span

MONOTONIC: Final = Clock("monotonic", 1_000)
"""CLOCK_MONOTONIC in microseconds, as systemd keeps its times. Runs beside printk's clock, from another zero."""
MONOTONIC_MS: Final = Clock("monotonic", 1_000_000)
"""The same, as systemd prints it: whole milliseconds, cut off."""
ABOUT_MONOTONIC: Final = "the kernel's CLOCK_MONOTONIC, as systemd keeps it; firmware and loader lie before its zero"

UNIT_NAME: Final = r"\S+\.(?:service|socket|target|device|mount|automount|swap|timer|path|slice|scope|snapshot)"
"""A unit; `\\x2d` and its like stay as they are, because that is the unit's name."""
_COLOUR = re.compile(r"\x1b\[[0-9;:]*[A-Za-z]")
PARTS: Final = ("firmware", "loader", "kernel", "initrd", "userspace")
"""The parts of a start-up, in order."""


def without_colours(row: str) -> str:
    """Return a line without what SYSTEMD_COLORS puts into it."""
    return _COLOUR.sub("", row)


def phases_of(parts: Mapping[str, int]) -> tuple[Span, ...]:
    """Return the parts of a start-up (name -> ns), of those there are, as phases on systemd's clock.

    Its zero is the kernel's start: firmware and loader come before it.
    """
    at_ns = -parts.get("firmware", 0) - parts.get("loader", 0)
    phases = []
    for name in PARTS:
        if name in parts:
            phases.append(Span(at_ns, at_ns + parts[name], "phase", name))
            at_ns += parts[name]
    return tuple(phases)
