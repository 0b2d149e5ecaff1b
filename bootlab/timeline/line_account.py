"""LineAccount: what became of every line of a file that was read, in counts that add up to the file.

A line makes a figure, or is kept as text, or is known and says nothing of times, or is left out, with the reason.
"""

from dataclasses import dataclass
from enum import StrEnum


class Fate(StrEnum):
    """What a line can come to."""

    USED = "used"
    TEXT = "kept as text"
    ASIDE = "says nothing of times"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class LineShare:
    """Lines that came to the same. `what`: what they became, or why they were left out; `first`: the first of them."""

    fate: Fate
    what: str
    count: int
    first: str


@dataclass(frozen=True, slots=True)
class LineAccount:
    """All lines of a file. `unit`: what is counted: `lines`, or the records of a format that is no text."""

    unit: str
    count: int
    shares: tuple[LineShare, ...]

    def total(self, fate: Fate | None = None) -> int:
        """Return how many lines came to `fate`, or are accounted for at all."""
        return sum(share.count for share in self.shares if fate is None or share.fate is fate)
