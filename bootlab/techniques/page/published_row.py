"""A published table of boot-time techniques, and one of its rows."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One published row. With no `techniques`, `why` says what it is instead, or why it is gone."""

    row: str
    figure: str
    """As published."""
    techniques: tuple[str, ...] = ()
    why: str = ""
    caveat: str = ""
    """What a reader must know before setting our figure beside theirs."""


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """One published table, in its order."""

    name: str
    title: str
    where: str
    rows: tuple[PublishedRow, ...]
