"""A compression study for a terminal: sizes and times, the total at each storage speed, where the best changes."""

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from bootlab.experiments.compression.result import CompressionResult, Table
from bootlab.report.compression.words import CAUTION, UNPACK, best_at, clock, range_words, speed, why
from bootlab.report.parts.figures import count, ms, visible
from bootlab.report.parts.terminal_tables import foot, keep_whole, plain_table

_AT_ONCE = 6
"""Speeds in one table: more do not fit 80 columns."""


def compression(result: CompressionResult) -> RenderableType:
    """Return the whole study."""
    lines: list[RenderableType] = [Text.assemble((visible(result.system), "bold"), "  by compression")]
    for table in result.tables:
        lines += [Text(), Text(f"compression of the {table.what}, power-on to user space", style="bold")]
        lines += [_options(table), Text(UNPACK[table.what], style="dim"), Text()]
        latency = f", {result.latency_us:g} us a file" if result.latency_us else ""
        lines.append(Text(f"load and boot, ms, by storage speed{latency} (* is the best)", style="bold"))
        for start in range(0, len(result.speeds_mb_s), _AT_ONCE):
            lines.append(_totals(table, result.speeds_mb_s, range(start, len(result.speeds_mb_s))[:_AT_ONCE]))
        lines += [Text(), Text("best choice", style="bold")]
        lines += [Text(f"  {one.name}: {range_words(one)}") for one in table.best]
    lines += [Text(f"left out: {visible(one)}", style="dim") for one in result.left_out]
    lines.append(Text(CAUTION, style="dim"))
    return Group(*lines, *foot(clock(result), result.hashes, result.run))


def _options(table: Table) -> RichTable:
    rows = plain_table("algorithm", "size>", "unpack ms>", "boot ms>", "from>", "to>", "")
    keep_whole(rows, rows.columns[1:6])
    for one in table.options:
        if one.boot is None:
            rows.add_row(one.name, count(one.size), "", "", "", "", Text(visible(why(one)), style="red"))
            continue
        unpack = ms(one.unpack.median) if one.unpack is not None else ""
        rows.add_row(one.name, count(one.size), unpack, ms(one.boot.median), ms(one.boot.low), ms(one.boot.high), "")
    return rows


def _totals(table: Table, speeds: list[float], shown: range) -> RichTable:
    rows = plain_table("algorithm", *(f"{speed(speeds[index])}>" for index in shown))
    keep_whole(rows, rows.columns[1:])
    best = {index: best_at(table.totals_ns, index) for index in shown if table.totals_ns}
    for name, totals in table.totals_ns.items():
        figures = [f"{'*' if best[index] == name else ''}{ms(totals[index])}" for index in shown]
        rows.add_row(name, *figures)
    return rows
