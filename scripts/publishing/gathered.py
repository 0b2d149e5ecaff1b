"""A gathered table: people put it together from several runs, so no one command prints it again.

The record knows the files of the tree that decide its figures as they were when it was measured. A table that is older
than one of them says so in its last line, or is a fault.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from scripts.publishing.tables import (
    ROOT,
    WINDOW,
    Recorded,
    changed_inputs,
    inputs_now,
    read_record,
    text_between,
    text_hash,
)

GATHERED: Final = ROOT / "docs" / "gathered.json"
_OPENING: Final = re.compile(r"<!-- gathered: (.*?) -->")
_OLDER: Final = re.compile(r"\nMeasured before a change of [^|]*\.\n\Z")
_NAMED: Final = 4
"""Files, or globs of them, that the last line of an older table names; it counts the others."""
_NOT_MEASURED: Final = "<!-- not measured -->"
# One page is made anew of the catalogue and its record whenever either changes, and says so where it begins.
_MADE: Final = re.compile(r"\A# .*\n\nWhat .*? This page is generated ", re.S)
# A cell that begins with a number: a range or a unit may follow.
_FIGURE: Final = re.compile(r"\|\s*\**[-+]?\d[^|`]*(?=\|)")


def read_gathered() -> dict[str, Recorded]:
    """Return name -> table, as the record has them."""
    return read_record(GATHERED, Recorded)


def gathered_text(name: str, document: str) -> str | None:
    """Return what stands between the two comments of a table; None where they are missing or stand twice."""
    return text_between("gathered", name, document)


def as_measured(name: str, table: Recorded, root: Path = ROOT) -> Recorded:
    """Return the record of a table that was measured on the tree as it lies now.

    Raises ValueError where the document has no such table, or one that says to be older.
    """
    text = _text(name, table, root)
    if _OLDER.search(text):
        raise ValueError(f"{name}: {table.document}: it says to be older: leave that line out once it is new")
    return table.model_copy(update={"inputs": inputs_now(table, root), "text_sha256": text_hash(text)})


def as_older(name: str, table: Recorded, root: Path = ROOT) -> Recorded:
    """Say in the document which files changed behind a table, and return its record; the inputs stay as they were.

    Raises ValueError where the document has no such table.
    """
    path = root / table.document
    text = _text(name, table, root)
    new = _OLDER.sub("", text) + _older_line(changed_inputs(table, root), root)
    written = path.read_text(encoding="utf-8").replace(_between(name, text), _between(name, new))
    path.write_text(written, encoding="utf-8")
    return table.model_copy(update={"text_sha256": text_hash(new)})


def find_gathered_faults(tables: Mapping[str, Recorded], root: Path = ROOT) -> Iterator[str]:
    """Yield what is wrong with the gathered tables: edited, older in silence, without a record, or with none at all."""
    for name, table in tables.items():
        text = gathered_text(name, (root / table.document).read_text(encoding="utf-8"))
        if text is None:
            yield f"{name}: {table.document} has no such table between its two comments"
            continue
        if not table.inputs:
            yield f"{name}: docs/gathered.json: no file decides its figures: then nothing says when it is older"
        if text_hash(text) != table.text_sha256:
            yield f"{name}: {table.document}: not what was recorded: scripts/publish --gathered {name}, once measured"
        changed = changed_inputs(table, root)
        said = _OLDER.search(text)
        if (said[0] if said else "") != _older_line(changed, root):
            than = ", ".join(changed) or "nothing, but says so"
            yield (
                f"{name}: {table.document}: older than {than}: measure it again, "
                f"or scripts/publish --older {name} says so there"
            )
    for path in sorted({root / "README.md", *(root / "docs").rglob("*.md")}):
        text, place = path.read_text(encoding="utf-8"), path.relative_to(root)
        for name in _OPENING.findall(text):
            if name not in tables or root / tables[name].document != path:
                yield f"{name}: {place}: docs/gathered.json does not know this table"
        for number in unrecorded_lines(text):
            yield (
                f"{place}:{number}: a table of figures that no command measured (scripts/publish) and no "
                f"`<!-- gathered: NAME -->` claims; `{_NOT_MEASURED}` above it if nobody here measured it"
            )


def unrecorded_lines(text: str) -> Iterator[int]:
    """Yield the first line of each table of figures that no comment claims."""
    if _MADE.match(text):
        return
    claimed = re.compile(r"<!-- (?:measured|gathered|keys): (.*?) -->\n.*?<!-- end: \1 -->", re.S)
    # A claimed table becomes as many empty lines, so that the others keep their numbers.
    lines = claimed.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n")
    first = None
    for number, line in enumerate([*lines, ""], 1):
        if line.lstrip().startswith("|"):
            first = first or number
        elif first is not None:
            rows = lines[first - 1 : number - 1]
            if len(_FIGURE.findall("\n".join(rows))) > 1 and lines[first - 2] != _NOT_MEASURED:
                yield first
            first = None


def _text(name: str, table: Recorded, root: Path) -> str:
    text = gathered_text(name, (root / table.document).read_text(encoding="utf-8"))
    if text is None:
        raise ValueError(
            f"{name}: {table.document} has no <!-- gathered: {name} --> ... <!-- end: {name} -->, or has it twice"
        )
    return text


def _between(name: str, text: str) -> str:
    return f"<!-- gathered: {name} -->\n{text}<!-- end: {name} -->"


def _older_line(changed: list[str], root: Path) -> str:
    if not changed:
        return ""
    # A file that is gone is counted alone: a document names what is there.
    named = [f"`{pattern}`" for pattern in changed if any(root.glob(pattern))][:_NAMED]
    left = len(changed) - len(named)
    said = f"Measured before a change of {', '.join(named) or f'files that are gone: {left}'}"
    said += f"; more such: {left}." if named and left else "."
    return "\n" + textwrap.fill(said, WINDOW, break_long_words=False, break_on_hyphens=False) + "\n"
