"""Tables of figures in README and docs that no record knows: nothing would say when they are older than the tree."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from scripts.publishing.tables import ROOT

_NOT_MEASURED: Final = "<!-- not measured -->"
# One page is made anew of the catalogue and its record whenever either changes, and says so where it begins.
_MADE: Final = re.compile(r"\A# .*\n\nWhat .*? This page is generated ", re.S)
_CLAIMED: Final = re.compile(r"<!-- (?:measured|keys): (.*?) -->\n.*?<!-- end: \1 -->", re.S)
# A cell that begins with a number: a range or a unit may follow.
_FIGURE: Final = re.compile(r"\|\s*\**[-+]?\d[^|`]*(?=\|)")


def find_unrecorded(root: Path = ROOT) -> Iterator[str]:
    """Yield each table of figures, in README and below docs, that no comment claims."""
    for path in sorted({root / "README.md", *(root / "docs").rglob("*.md")}):
        for number in unrecorded_lines(path.read_text(encoding="utf-8")):
            yield (
                f"{path.relative_to(root)}:{number}: a table of figures that no command measured (scripts/publish); "
                f"`{_NOT_MEASURED}` above it if nobody here measured it"
            )


def unrecorded_lines(text: str) -> Iterator[int]:
    """Yield the first line of each table of figures that no comment claims."""
    if _MADE.match(text):
        return
    # A claimed table becomes as many empty lines, so that the others keep their numbers.
    lines = _CLAIMED.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n")
    first = None
    for number, line in enumerate([*lines, ""], 1):
        if line.lstrip().startswith("|"):
            first = first or number
        elif first is not None:
            rows = lines[first - 1 : number - 1]
            if len(_FIGURE.findall("\n".join(rows))) > 1 and lines[first - 2] != _NOT_MEASURED:
                yield first
            first = None
