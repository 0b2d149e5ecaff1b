"""Event and Span: something happened at a moment, or lasted from one moment to another.

A time means nothing without its clock, so both live in a Timeline, which has exactly one.
"""

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

LONGEST_NS: Final = 1 << 62
Nanoseconds = Annotated[int, Field(ge=-LONGEST_NS, le=LONGEST_NS)]
"""A time, or how long something took, where one that is on record is read: two of them differ by 64 bits at most."""


@dataclass(frozen=True, slots=True)
class Event:
    """A moment. `source` is who says so: `kernel`, `console`, ..."""

    t_ns: Nanoseconds
    source: str
    name: str


@dataclass(frozen=True, slots=True)
class Span:
    """Something with a start and an end. `source` is who says so, or what kind of thing it is."""

    start_ns: Nanoseconds
    end_ns: Nanoseconds
    source: str
    name: str
    track: str = ""
    """The thread of execution it is part of; spans of one track nest. Empty: it may overlap with anything."""
    about: str = ""
    """What else the source says of it, in words."""

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns
