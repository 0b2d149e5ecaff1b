"""Plain tables for a terminal: they fit 80 columns, stay readable when piped, and draw bars in whole cells."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style
from rich.table import Column, Table
from rich.text import Text

from bootlab.report.parts.figures import short_hashes, visible
from bootlab.system import BoardModel


class CellBar:
    """A span of an axis, drawn in whole cells over the width there is."""

    def __init__(self, start: float, end: float, style: str = "blue") -> None:
        self.start, self.end, self.style = start, end, style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        first = min(round(self.start * width), width - 1)
        cells = max(round(self.end * width) - first, 1) if self.end > self.start else 0
        block = "#" if options.ascii_only else "\N{BLACK SQUARE}" if options.legacy_windows else "\N{FULL BLOCK}"
        yield Segment(" " * first)
        yield Segment(block * cells, Style.parse(self.style))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(6, options.max_width)


class ByWidth:
    """A table for terminals of at least `least` columns, and one for narrower ones."""

    def __init__(self, wide: Table, narrow: Table, least: int) -> None:
        self._wide, self._narrow, self._least = wide, narrow, least

    @property
    def row_count(self) -> int:
        """How many rows the wide one has."""
        return self._wide.row_count

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._wide if options.max_width >= self._least else self._narrow


def plain_table(*columns: str) -> Table:
    """Return an empty table. A heading that ends in `>` is of figures: to the right, never wrapped."""
    rows = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim", show_edge=False)
    for column in columns:
        figures = column.endswith(">")
        rows.add_column(Text(column.removesuffix(">")), justify="right" if figures else "left", no_wrap=figures)
    return rows


def keep_whole(rows: Table, columns: Iterable[Column]) -> None:
    """Let these columns keep their width; the others fold."""
    for column in columns:
        column.no_wrap = True
    for column in rows.columns:
        column.overflow = "fold"


def foot(clock: str, hashes: dict[str, str], run: str = "", model: BoardModel | None = None) -> list[RenderableType]:
    """Return the lines below every result: the clock, the inputs' hashes, the board model, the run."""
    lines: list[RenderableType] = [Text(), Text(clock, style="dim")]
    if hashes:
        lines.append(Text(f"sha256: {short_hashes(hashes)}", style="dim"))
    if model is not None:
        lines.append(Text(f"board model: {model.label}", style="dim"))
    if run:
        lines.append(Text(f"run: {visible(run)}", style="dim", overflow="fold"))
    return lines
