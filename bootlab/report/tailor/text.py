"""A tailoring in the terminal: each kernel on the way, what went and why, what stays and why."""

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import RenderableType
from rich.table import Table

from bootlab.experiments.tailor.grown_code import GrownCode
from bootlab.experiments.tailor.result import Dropped, TailorResult, Tried
from bootlab.experiments.tailor.tailored import TailorStep
from bootlab.experiments.tailor.values import TriedValue
from bootlab.report.parts.figures import count, ms, visible
from bootlab.report.parts.terminal_tables import plain_table

_MOST = 20
_KINDS = {
    "used": "executed by the job",
    "protected": "protected by the policy",
    "asked": "asked for by the user",
    "selected": "selected by others that stay",
    "choice": "one of a choice",
    "follows": "follow from others",
    "behaviour": "change code inside of what stays",
    "check": "without them the check failed, or nothing was won",
    "turned on": "turned on, as it takes code out",
    "untried": "could go, for want of builds not tried",
}


def tailored(result: TailorResult) -> list[RenderableType]:
    """Return the summary; every option with its reason is in the result itself."""
    parts: list[RenderableType] = [
        _steps(result.steps),
        "",
        *_dropped(result),
        "",
        *_kept(result),
        "",
    ]
    if result.trials:
        parts += [*_trials(result.trials), ""]
    if result.grown:
        parts += ["code that executed more since a cut, and what was on again for it", _grown(result.grown), ""]
    if result.values:
        parts += ["values that were tried one by one, each on a kernel with those before it that stay",
                  _values(result.values), ""]  # fmt: skip
    return [*parts, *_ending(result)]


def _table(columns: Iterable[str], rows: Iterable[list[str]]) -> Table:
    made = plain_table(*columns)
    for row in rows:
        made.add_row(*row)
    return made


def _steps(steps: Sequence[TailorStep]) -> Table:
    priced = any(step.price_ns is not None for step in steps)
    rows = [
        [
            step.label,
            count(step.dropped),
            count(step.on),
            count(step.kernel_bytes),
            *([f"{step.price_ns / 1e6:.2f}" if step.price_ns is not None else "-"] if priced else []),
            f"{step.ready_ns / 1e6:.2f}" if step.ready_ns is not None else "-",
            f"{step.build_s:.0f}{' (cached)' if step.from_cache else ''}",
            "check passed" if step.ready else visible(step.detail),
        ]
        for step in steps
    ]
    return _table(
        ["kernel", "off>", "on>", "bytes>", *(["price ms>"] if priced else []), "ready ms>", "build s>", ""], rows
    )


def _dropped(result: TailorResult) -> list[RenderableType]:
    drops = result.dropped
    shown = sorted(drops, key=lambda drop: (-drop.instructions, -drop.bytes))[:_MOST]
    size = count(sum(drop.bytes for drop in drops))
    head = f"dropped: {len(drops)} options by name, {result.gone} in all; {size} bytes of objects"
    rows = [
        [_turned(drop), f"+{len(drop.with_it)}", count(drop.bytes), count(drop.instructions), drop.why]
        for drop in shown
    ]
    parts: list[RenderableType] = [head, _table(["option", "others>", "bytes>", "instructions>", "why"], rows)]
    if len(drops) > len(shown):
        parts.append(f"and {len(drops) - len(shown)} more, in the file with every option and its reason")
    return parts


def _turned(drop: Dropped) -> str:
    return drop.option if drop.value == "n" else f"{drop.option}={drop.value}"


def _kept(result: TailorResult) -> list[str]:
    kinds = Counter(kept.kind for kept in result.kept)
    lines = [f"kept: {result.options_after} options"]
    lines += [f"  {kinds[kind]:>5}  {words}" for kind, words in _KINDS.items() if kinds[kind]]
    lines += [f"  needed: {one.option}: {visible(one.detail)}" for one in result.needed]
    if result.gained:
        lines.append(f"  came on in place of others: {', '.join(result.gained)}")
    if result.untried:
        lines.append(f"  not tried for want of builds (--builds): {', '.join(result.untried[:_MOST])}")
    return lines


def _trials(found: Sequence[Tried]) -> list[RenderableType]:
    rows = [
        [f"{one.option}={one.value}", count(one.instructions), count(one.by_name), count(one.by_pointer), one.example]
        for one in found[:_MOST]
    ]
    head = "what else would take code out that ran, were it turned so; how many ways the job came to it, and how"
    return [head, _table(["option", "instructions>", "by name>", "by pointer>", "mostly"], rows)]


def _grown(found: Sequence[GrownCode]) -> Table:
    rows = [
        [one.label, one.function, count(one.before), count(one.after), one.again or "nothing", visible(one.detail)]
        for one in found
    ]
    return _table(["since", "function", "before>", "after>", "on again", ""], rows)


def _values(tried: Sequence[TriedValue]) -> Table:
    rows = [
        [f"{one.option}={one.value}", one.before, ms(one.saved_ns) or "-", one.outcome,
         visible(one.detail)]
        for one in tried
    ]  # fmt: skip
    return _table(["value", "was>", "saved ms>", "", ""], rows)


def _ending(result: TailorResult) -> list[str]:
    comparison = result.comparison
    before, after = comparison.before_ns, comparison.after_ns
    lines = [f"options on: {result.options_before} -> {result.options_after}"]
    if before is not None and after is not None:
        lines.append(f"ready: {before / 1e6:.2f} -> {after / 1e6:.2f} ms (virtual clock: instructions + idle)")
    return [
        *lines,
        f"verdict: {comparison.verdict}: {comparison.detail}",
        f"configuration: {result.config} (as kernel.build.config, instead of base, fragments and options)",
        f"every option and its reason: {result.reasons or result.run + '/result.json'}",
    ]
