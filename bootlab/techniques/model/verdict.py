"""Verdict: what a change was found to do to a boot, in the words that every result, report and figure uses."""

from enum import StrEnum


class Verdict(StrEnum):
    """How a changed system did against the one before it. The values are what JSON holds."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE_SHOWN = "no difference shown"
    BROKE_IT = "broke it"
    """The changed system does not boot or fails its check; no time can make up for that."""
    DOES_NOT_APPLY = "does not apply"
    """The change was not booted: this system has nothing for it to change, or it cannot be made here."""
    NO_VERDICT = "no verdict"
    """What was booted cannot be judged: a boot failed, or there are too few, or not alike."""
