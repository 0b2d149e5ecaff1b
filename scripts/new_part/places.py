"""Where new files go: nothing is overwritten, and all are checked before the first is written."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

TEMPLATES: Final = Path(__file__).parent / "templates"
LARGEST_ROOM: Final = 25
"""As many Python files as a folder of the package may have (tests/test_architecture.py)."""
_WORD: Final = re.compile(r"[a-z][a-z0-9_]{1,39}")


class Refused(Exception):
    """What was asked for cannot be made."""


def filled(template: str, **words: str) -> str:
    """Return a template with its places filled."""
    return (TEMPLATES / template).read_text().format(**words)


def expect_word(word: str, what: str) -> str:
    """Return `word`, which becomes a name in Python. Raises Refused."""
    if not _WORD.fullmatch(word):
        raise Refused(f"{word!r} is no name of {what}: 2 to 40 small letters, digits and _, a letter first")
    return word


def write_new(files: Mapping[Path, str], changed: Mapping[Path, str] | None = None) -> None:
    """Write files that are not there yet, then those that change. Raises Refused before anything is written."""
    for path in files:
        if path.exists():
            raise Refused(f"{path}: there already")
    for path, text in {**files, **(changed or {})}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def expect_room(folder: Path) -> None:
    """Raise Refused for a folder of the package that has as many files as it may have."""
    if len(list(folder.glob("*.py"))) >= LARGEST_ROOM:
        raise Refused(
            f"{folder}: has {LARGEST_ROOM} files, as many as a folder may have: add a row to the file of its subject"
        )


def inserted(path: Path, before: str, line: str) -> str:
    """Return the text of a file with a line before the one that begins with `before`. Raises Refused."""
    text = path.read_text()
    at = text.find(f"\n{before}")
    if at < 0:
        raise Refused(f"{path}: no line begins with {before!r}, so there is no place for {line.strip()!r}")
    return f"{text[: at + 1]}{line}{text[at + 1 :]}"


def shown(path: Path, root: Path) -> str:
    """Return a path as a reader here would write it."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
