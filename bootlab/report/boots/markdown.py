"""Boots, series and comparisons in Markdown: each system with what it takes, what its step saved, and the verdict."""

from collections.abc import Sequence

from bootlab.experiments.comparing import Compared, Comparison, Steps
from bootlab.experiments.series import SeriesResult
from bootlab.measure.price import judged_view
from bootlab.measure.record import BootRecord
from bootlab.report.boots.side_by_side import Side, align
from bootlab.report.boots.timings import timings_markdown
from bootlab.report.boots.two_views import views
from bootlab.report.parts.figures import (
    COUNTED,
    clock_of,
    count,
    median_boot,
    ms,
    price_words,
    ratio_words,
    short_hashes,
)
from bootlab.report.parts.markdown import markdown_table, plain, prose


def compare_markdown(compared: Compared) -> str:
    """Return the systems of a comparison in order, and what they were measured on."""
    result = compared.result
    steps = result.steps if isinstance(result, Steps) else [result]
    whole = result.whole if isinstance(result, Steps) else result
    split = any(step.load_saved_ns is not None for step in steps)
    priced = whole.price is not None
    unit = "ms to ready>" if whole.price is None else f"{price_words(whole.price)} ms>"
    counted = [f"{COUNTED} ms>"] * priced
    titles = ["system", unit, *counted, "saved ms>", *(["of it load ms>"] if split else []), "verdict", "in all>"]
    own = [ms(steps[0].counted_before_ns)] * priced
    rows = [[plain(steps[0].before), ms(steps[0].before_ns), *own, "", *[""] * split, "", ""]]
    rows += [_row(step, whole.before_ns, split, result.clock) for step in steps]
    names = [steps[0].before, *(step.after for step in steps)]
    timings = timings_markdown(names, compared.series)
    parts = [
        markdown_table(titles, rows),
        *([timings] if timings else []),
        *_phases(names, compared.series),
        _measured_on(compared.series, steps, whole),
    ]
    return "\n\n".join(parts) + "\n"


def boot_markdown(record: BootRecord) -> str:
    """Return the phases of one boot, how long each device took to wake if it was asked, and what it was measured on."""
    phases = [[plain(one.name), ms(one.duration_ns)] for one in record.phases]
    whole = ["ready" if record.ready_ns is not None else record.outcome.value, ms(record.ready_ns)]
    parts = [markdown_table(["phase", "ms>"], [*phases, whole])]
    if record.power_on is not None and record.power_on.devices:
        woken = [[plain(one.device), plain(one.driver), ms(one.duration_ns)] for one in record.power_on.devices]
        parts.append(markdown_table(["device that woke", "driver", "ms>"], woken))
        if record.power_on.devices_untold:
            parts.append(prose(f"Devices not told of: {plain(record.power_on.devices_untold)}."))
    return "\n\n".join([*parts, prose(f"{clock_of([record])}. {_inputs([[record]])}")]) + "\n"


def series_markdown(result: SeriesResult) -> str:
    """Return the boots of a series, and what they were measured on."""
    shown = views(result.boots)
    times = [f"{what} ms>" for what, _ in shown] if len(shown) > 1 else ["ms to ready>"]
    rows = [
        [str(one.seed), *(ms(two.ready_ns) or one.outcome.value for two in each), count(one.instructions),
         ms(one.idle_ns)]
        for one, *each in zip(result.boots, *(boots for _, boots in shown), strict=True)
    ]  # fmt: skip
    table = markdown_table(["seed", *times, "instructions>", "idle ms>"], rows)
    return f"{table}\n\n{prose(f'{clock_of(result.boots)}. {_inputs([result.boots])}')}\n"


def _phases(names: Sequence[str], series: Sequence[Sequence[BootRecord]]) -> list[str]:
    middles = [judged_view(median_boot(boots)) for boots in series]
    aligned = align([Side(name, "", one.ready_ns, one.phases) for name, one in zip(names, middles, strict=True)])
    if not aligned:
        return []
    titles = ["phase of the median boot, ms", *(f"{plain(name)}>" for name in names)]
    return [markdown_table(titles, [[plain(row.name), *map(ms, row.durations_ns())] for row in aligned])]


def _row(step: Comparison, start_ns: int | None, split: bool, clock: str) -> list[str]:
    load = [ms(step.load_saved_ns)] if split else []
    of = ratio_words(clock) if step.price is None else f"less {price_words(step.price)}"
    ratio = f"{start_ns / step.after_ns:.2f}x {of}" if start_ns and step.after_ns else ""
    own = [ms(step.counted_after_ns)] * (step.price is not None)
    return [plain(step.after), ms(step.after_ns), *own, ms(step.saved_ns), *load, step.verdict.value, ratio]


def _measured_on(series: Sequence[Sequence[BootRecord]], steps: Sequence[Comparison], whole: Comparison) -> str:
    # The whole has boots of its own that confirm it, and with them the first system may move by more.
    spreads = [step.spread_ns for step in (*steps, whole) if step.spread_ns is not None]
    words = f"no side moves by more than {ms(max(spreads))} ms for no reason" if spreads else ""
    wrong = (
        f"of changes that do nothing at most {steps[0].wrong:.1%} get a verdict" if steps[0].wrong is not None else ""
    )
    said = [one for one in (words, wrong) if one]
    return prose(f"{'; '.join([clock_of([one for boots in series for one in boots]), *said])}. {_inputs(series)}")


def _inputs(series: Sequence[Sequence[BootRecord]]) -> str:
    """Return the hashes of what each system booted from; those that all have alike once."""
    hashes = [median_boot(boots).hashes for boots in series]
    alike = {name: digest for name, digest in hashes[0].items() if all(one.get(name) == digest for one in hashes)}
    lines = [f"All: {short_hashes(alike)}."] if alike else []
    for boots, own in zip(series, hashes, strict=True):
        if different := {name: digest for name, digest in own.items() if name not in alike}:
            lines.append(f"{plain(boots[0].system)}: {short_hashes(different)}.")
    return " ".join(lines)
