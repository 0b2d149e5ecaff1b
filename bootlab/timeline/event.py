"""Event and Span: something happened at a moment, or lasted from one moment to another.

A time means nothing without its clock, so both live in a Timeline, which has exactly one.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """A moment. `source` is who says so: `kernel`, `console`, ..."""

    t_ns: int
    source: str
    name: str


@dataclass(frozen=True, slots=True)
class Span:
    """Something with a start and an end. `source` is who says so, or what kind of thing it is."""

    start_ns: int
    end_ns: int
    source: str
    name: str
    track: str = ""
    """The thread of execution it is part of; spans of one track nest. Empty: it may overlap with anything."""
    about: str = ""
    """What else the source says of it, in words."""

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns
