"""Recording: what some tool wrote down of a boot, whatever the tool. What importers return and reports show.

Every part may be empty: a blame list has lengths without moments, a metrics file has neither.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from bootlab.timeline.event import Span
from bootlab.timeline.timeline import Timeline

MOST_SPANS: Final = 100_000
"""An importer keeps no more spans than this, the longest, and no more events, the first; it notes what it left out."""


@dataclass(frozen=True, slots=True)
class Length:
    """How long something took, where the source does not say when. `source` is what kind of thing it is."""

    took_ns: int
    source: str
    name: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Stack:
    """How long the last of `frames` took itself, under those before it, in all its calls. The first is the thread."""

    frames: tuple[str, ...]
    own_ns: int
    calls: int


@dataclass(frozen=True, slots=True)
class Series:
    """One figure of several boots, in the order they were made. `unit`: `ns` for times, else as the source says."""

    name: str
    unit: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line that nothing stamped. `after`: how many of the timeline's events stood before it."""

    after: int
    text: str


@dataclass(frozen=True, slots=True)
class Recording:
    """One boot as one tool recorded it, or a series of boots as a list of figures."""

    format: str
    """Name of the importer."""
    tool: str
    """What wrote it, with a version where the file says so."""
    timeline: Timeline
    about_clock: str
    """What the clock is and where its zero lies, as the end of a sentence that begins with the clock's name."""
    phases: tuple[Span, ...] = ()
    """The boot cut into parts that follow each other (source `phase`)."""
    lengths: tuple[Length, ...] = ()
    stacks: tuple[Stack, ...] = ()
    """Where there are stacks, they hold every span, and tracks hold only the longest ones."""
    series: tuple[Series, ...] = ()
    text: tuple[TextLine, ...] = ()
    """Lines that the source gives no time, in their places between the events."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What the source says of the system: kernel version, command line, ..."""
    notes: tuple[str, ...] = ()
    """What a reader must know before trusting a figure, a sentence each."""

    @property
    def end_ns(self) -> int:
        """Return the last moment that the recording knows of; 0 if it knows none."""
        ends = [span.end_ns for span in (*self.timeline.spans, *self.phases)]
        return max([*ends, *(event.t_ns for event in self.timeline.events[-1:])], default=0)

    @property
    def start_ns(self) -> int:
        """Return the first moment that the recording knows of, or 0 if that is later."""
        starts = [span.start_ns for span in (*self.timeline.spans[:1], *self.phases)]
        return min([*starts, *(event.t_ns for event in self.timeline.events[:1]), 0])
