"""A trial in Markdown: its stacks step by step, or its techniques alone where nothing was stacked."""

from pathlib import Path

from bootlab.experiments.trial.result import Judged, StackName, TryResult
from bootlab.measure.record import Outcome
from bootlab.report.parts.figures import COUNTED, ms, price_words, ratio_words, short_hashes
from bootlab.report.parts.markdown import bold, code, markdown_table, plain, prose
from bootlab.report.trial.pictures import pictures_words
from bootlab.report.trial.published import published_figures
from bootlab.report.trial.timings import timings_markdown
from bootlab.report.trial.words import clock_words, in_order, kept_steps, over_words, time_words
from bootlab.techniques.model.evidence import Effect
from bootlab.techniques.model.verdict import Verdict

_END = {
    StackName.RECOMMENDED: "recommended",
    StackName.WITH_RISKS: "with named risks",
    StackName.LADDER: "the ladder's end",
}

_MOST_INAPPLICABLE = 12
"""So many techniques that do not apply are named: in a document, more say nothing of the system."""


def try_markdown(result: TryResult) -> str:
    """Return the tables of a trial, and under each what it says."""
    parts = [_stacks(result)] if result.stack else []
    if result.alone and not result.stack:
        parts.append(_alone(result))
    rows = in_order(result.alone or result.stack)
    if result.stack:
        kept = {step.technique for stack in result.final for step in kept_steps(result, stack)}
        # What did nothing alone may have been kept on a stack, where it did something.
        others = [one for one in rows if not one.verdict.saves and one.technique not in kept]
    else:
        others = [one for one in rows if one.saved_ns is None]
    screen = [text for text in (timings_markdown(result), prose(plain(pictures_words(result)))) if text]
    return "\n\n".join([*parts, *screen, *_others(others), measured_on(result)]) + "\n"


def _stacks(result: TryResult) -> str:
    priced = result.price is not None
    published = published_figures(result.plan)
    # Where each step is kept whatever it saves, a row says what is known of it.
    judged = StackName.LADDER in result.final
    beside = [*([""] * judged), *([""] if published else [])]
    rows = [["baseline", "", ms(result.baseline.total_ns), *([ms(result.baseline.counted_ns)] * priced), *beside]]
    for stack, end in result.final.items():
        steps = kept_steps(result, stack)
        for number, step in enumerate(steps, 1):
            reached = ms(step.total_ns)
            if number == len(steps):
                ratio = f"{end.ratio:.2f}x {ratio_words(result.clock, result.price)}"
                reached = f"{bold(reached)} {_END.get(StackName(stack), stack)}: {ratio}"
            figures = [ms(step.saved_ns), reached, *([ms(step.counted_ns)] * priced)]
            verdict = [_shown(step)] if judged else []
            rows.append(
                [code(step.technique), *figures, *verdict, *([published.get(step.technique, "")] if published else [])]
            )
    titles = ["step, each on top of those above", "saved ms>", f"{time_words(result)} ms>"]
    more = [*(["verdict"] * judged), *(["published"] if published else [])]
    table = markdown_table([*titles, *([f"{COUNTED} ms>"] * priced), *more], rows)
    notes = _of_no_verdict(result), _of_no_proof(result), _of_fresh_boots(result)
    return "\n\n".join([table, *(note for note in notes if note)])


def _shown(step: Judged) -> str:
    """Return the verdict on a step, or that its boots show that it did nothing."""
    return step.proof if step.proof == Effect.NONE.value else step.verdict.value


def _of_no_verdict(result: TryResult) -> str:
    """Say why there is no verdict on a step of the table; empty where there is on each."""
    told = []
    for step in [one for stack in result.final for one in kept_steps(result, stack)]:
        if step.verdict is not Verdict.NO_VERDICT:
            continue
        failed = [one for one in step.fresh_before if one.outcome != Outcome.READY.value]
        which = ", ".join(f"{plain(Path(one.run).name)}: {plain(one.outcome)}" for one in failed)
        many = f" ({len(failed)} of {len(step.fresh_before)} fresh ones, {which})" if failed else ""
        told.append(f"No verdict on {code(step.technique)}: without it not all boots are well{many}; with it all are.")
    return prose(" ".join(told))


def _of_no_proof(result: TryResult) -> str:
    """Say of which steps of the table no boot shows that they took effect; empty where of none."""
    steps = [one for stack in result.final for one in kept_steps(result, stack)]
    # A technique may be on both stacks.
    silent = dict.fromkeys(code(step.technique) for step in steps if step.proof == Effect.NOT_SHOWN.value)
    return prose(f"No boot shows that {', '.join(silent)} took effect.") if silent else ""


def _of_fresh_boots(result: TryResult) -> str:
    """Say of which steps the saving is not the difference of the two rows; empty where of none."""
    steps = [one for stack in result.final for one in kept_steps(result, stack)]
    fresh = [code(step.technique) for step in steps if step.fresh_members and step.saved_ns is not None]
    if not fresh:
        return ""
    of = "each step" if len(fresh) == len(steps) > 1 else ", ".join(fresh)
    return prose(
        f"*Saved* of {of} is of fresh boots, which confirm a difference or do not; *ready* of all is of "
        "seeds that all steps have, so that the one is not the difference of the other."
    )


def _alone(result: TryResult) -> str:
    modelled = any(one.load_saved_ns is not None for one in result.alone)
    split = ["of it load ms>", "without the load ms>", "and that is"] if modelled else []
    counted = [f"of {COUNTED} ms>"] if result.price is not None else []
    rows = []
    for one in in_order(result.alone):
        if one.saved_ns is None:
            continue
        cells = [code(one.technique), one.verdict.value, ms(one.saved_ns)]
        if modelled and one.load_saved_ns is not None and one.execution is not None:
            cells += [ms(one.load_saved_ns), ms(one.saved_ns - one.load_saved_ns), one.execution.value]
        elif modelled:
            cells += ["", "", ""]
        rows.append([*cells, *([ms(one.counted_saved_ns)] * len(counted)), ms(one.spread_ns), one.proof])
    saved = "saved ms>" if result.price is None else f"saved of {price_words(result.price.model)} ms>"
    return markdown_table(["technique alone", "verdict", saved, *split, *counted, "spread ms>", "proof"], rows)


def _others(others: list[Judged]) -> list[str]:
    by_verdict: dict[str, list[str]] = {}
    for one in others:
        unproven = f" ({one.proof})" if one.proof in (Effect.NOT_SHOWN, Effect.NONE) and one.verdict.costs else ""
        by_verdict.setdefault(one.verdict.value, []).append(f"{code(one.technique)}{unproven}")
    inapplicable = by_verdict.get(Verdict.DOES_NOT_APPLY.value, [])
    if len(inapplicable) > _MOST_INAPPLICABLE:
        by_verdict[Verdict.DOES_NOT_APPLY.value] = [f"{len(inapplicable)} techniques, which the run's own report names"]
    return [prose(f"{verdict[0].upper()}{verdict[1:]}: {', '.join(names)}.") for verdict, names in by_verdict.items()]


def measured_on(result: TryResult) -> str:
    """Return the sentence below a trial's tables: clock, CPU model, seeds, how far it moves for no reason, hashes."""
    base = result.baseline
    words = [f"{plain(result.system)}, {clock_words(result)}"]
    words.append(
        f"the baseline, {ms(base.total_ns)} ms, moves by {ms(base.spread_ns)} ms for no reason, {over_words(base)}"
    )
    if result.wrong is not None:
        words.append(f"of techniques that do nothing at most {result.wrong:.1%} get a verdict")
    if result.board_model is not None:
        words.append(f"board model {plain(result.board_model.label)}")
    return prose(f"{'; '.join(words)}. {short_hashes(result.hashes)}.")
