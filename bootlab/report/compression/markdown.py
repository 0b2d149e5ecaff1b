"""A compression study in Markdown: sizes and times, the total at each storage speed, where the best changes."""

from bootlab.experiments.compression.result import CompressionResult, Table
from bootlab.report.compression.words import CAUTION, UNPACK, best_at, clock, range_words, speed, why
from bootlab.report.parts.figures import count, ms, short_hashes
from bootlab.report.parts.markdown import bold, markdown_table, plain, prose


def compression_markdown(result: CompressionResult) -> str:
    """Return a table for each thing that was compressed, and under it from which speed on which choice is best."""
    parts = []
    for table in result.tables:
        latency = f" and {result.latency_us:g} us a file" if result.latency_us else ""
        parts.append(prose(f"Compression of the {table.what}; load and boot, ms, by storage speed{latency}:"))
        parts.append(_options(table, result.speeds_mb_s))
        best = ", ".join(f"{one.name} {range_words(one)}" for one in table.best)
        parts.append(prose(f"Best: {best}. {UNPACK[table.what]}"))
    parts += [prose(f"Left out: {plain(one)}") for one in result.left_out]
    parts.append(prose(CAUTION))
    parts.append(prose(f"{plain(result.system)}, {clock(result)}. {short_hashes(result.hashes)}."))
    return "\n\n".join(parts) + "\n"


def _options(table: Table, speeds_mb_s: list[float]) -> str:
    indexes = range(len(speeds_mb_s))
    best = [best_at(table.totals_ns, index) if table.totals_ns else "" for index in indexes]
    rows = []
    for one in table.options:
        totals = table.totals_ns.get(one.name)
        if one.boot is None or totals is None:
            rows.append([one.name, count(one.size), plain(why(one)), *[""] * len(speeds_mb_s)])
            continue
        figures = [bold(ms(totals[index])) if best[index] == one.name else ms(totals[index]) for index in indexes]
        rows.append([one.name, count(one.size), ms(one.unpack.median) if one.unpack else "", *figures])
    return markdown_table(["algorithm", "size>", "unpack ms>", *(f"{speed(one)}>" for one in speeds_mb_s)], rows)
