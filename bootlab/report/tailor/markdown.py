"""A tailoring in Markdown: each kernel on the way, what the last one is worth, and what else was tried."""

from collections.abc import Sequence

from bootlab.experiments.tailor.result import TailorResult
from bootlab.experiments.tailor.tailored import TailorStep
from bootlab.measure.record import BootRecord
from bootlab.report.parts.figures import clock_of, count, median_boot, ms, price_words, short_hash, short_hashes
from bootlab.report.parts.markdown import code, markdown_table, plain, prose

_MOST = 8
"""So many of the options that were worth most."""


def tailor_markdown(result: TailorResult, before: Sequence[BootRecord], after: Sequence[BootRecord]) -> str:
    """Return a tailoring as Markdown. `before`, `after`: the plain boots of the first kernel and of the last."""
    parts = [_steps(result), *_dropped(result)]
    if result.trials:
        shown = result.trials[:_MOST]
        rows = [
            [code(f"{one.option}={one.value}"), count(one.instructions), count(one.by_name), count(one.by_pointer)]
            for one in shown
        ]
        of = f" ({len(shown)} of {len(result.trials)})" if len(shown) < len(result.trials) else ""
        titles = [f"would take code out that ran{of}", "instructions>", "ways of the job there by name>",
                  "by a pointer>"]  # fmt: skip
        parts.append(markdown_table(titles, rows))
    if result.grown:
        rows = [
            [one.label, f"{code(one.function)} in {plain(one.object)}", count(one.before), count(one.after),
             code(one.again), plain(one.detail)]
            for one in result.grown
        ]  # fmt: skip
        titles = ["since", "executed more", "instructions before>", "after>", "as it was again", "why"]
        parts.append(markdown_table(titles, rows))
    if result.values:
        rows = [
            [code(f"{one.option}={one.value}"), plain(one.before), ms(one.saved_ns), one.outcome,
             plain(one.detail)]
            for one in result.values
        ]  # fmt: skip
        parts.append(markdown_table(["value", "was>", "saved ms>", "outcome", "why"], rows))
    parts += [prose(f"{sentence}.") for sentence in _left(result)]
    parts.append(prose(f"{_verdict(result)}. {_measured_on(before, after)}"))
    return "\n\n".join(parts) + "\n"


def _steps(result: TailorResult) -> str:
    price = [f"{_priced(result)} ms>"] if _priced(result) else []
    titles = ["kernel", "turned by name>", "options on>", "bytes loaded>", *price, "ms to ready>", "check"]
    return markdown_table(titles, [_step(step, priced=bool(price)) for step in result.steps])


def _dropped(result: TailorResult) -> list[str]:
    if not result.dropped:
        return []
    most = sorted(result.dropped, key=lambda one: (-one.instructions, -one.bytes))[:_MOST]
    rows = [
        [code(f"{one.option}={one.value}"), count(len(one.with_it)), count(one.bytes), count(one.instructions),
         plain(one.why)]
        for one in most
    ]  # fmt: skip
    head = f"turned, {len(most)} of {count(len(result.dropped))} by name; {count(result.gone)} went in all"
    return [markdown_table([head, "others with it>", "bytes>", "instructions>", "why"], rows)]


def _step(step: TailorStep, *, priced: bool) -> list[str]:
    price = [ms(step.price_ns)] * priced
    said = "passed" if step.ready else plain(step.detail)
    return [
        plain(step.label),
        count(step.dropped),
        count(step.on),
        count(step.kernel_bytes),
        *price,
        ms(step.ready_ns),
        said,
    ]


def _left(result: TailorResult) -> list[str]:
    needed = "; ".join(f"{one.option}: {plain(one.detail)}" for one in result.needed)
    said = [f"Kept after a try without: {needed}"] if needed else []
    if result.untried:
        said.append(f"Not tried for want of builds (`--builds`): {', '.join(result.untried)}")
    return said


def _verdict(result: TailorResult) -> str:
    one = result.comparison
    given = f", given up by name: {', '.join(result.give_up)}" if result.give_up else ""
    after = f"{ms(one.after_ns)} ms" if one.after_ns is not None else "never"
    verdict = f"{one.verdict.value} ({plain(one.detail)})"
    return (
        f"Options on: {count(result.options_before)} to {count(result.options_after)}{given}; "
        f"{_priced(result) or 'ready'}: {ms(one.before_ns)} to {after}, {verdict}"
    )


def _priced(result: TailorResult) -> str:
    model = result.comparison.price
    return price_words(model) if model is not None else ""


def _measured_on(before: Sequence[BootRecord], after: Sequence[BootRecord]) -> str:
    first, last = median_boot(before).hashes, median_boot(after).hashes
    alike = {name: digest for name, digest in last.items() if first.get(name) == digest}
    changed = [
        f"{name} {short_hash(first[name])} to {short_hash(digest)}"
        for name, digest in last.items()
        if name in first and first[name] != digest
    ]
    return f"{clock_of([*before, *after])}. {'; '.join([*changed, short_hashes(alike)])}."
