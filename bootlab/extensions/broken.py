"""What of an extension does not work: noted where it is found, and told by the command line when a verb ends.

An extension is a stranger's code. Whatever it does wrong costs its own file and nothing else, and is named.
"""

import traceback
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Broken:
    """A part of an extension that is left out, or that failed when it was asked."""

    where: str
    """The file, or the entry point of a package."""
    why: str


_noted: dict[Broken, None] = {}


def note_broken(where: str, why: str) -> None:
    """Remember that a part of an extension does not work; the same is remembered once."""
    _noted[Broken(where, why)] = None


def noted() -> tuple[Broken, ...]:
    """Return what was found to be broken so far, in the order in which it was found."""
    return tuple(_noted)


def forget_broken() -> None:
    """Forget what was noted: it has been told."""
    _noted.clear()


def why_it_fails(error: BaseException, file: Path | None = None) -> str:
    """Return an error of a stranger's code in one line: its kind, its words and, where it is in `file`, its line."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    if isinstance(error, SyntaxError) and error.filename == str(file):
        lines = [error.lineno]
    words = " ".join(str(error).split())[:300]
    place = f"line {lines[-1]}: " if lines and lines[-1] else ""
    return f"{place}{type(error).__name__}{f': {words}' if words else ''}"
