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
    """Something with a start and an end. `source` is who says so."""

    start_ns: int
    end_ns: int
    source: str
    name: str

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns
