"""Comparisons and series in Markdown: each system with what it takes, what its step saved, and the verdict."""

from collections.abc import Sequence

from bootlab.experiments.comparing import Compared, Comparison, Steps
from bootlab.experiments.series import SeriesResult
from bootlab.measure.record import BootRecord
from bootlab.report.boots.side_by_side import Side, align
from bootlab.report.parts.figures import clock_of, count, median_boot, ms, ratio_words, short_hashes
from bootlab.report.parts.markdown import markdown_table, plain, prose


def compare_markdown(compared: Compared) -> str:
    """Return the systems of a comparison in order, and what they were measured on."""
    result = compared.result
    steps = result.steps if isinstance(result, Steps) else [result]
    whole = result.whole if isinstance(result, Steps) else result
    split = any(step.load_saved_ns is not None for step in steps)
    titles = ["system", "ms to ready>", "saved ms>", *(["of it load ms>"] if split else []), "verdict", "in all>"]
    rows = [[plain(steps[0].before), ms(steps[0].before_ns), "", *[""] * split, "", ""]]
    rows += [_row(step, whole.before_ns, split, result.clock) for step in steps]
    parts = [markdown_table(titles, rows), *_phases(steps, compared.series), _measured_on(compared.series, steps)]
    return "\n\n".join(parts) + "\n"


def series_markdown(result: SeriesResult) -> str:
    """Return the boots of a series, and what they were measured on."""
    rows = [
        [str(one.seed), ms(one.ready_ns) or one.outcome.value, count(one.instructions), ms(one.idle_ns)]
        for one in result.boots
    ]
    table = markdown_table(["seed", "ms to ready>", "instructions>", "idle ms>"], rows)
    return f"{table}\n\n{prose(f'{clock_of(result.boots)}. {_inputs([result.boots])}')}\n"


def _phases(steps: Sequence[Comparison], series: Sequence[Sequence[BootRecord]]) -> list[str]:
    names = [steps[0].before, *(step.after for step in steps)]
    middles = [median_boot(boots) for boots in series]
    aligned = align([Side(name, "", one.ready_ns, one.phases) for name, one in zip(names, middles, strict=True)])
    if not aligned:
        return []
    titles = ["phase of the median boot, ms", *(f"{plain(name)}>" for name in names)]
    return [markdown_table(titles, [[plain(row.name), *map(ms, row.durations_ns())] for row in aligned])]


def _row(step: Comparison, start_ns: int | None, split: bool, clock: str) -> list[str]:
    load = [ms(step.load_saved_ns)] if split else []
    ratio = f"{start_ns / step.after_ns:.2f}x {ratio_words(clock)}" if start_ns and step.after_ns else ""
    return [plain(step.after), ms(step.after_ns), ms(step.saved_ns), *load, step.verdict.value, ratio]


def _measured_on(series: Sequence[Sequence[BootRecord]], steps: Sequence[Comparison]) -> str:
    spreads = [step.spread_ns for step in steps if step.spread_ns is not None]
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
