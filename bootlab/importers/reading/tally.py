"""Keeps count of what an importer makes of each line, so that none is lost without a word.

An importer that reads line by line says so of the line it is at; of which it says nothing, that line is left out by
name. One that holds the whole file says it in numbers. Either way the counts add up to the file.
"""

from typing import Final

from bootlab.timeline.line_account import Fate, LineAccount, LineShare

_LONGEST_EXAMPLE: Final = 120
_UNKNOWN: Final = (Fate.LEFT_OUT, "no line of this format")
_EMPTY: Final = (Fate.ASIDE, "empty lines")
MISSING: Final = "not accounted for"


class Tally:
    """What became of the lines of one file, so far."""

    def __init__(self) -> None:
        self.unit = "lines"
        """What is counted."""
        self.records: int | None = None
        """How many there are, where it is no lines that are counted."""
        self._shares: dict[tuple[Fate, str], tuple[list[int], str]] = {}
        self._row: str | None = None
        self._fate: tuple[Fate, str] | None = None

    def of_records(self, unit: str, count: int) -> None:
        """Say that the file is not read as lines: it has `count` of what `unit` names."""
        self.unit, self.records = unit, count

    def begin(self, row: str) -> None:
        """Account for the line before, and go on to this one."""
        self.end()
        self._row = row

    def end(self) -> None:
        """Account for the last line."""
        if self._row is not None:
            fate = self._fate or (_UNKNOWN if self._row.strip() else _EMPTY)
            self.add(*fate, first=self._row)
        self._row = self._fate = None

    def used(self, what: str) -> None:
        """Say that the line at hand became a figure or an event: what it is, in words."""
        self._fate = (Fate.USED, what)

    def text(self, what: str) -> None:
        """Say that the line at hand is kept as text."""
        self._fate = (Fate.TEXT, what)

    def aside(self, what: str) -> None:
        """Say that the line at hand is one of the format's that says nothing of times."""
        self._fate = (Fate.ASIDE, what)

    def leave_out(self, why: str) -> None:
        """Say that the line at hand is left out, and why."""
        self._fate = (Fate.LEFT_OUT, why)

    def add(self, fate: Fate, what: str, count: int = 1, *, first: str = "") -> None:
        """Account for `count` lines at once; `first` is the first of them."""
        if count > 0:
            share = self._shares.get((fate, what))
            if share is None:
                share = self._shares[fate, what] = ([0], first.strip()[:_LONGEST_EXAMPLE])
            share[0][0] += count

    def counted(self) -> int:
        """Return how many lines are accounted for."""
        return sum(count for (count,), _ in self._shares.values())

    def account(self, count: int) -> LineAccount:
        """Return the account of a file of `count` lines; what nobody spoke of is in it by that name."""
        missing = count - self.counted()
        if missing > 0:
            self.add(Fate.LEFT_OUT, MISSING, missing)
        order = list(Fate)
        shares = [LineShare(*key, number, first) for key, ((number,), first) in self._shares.items()]
        return LineAccount(
            self.unit, count, tuple(sorted(shares, key=lambda one: (order.index(one.fate), -one.count, one.what)))
        )


def left_out_notes(account: LineAccount) -> tuple[str, ...]:
    """Return what must be said of the lines that were left out: how many, why, and the first of them."""
    return tuple(
        f"{share.count} of {account.count} {account.unit} left out: {share.what}"
        + (f"; the first: {ascii(share.first)[1:-1]}" if share.first else "")
        + "."
        for share in account.shares
        if share.fate is Fate.LEFT_OUT
    )
