"""The pages of trials, boots, series and comparisons. What is common to every page is in whole_page.py."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from bootlab.experiments.chance import Chance
from bootlab.experiments.trial.result import TryResult
from bootlab.measure.record import BootRecord, InitcallRecord
from bootlab.measure.statistics.series import spread_ns
from bootlab.report.boots.reads import reads_table
from bootlab.report.boots.screen import screen_section
from bootlab.report.boots.side_by_side import Side
from bootlab.report.boots.timings import timing_section
from bootlab.report.boots.two_views import side_views, views
from bootlab.report.lives.words import chance_words, side_chances
from bootlab.report.parts import charts
from bootlab.report.parts.cautions import series_warnings, warnings
from bootlab.report.parts.console import Console
from bootlab.report.parts.figures import (
    clock_of,
    count,
    median_boot,
    median_ready_ns,
    model_lines,
    ms,
    percent,
    price_words,
    ready_times,
    spread_words,
)
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.markup import Html, join, tag
from bootlab.report.parts.sections import (
    as_members,
    console_section,
    family,
    fold,
    key_figure,
    key_figures,
    members_table,
    minus,
    pairs,
    provenance,
    record_provenance,
    section,
    short_hash_list,
    waterfall,
)
from bootlab.report.parts.whole_page import page_header, shell
from bootlab.report.trial.pictures import pictures_words
from bootlab.report.trial.sections import (
    ablation_table,
    boots_in,
    files_table,
    ladder,
    try_groups,
    try_keys,
    verdict_table,
)
from bootlab.report.trial.timings import timings_of_page
from bootlab.report.trial.words import clock_words, cost_words, from_mark_words, sides_of

__all__ = ["Console", "boot_page", "compare_page", "series_page", "try_page"]

_LONGEST = 25


def try_page(result: TryResult, consoles: Sequence[Console] = ()) -> str:
    """Return the page of a trial. `consoles`: of the baseline and of the boots that ended the stacks, as there are."""
    clock = clock_words(result)
    base = result.baseline
    noise = [
        ("seeds", "baseline", [one.judged_ns for one in base.members if one.judged_ns is not None]),
        ("null changes", "null", [one.judged_ns for one in base.null_members if one.judged_ns is not None]),
    ]
    what = result.clock if result.price is None else price_words(result.price.model)
    told = [": ".join(chance_words(one, of_life=False)) for one in result.chances]
    sections = [
        join(tag("p", caution, class_="caution", role="note") for caution in told),
        section("phases", "Where the time goes", waterfall(sides_of(result), what), _load_note(result)),
        section("stacks", "What adds up", ladder(result)),
        section("ablation", "What each adds to the whole", ablation_table(result)) if result.ablation else Html(),
        section("techniques", "What each technique saves alone", verdict_table(result)) if result.alone else Html(),
        section("timings", "What users feel", felt) if (felt := _felt(result)) else Html(),
        section("sizes", "Sizes and times", files_table(result)) if result.baseline.sizes else Html(),
        section(
            "noise", "How far it moves for no reason", family(noise, what),
            lead="Each boot repeats exactly, but any change re-rolls addresses and scheduling. A saving counts only "
            "outside this spread." if result.clock == "virtual" else "A saving counts only outside this spread.",
        ),
        console_section(consoles),
        section("values", "Raw values", fold(
            f"All {boots_in(result)} boots", members_table(try_groups(result), result.clock)
        )),
        section("provenance", "Provenance", provenance(result.hashes, result.host, [
            ("plan", result.plan), ("seeds", ", ".join(map(str, result.seeds))),
            *([("board model", result.board_model.label)] if result.board_model is not None else []),
            ("cost", cost_words(result) or "not recorded"),
            *(("from a mark", line.strip()) for line in from_mark_words(result.from_mark)),
            ("baseline run", tag("code", result.baseline_run)), ("run", tag("code", result.run)),
        ])),
    ]  # fmt: skip
    hashes = short_hash_list(result.hashes, result.board_model)
    head = page_header("techniques tried", result.system, clock, try_keys(result), hashes)
    return shell(f"{result.system}: techniques tried", head, sections)


def _felt(result: TryResult) -> Html:
    words = pictures_words(result)
    return join([timings_of_page(result), tag("p", words) if words else ""])


def boot_page(record: BootRecord, consoles: Sequence[Console] = ()) -> str:
    """Return the page of one boot, ready or not."""
    sections = [
        section("phases", "Where the time goes", _waterfalls([[record]]), _load_of([record]), reads_table([record])),
        timing_section([record]),
        screen_section([record]),
        section("initcalls", "Longest initcalls", _initcalls(record)) if record.initcalls else Html(),
        console_section(consoles),
        section("values", "Marks and facts", fold("Marks, ns since power-on", pairs(
            [(name, count(time)) for name, time in sorted(record.marks.items(), key=lambda mark: mark[1])]
        )), fold("Facts the guest printed", pairs(sorted(record.facts.items())))),
        record_provenance(record),
    ]  # fmt: skip
    head = page_header(
        "one boot",
        record.system,
        clock_of([record]),
        _boot_keys(record),
        short_hash_list(record.hashes, record.board_model),
    )
    return shell(f"{record.system}: one boot", head, sections)


def series_page(records: Sequence[BootRecord], consoles: Sequence[Console] = (), chances: Sequence[Chance] = ()) -> str:
    """Return the page of a series: at least one boot of one system, on one clock.

    `chances`: what took another time with every seed.
    """
    cautions = [*series_warnings(records), *(": ".join(chance_words(one, of_life=False)) for one in chances)]
    middle = median_boot(records)
    sections = [
        join(tag("p", caution, class_="caution", role="note") for caution in cautions),
        section("family", "Every boot", _families([("boots", "recommended", records)]),
                members_table([(middle.system, as_members(records))], middle.clock)),
        section("phases", "Where the time goes", _waterfalls([[middle]]), _load_of([middle]), reads_table([middle]),
                lead=f"The median boot, seed {middle.seed}."),
        timing_section(records),
        screen_section(records),
        console_section(consoles),
        record_provenance(middle),
    ]  # fmt: skip
    hashes = short_hash_list(middle.hashes, middle.board_model)
    head = page_header(f"series of {len(records)}", middle.system, clock_of(records), _series_keys(records), hashes)
    return shell(f"{middle.system}: series of {len(records)} boots", head, sections)


def compare_page(
    before: Sequence[BootRecord],
    after: Sequence[BootRecord],
    verdict: str = "",
    consoles: Sequence[Console] = (),
    chances: Mapping[str, Sequence[Chance]] = MappingProxyType({}),
) -> str:
    """Return the page that lays two boots, or the median boots of two series, side by side.

    `verdict` is a line that says whether the difference is outside the spread, when somebody measured that; `chances`:
    side -> what took another time there with every seed. Raises InputError when the sides are on different clocks.
    """
    cautions = [*warnings(before, after), *side_chances(chances)]
    one, other = median_boot(before), median_boot(after)
    sides = [_side(one, "before", "baseline"), _side(other, "after", "recommended")]
    boots = [(side.title, side.kind, records) for side, records in zip(sides, (before, after), strict=True)]
    groups = [("before", as_members(before)), ("after", as_members(after))]
    sections = [
        join(tag("p", caution, class_="caution", role="note") for caution in cautions),
        section(
            "phases",
            "Phase by phase",
            _waterfalls([before, after]),
            _load_of([one, other]),
            reads_table([one, other], ["before, bytes read", "after, bytes read"]),
        ),
        section("family", "Every boot", _families(boots), members_table(groups, one.clock)),
        timing_section(before, after),
        *(screen_section([middle], side) for middle, side in ((one, "before"), (other, "after"))),
        console_section(consoles),
        record_provenance(one, "before"),
        record_provenance(other, "after"),
    ]
    name = one.system if one.system == other.system else f"{one.system} \N{RIGHTWARDS ARROW} {other.system}"
    keys = _compare_keys(before, after, verdict)
    head = page_header("comparison", name, clock_of([*before, *after]), keys, Html())
    return shell(f"{name}: comparison", head, sections)


def _waterfalls(series: Sequence[Sequence[BootRecord]]) -> Html:
    """Return the phases of the median boot of each series; of priced boots twice, by each of their two figures."""
    titles = [("boot", "recommended")] if len(series) == 1 else [("before", "baseline"), ("after", "recommended")]
    shown = []
    for what, groups in side_views(series):
        sides = [_side(median_boot(records), *title) for records, title in zip(groups, titles, strict=True)]
        shown.append(waterfall(sides, what))
    return join(shown)


def _families(rows: Sequence[tuple[str, str, Sequence[BootRecord]]]) -> Html:
    """Return the boots of each row as dots; of priced boots twice, by each of their two figures."""
    shown = []
    for what, groups in side_views([records for _, _, records in rows]):
        dots = [(title, kind, ready_times(records)) for (title, kind, _), records in zip(rows, groups, strict=True)]
        shown.append(family(dots, what))
    return join(shown)


def _side(record: BootRecord, title: str = "boot", kind: str = "recommended") -> Side:
    return Side(title, kind, record.ready_ns, record.phases)


def _boot_keys(record: BootRecord) -> Html:
    outcome = record.outcome.value
    ready = record.ready_ns
    note = record.detail or f"seed {record.seed}"
    figures = [key_figure("ready" if ready else "outcome", "recommended" if ready else "failed", ms(ready) or outcome,
                          f"ms {record.clock}" if ready else "", note)]  # fmt: skip
    if record.price is not None:
        price = record.price
        figures = [key_figure(what, "recommended", ms(view.ready_ns), "ms", note) for what, (view,) in views([record])]
        parts = f"of it exits and pages {ms(price.charged_ns)} ms, rules {price.rules}, memory {price.memory}"
        figures.append(key_figure("rate", "", f"{price.ns_per_instruction:g}", "ns an instruction", parts))
    if record.instructions is not None:
        figures.append(key_figure("instructions", "", count(record.instructions), "", "executed up to ready"))
    if record.idle_ns is not None:
        share = percent(record.idle_ns, ready)
        note = f"{share} % of the boot: no instruction ran" if share else "no instruction ran"
        figures.append(key_figure("idle", "", ms(record.idle_ns), f"ms {record.clock}", note))
    return key_figures(*figures)


def _series_keys(records: Sequence[BootRecord]) -> Html:
    times = ready_times(records)
    kind = "" if len(times) == len(records) else "failed"
    figures = []
    for what, view in views(records):
        of_view, middle = ready_times(view), median_ready_ns(view)
        spread = f"spread {spread_words(spread_ns(of_view), middle)}" if times else "none was ready"
        unit = f"ms {what}" if times else ""
        figures.append(key_figure("median", "recommended", ms(middle) or "none", unit, spread))
    return key_figures(
        *figures,
        key_figure("ready", kind, f"{len(times)} of {len(records)}", "boots", _failures(records)),
    )


def _failures(records: Sequence[BootRecord]) -> str:
    failed = [f"{record.outcome.value} (seed {record.seed})" for record in records if record.ready_ns is None]
    return ", ".join(failed) or "every boot was ready"


def _compare_keys(before: Sequence[BootRecord], after: Sequence[BootRecord], verdict: str) -> Html:
    found = []
    for what, (left, right) in side_views([before, after]):
        found += _compared(left, right, what, verdict)
    return key_figures(*found)


def _compared(before: Sequence[BootRecord], after: Sequence[BootRecord], what: str, verdict: str) -> list[Html]:
    one, other = (median_ready_ns(records) for records in (before, after))
    unit = f"ms {what}"
    figures = [
        key_figure("before", "baseline", ms(one) or "not ready", unit if one else "", before[0].system),
        key_figure("after", "recommended", ms(other) or "not ready", unit if other else "", after[0].system),
    ]
    if one and other:
        share = f"{minus(percent(other - one, one, sign=True))} %"
        figures.append(
            key_figure(
                "change", "", minus(ms(other - one, sign=True)), unit, f"{share}, {verdict}" if verdict else share
            )
        )
    return figures


def _initcalls(record: BootRecord) -> Html:
    longest: list[InitcallRecord] = sorted(record.initcalls, key=lambda call: -call.duration_ns)[:_LONGEST]
    most_ns = longest[0].duration_ns
    rows = [
        [
            Cell(tag("code", call.name), call.name),
            Cell(charts.bars([[charts.Bar(0, call.duration_ns, "recommended")]], most_ns), call.duration_ns),
            Cell(ms(call.duration_ns), call.duration_ns),
            Cell(ms(call.start_ns), call.start_ns),
        ]
        for call in longest
    ]
    columns = [Column("initcall", "code"), Column("took", "chart")]
    columns += [Column("took, ms", "number"), Column("at, ms", "number")]
    caption = (
        f"The longest {len(longest)} of {count(len(record.initcalls))} initcalls, ms on the {record.clock} clock; "
        "each lasts to the start of the next one."
    )
    return table(caption, columns, rows, kind="initcalls", sortable=True)


def _load_note(result: TryResult) -> Html:
    if result.storage is None:
        return Html()
    loads = [("baseline", result.baseline.load_ns), *((stack, end.load_ns) for stack, end in result.final.items())]
    words = ", ".join(f"{name} {ms(load_ns)} ms" for name, load_ns in loads)
    return tag("p", f"Before power-on, {result.storage.words}: {words}.")


def _load_of(records: Sequence[BootRecord]) -> Html:
    return join(tag("p", line) for line in model_lines(records))
