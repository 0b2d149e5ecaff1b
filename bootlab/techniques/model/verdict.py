"""Verdict: what a change was found to do to a boot, in the words that every result, report and figure uses."""

from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """How a changed system did against the one before it. The values are what JSON holds."""

    SHORTER = "shorter"
    """On the virtual clock: fewer instructions and less idle time, which need not be faster on any real CPU."""
    LONGER = "longer"
    FASTER = "faster"
    """On the wall clock."""
    SLOWER = "slower"
    NO_DIFFERENCE_SHOWN = "no difference shown"
    BROKE_IT = "broke it"
    """The changed system does not boot or fails its check; no time can make up for that."""
    DOES_NOT_APPLY = "does not apply"
    """The change was not booted: this system has nothing for it to change, or it cannot be made here."""
    NO_VERDICT = "no verdict"
    """What was booted cannot be judged: a boot failed, or there are too few, or not alike."""

    @property
    def saves(self) -> bool:
        """Return whether the changed system boots in less time, on its clock."""
        return self in (Verdict.SHORTER, Verdict.FASTER)

    @property
    def costs(self) -> bool:
        """Return whether the changed system boots in more time, on its clock."""
        return self in (Verdict.LONGER, Verdict.SLOWER)

    @property
    def opposite(self) -> "Verdict":
        """Return the verdict on undoing the change; a verdict that says no direction stays itself."""
        return _OPPOSITE.get(self, self)


_OPPOSITE = {
    Verdict.SHORTER: Verdict.LONGER,
    Verdict.LONGER: Verdict.SHORTER,
    Verdict.FASTER: Verdict.SLOWER,
    Verdict.SLOWER: Verdict.FASTER,
}
_VIRTUAL = {Verdict.FASTER.value: Verdict.SHORTER.value, Verdict.SLOWER.value: Verdict.LONGER.value}


def in_words_of_the_clock(row: Any, clock: Any) -> Any:
    """Return a row of a result as read from JSON, its verdict in the words of `clock` (`virtual` or `wall`).

    Results of 0.1 say "faster" and "slower" on both clocks. What is no row is returned as it is.
    """
    verdict = row.get("verdict") if isinstance(row, dict) else None
    if clock != "virtual" or not isinstance(verdict, str):
        return row
    return {**row, "verdict": _VIRTUAL.get(verdict, verdict)}
