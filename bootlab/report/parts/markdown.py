"""Tables in Markdown, for documents, issues and messages: what a run measured, with what it was measured on."""

from collections.abc import Sequence
from textwrap import fill

from bootlab.report.parts.figures import visible


def markdown_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; a title that ends in `>` is of a column of figures, which stand to the right."""
    names = [title.removesuffix(">") for title in titles]
    rulers = ["---:" if title.endswith(">") else "---" for title in titles]
    lines = [_line(names), f"|{'|'.join(rulers)}|", *(_line(row) for row in rows)]
    return "\n".join(lines)


def code(name: str) -> str:
    """Return a name as code."""
    return f"`{plain(name)}`" if name else ""


def prose(text: str) -> str:
    """Return a sentence broken into lines of 120 columns, as the documents have them."""
    return fill(text, 120, break_long_words=False, break_on_hyphens=False)


def bold(words: str) -> str:
    """Return words that stand out."""
    return f"**{words}**" if words else ""


def plain(text: str) -> str:
    """Return text of a run as one line that ends no cell and begins no markup."""
    return visible(text).replace("|", "\\|").replace("`", "'").replace("<", "&lt;")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |")
