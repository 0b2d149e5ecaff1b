"""The page of a compression study: time against storage speed, one line an algorithm, and where the best changes."""

import math

from bootlab.experiments.compression.result import CompressionResult, Table, choice_of
from bootlab.report.compression.words import CAUTION, UNPACK, best_at, clock, range_words, speed, why
from bootlab.report.parts.figures import count, ms
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.line_chart import Across, ChartLine, Dot, line_chart
from bootlab.report.parts.markup import Html, join, tag
from bootlab.report.parts.sections import key_figure, key_figures, pairs, provenance, section, short_hash_list
from bootlab.report.parts.whole_page import page_header, shell

_STEPS = 60
"""Places along the axis at which a curve is drawn, besides the speeds of the study."""


def compression_page(result: CompressionResult) -> str:
    """Return the page of a study."""
    sections = [_section(result, one) for one in result.tables]
    lines = [("left out", one) for one in result.left_out]
    sections += [
        tag("p", CAUTION, class_="caution", role="note"),
        section("provenance", "Provenance", provenance(result.hashes, result.host, [
            *lines, ("seeds", ", ".join(map(str, result.seeds))), ("latency", f"{result.latency_us:g} us a file"),
            ("run", tag("code", result.run)),
        ])),
    ]  # fmt: skip
    head = page_header("compression", result.system, clock(result), _keys(result), short_hash_list(result.hashes))
    return shell(f"{result.system}: compression", head, sections, styles=["lines.css"])


def _keys(result: CompressionResult) -> Html:
    slow, fast = result.speeds_mb_s[0], result.speeds_mb_s[-1]
    figures = []
    for one in result.tables:
        if not one.totals_ns:
            continue
        for index, mb_s in ((0, slow), (-1, fast)):
            name = best_at(one.totals_ns, index)
            note = f"{ms(one.totals_ns[name][index])} ms to load and boot"
            figures.append(key_figure(f"{one.what}, storage of {speed(mb_s)}", "recommended", name, "", note))
    return key_figures(*figures)


def _section(result: CompressionResult, one: Table) -> Html:
    title = f"Compression of the {one.what}"
    if not one.totals_ns:
        return section(one.what, title, _options(one))
    best = pairs([(each.name, range_words(each)) for each in one.best])
    return section(
        one.what, title, _chart(result, one), tag("h3", "Where the best choice changes"), best,
        tag("h3", "Sizes and times"), _options(one), tag("h3", "Load and boot by storage speed"), _totals(result, one),
    )  # fmt: skip


def _chart(result: CompressionResult, one: Table) -> Html:
    speeds = result.speeds_mb_s
    low, high = math.log10(min(speeds)), math.log10(max(speeds))
    between = {10 ** (low + (high - low) * step / _STEPS) for step in range(_STEPS + 1)}
    lines = []
    for option in one.options:
        choice = choice_of(option, result.latency_us)
        if choice is None:
            continue
        dots = [Dot(x, choice.total_ns(x)) for x in between]
        dots += [
            Dot(x, choice.total_ns(x), f"{choice.name} at {speed(x)}: {ms(choice.total_ns(x))} ms") for x in speeds
        ]
        lines.append(ChartLine(choice.name, sorted(dots, key=lambda dot: dot.x)))
    ticks = [(x, speed(x)) for x in sorted(speeds) if math.log10(x) == round(math.log10(x))]
    across = Across("storage speed", ticks or [(x, speed(x)) for x in (min(speeds), max(speeds))], log=True)
    caption = f"Load, power-on to user space: instructions + idle, medians over {len(result.seeds)} seeds."
    return line_chart(lines, across, caption, log=True)


def _options(one: Table) -> Html:
    columns = [Column("algorithm", "code"), Column("size, bytes", "number"), Column("unpack, ms", "number")]
    columns += [Column("boot, ms", "number"), Column("from", "number"), Column("to", "number"), Column("outcome")]
    rows = [
        [
            Cell(option.name),
            Cell(count(option.size), option.size),
            Cell(ms(option.unpack.median) if option.unpack else "", option.unpack.median if option.unpack else None),
            *(
                Cell(ms(figure), figure)
                for figure in (
                    (option.boot.median, option.boot.low, option.boot.high) if option.boot else (None, None, None)
                )
            ),
            Cell(why(option)),
        ]
        for option in one.options
    ]
    caption = join(["Power-on to user space without loading, medians over the seeds. ", UNPACK[one.what]])
    return tag("div", table(caption, columns, rows, sortable=True), class_="wide")


def _totals(result: CompressionResult, one: Table) -> Html:
    speeds = result.speeds_mb_s
    best = [best_at(one.totals_ns, index) for index in range(len(speeds))]
    columns = [Column("storage"), *(Column(name, "number") for name in one.totals_ns), Column("best", "code")]
    rows = [
        [Cell(speed(mb_s), mb_s), *(Cell(ms(totals[index]), totals[index]) for totals in one.totals_ns.values()),
         Cell(best[index])]
        for index, mb_s in enumerate(speeds)
    ]  # fmt: skip
    caption = "Load and power-on to user space, ms on the virtual clock; loading from the size, by the storage's speed"
    return tag("div", table(caption, columns, rows), class_="wide")
