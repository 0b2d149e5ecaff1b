"""The page of a disk image's lives: their phases on one axis, what only the first did, chance, every boot."""

from bootlab.experiments.chance import Chance
from bootlab.experiments.lives.result import LivesResult
from bootlab.report.boots.side_by_side import Side
from bootlab.report.lives.words import chance_words, life_words, process_words, rest_words, title
from bootlab.report.parts.console import Console
from bootlab.report.parts.figures import clock_of, median_boot, ms
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.markup import Html, join, tag
from bootlab.report.parts.sections import (
    as_members,
    console_section,
    fold,
    key_figure,
    key_figures,
    members_table,
    record_provenance,
    section,
    short_hash_list,
    waterfall,
)
from bootlab.report.parts.whole_page import page_header, shell


def lives_page(result: LivesResult, consoles: list[Console]) -> str:
    """Return the page; `consoles`: of the first seed's boot of each life."""
    middles = [median_boot(one.boots) for one in result.lives]
    sides = [
        Side(f"life {one.life}", "baseline" if one.life == 1 else "recommended", middle.ready_ns, middle.phases)
        for one, middle in zip(result.lives, middles, strict=True)
    ]
    groups = [(f"life {one.life}", as_members(one.boots)) for one in result.lives]
    sections = [
        section("phases", "Life by life", waterfall(sides, result.clock), lead=title(result)),
        section("first", "What the first life did", _only_first(result)) if result.only_first else Html(),
        section("chance", "What is chance", _chances(result)) if result.chances else Html(),
        console_section(consoles),
        section("values", "Raw values", fold(
            f"All {sum(len(one.boots) for one in result.lives)} boots", members_table(groups, result.clock)
        )),
        join(record_provenance(middle, f"life {one.life}") for one, middle in zip(result.lives, middles, strict=True)),
    ]  # fmt: skip
    keys = key_figures(
        *(
            key_figure(
                f"life {one.life}",
                "baseline" if one.life == 1 else "recommended",
                ms(one.ready.median_ns) if one.ready else "not ready",
                f"ms {result.clock}" if one.ready else "",
                f"without what is chance {life_words(one)} ms" if one.steady else f"{len(one.boots)} boots",
            )
            for one in result.lives
        )
    )
    hashes = short_hash_list(middles[-1].hashes)
    head = page_header("lives", result.system, clock_of(middles), keys, hashes)
    return shell(f"{result.system}: {len(result.lives)} lives", head, sections)


def _only_first(result: LivesResult) -> Html:
    last = result.lives[-1].life
    columns = [
        Column("up to the line", "code"),
        Column("life 1, ms", "number"),
        Column(f"life {last}, ms", "number"),
        Column("more, ms", "number"),
        Column("work"),
        Column("what life 1 alone said", "code"),
    ]
    rows = [
        [
            Cell(tag("code", step.until), step.until),
            Cell(ms(step.first_ns), step.first_ns),
            Cell(ms(step.later_ns), step.later_ns),
            Cell(ms(step.first_ns - step.later_ns, sign=True), step.first_ns - step.later_ns),
            Cell(", ".join(step.kinds)),
            Cell(_said(step.said, step.said_count)),
        ]
        for step in result.only_first
    ]
    caption = f"Steps in which life 1 differs from life {last}, the largest difference first. {rest_words(result)}."
    return table(caption, columns, rows, kind="steps", sortable=True)


def _said(said: list[str], many: int) -> Html:
    more = [tag("p", f"and {many - len(said)} lines more")] if many > len(said) else []
    return join([*(tag("p", tag("code", line)) for line in said), *more])


def _chances(result: LivesResult) -> Html:
    return tag("ul", *map(_chance, result.chances))


def _chance(chance: Chance) -> Html:
    head, seeds = chance_words(chance)
    return tag("li", head, ": ", seeds, *(tag("p", process_words(one)) for one in chance.processes))
