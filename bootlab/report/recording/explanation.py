"""How files are read, as a view: importer, what told it, and a table of counts that adds up to the file's lines."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from bootlab.importers.explaining import Explanation
from bootlab.report.parts.figures import count, visible
from bootlab.report.parts.terminal_tables import keep_whole, plain_table
from bootlab.report.parts.view import View

SCHEMA: Final = "bootlab.import-explanation/1"


def explanation_view(files: Sequence[Explanation]) -> View:
    """Return the view of how each of several files is read. It is good where all of them are."""
    lines: list[RenderableType] = []
    for number, one in enumerate(files):
        lines += [*([Text()] if number else []), *_lines(one)]
    document = {"schema": SCHEMA, "files": [asdict(one) for one in files]}
    return View(document, tuple(lines), good=all(one.format and not one.error for one in files))


def _lines(one: Explanation) -> list[RenderableType]:
    lines: list[RenderableType] = [Text(visible(one.name), style="bold")]
    if one.format:
        lines.append(Text(f"read as {one.format}" + (f", told by: {visible(one.told)}" if one.told else ", as asked")))
        if one.also:
            lines.append(Text(f"would do, too: {', '.join(one.also)} (--format NAME)"))
    else:
        lines.append(Text("of no format that is read"))
    if one.error:
        lines.append(Text(f"cannot be read: {visible(one.error)}", style="red"))
    if one.account is not None:
        account = one.account
        rows = plain_table(f"{account.unit}>", "fate", "what", "the first of them")
        keep_whole(rows, rows.columns[:2])
        for share in account.shares:
            rows.add_row(count(share.count), share.fate.value, Text(visible(share.what), overflow="fold"),
                         Text(visible(share.first[:60]), overflow="fold", style="dim"))  # fmt: skip
        rows.add_section()
        rows.add_row(count(account.count), "in all")
        lines.append(rows)
    elif one.made:
        lines.append(Text("it is no text: its lines are not counted"))
    if one.made:
        lines.append(Text("came of it: " + ", ".join(f"{count(number)} {visible(kind)}" for kind, number in one.made)))
    if one.nearest:
        rows = plain_table("nearest", "lines it knows>", "why it is not that")
        keep_whole(rows, rows.columns[:1])
        for near in one.nearest:
            rows.add_row(near.name, count(near.lines), Text(visible(near.why_not), overflow="fold"))
        lines.append(rows)
    return lines
