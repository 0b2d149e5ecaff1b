"""Parts of docs/techniques.md beside the catalogue: published tables with our figures, and what is gone."""

from collections.abc import Sequence

from bootlab.techniques.page.measured_figures import MeasuredFigure, figures_of
from bootlab.techniques.page.obsolete import OBSOLETE
from bootlab.techniques.page.published_row import PublishedRow
from bootlab.techniques.page.published_tables import TABLES

NOT_MEASURED = "not measured yet"


def tables_section(measured: Sequence[MeasuredFigure]) -> str:
    """Return the published tables, each row with what it is called here and what we measured."""
    parts = [
        "\n## Five accounts\n\nFive published accounts of how a boot was made short, row by row, with our figures "
        "beside theirs. Ours are of the technique alone on the system named, and say nothing about their board; the "
        "command is in [measured.json](measured.json). One on top of the other, in the author's order, the board's are "
        "in [cases/camera-board.md](cases/camera-board.md).\n"
    ]
    for table in TABLES:
        parts.append(f"\n### {table.title}\n\n{table.where}.\n\n")
        parts.append("| their row | their figure | here | our figure |\n|---|---|---|---|\n")
        parts += [_row(row, measured) for row in table.rows]
    return "".join(parts)


def gone_section() -> str:
    """Return the list of what can no longer be tried."""
    lines = [f"- **{one.name}**: {one.why}." for one in OBSOLETE]
    return "\n## Gone, and why\n\n" + "\n".join(lines) + "\n"


def _row(row: PublishedRow, measured: Sequence[MeasuredFigure]) -> str:
    if not row.techniques:
        return f"| {row.row} | {row.figure} | {row.why} | |\n"
    here = ", ".join(f"[{name}](#{name})" for name in row.techniques)
    ours = [
        f"{name}: {words}" if len(row.techniques) > 1 else words
        for name in row.techniques
        for words in figures_of(name, measured) or [NOT_MEASURED]
    ]
    caveat = f" ({row.caveat})" if row.caveat else ""
    return f"| {row.row} | {row.figure} | {here} | {'; '.join(ours)}{caveat} |\n"
