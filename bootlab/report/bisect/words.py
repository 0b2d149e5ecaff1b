"""Sentences about a bisection that a terminal and a document have in common."""

from collections.abc import Iterator
from typing import Final, Literal

from bootlab.ledger.bisect.result import BisectResult, BisectStep
from bootlab.ledger.bisect.search import most_measured
from bootlab.ledger.bisect.state import BisectState
from bootlab.ledger.gate.judging import GateVerdict
from bootlab.report.parts.figures import ms, percent, visible


def short(state: BisectState) -> str:
    """Return how a state is called: a hash by its first twelve digits."""
    return visible(state.short)


def one_line(words: str) -> str:
    """Return the lines of a reason as one."""
    return visible(" ".join(words.split()))


def head_words(result: BisectResult) -> str:
    """Return the whole difference in a sentence."""
    change = f"{ms(result.good_ns)} -> {ms(result.bad_ns)} ms, {ms(result.longer_ns, sign=True)} ms"
    share = percent(result.longer_ns, result.good_ns, sign=True)
    return f"{result.verdict.value}: {result.figure} {change} ({share} %), {_states(result.states - 1, result.of)}"


def step_words(step: BisectStep) -> str:
    """Return which state, or which states, a step is."""
    if step.kind == "commit":
        return f"{short(step.after)} {visible(step.after.subject)}".strip()
    span = f"{short(step.before)}..{short(step.after)}"
    if step.kind == "range":
        return f"{span}: one of {len(step.between)}, of which those between could not be measured"
    return f"{span}: several of {len(step.between)}, each by less than can be seen"


def account_words(result: BisectResult) -> str:
    """Return what the steps leave of the whole difference."""
    steps = "1 step" if len(result.steps) == 1 else f"{len(result.steps)} steps"
    sure = sum(step.longer_ns for step in result.steps)
    words = f"{steps}: {ms(sure, sign=True)} of {ms(result.longer_ns, sign=True)} ms"
    left = ms(result.unexplained_ns, sign=True)
    return f"{words}; {left} ms is in no step" if result.unexplained_ns else words


def bounds(result: BisectResult) -> Iterator[str]:
    """Yield what this answer does not say."""
    limit = f"changes of less than {ms(result.limit_ns)} ms may be missed"
    yield f"{limit}; boots move by {ms(result.spread_ns)} ms for no reason"
    if result.not_looked_into and not result.thorough:
        among = _states(result.not_looked_into, result.of)
        yield (
            f"among {among} between two that are alike, changes that cancel each other are not looked for "
            "(--thorough does)"
        )
    if result.verdict is GateVerdict.UNCHANGED and result.thorough:
        yield "both ends are alike; every state between them was looked at"


def work_words(result: BisectResult) -> str:
    """Return what the answer has cost."""
    unbuilt = "no build" if result.of == "commits" else "nothing built"
    built = f"{_number(result.builds, 'build')} in {result.build_s:.0f} s" if result.builds else unbuilt
    skipped = f", {len(result.skipped)} passed over" if result.skipped else ""
    return f"{_states(len(result.measured), result.of)} measured{skipped}; {built}; {result.boots} boots on record"


def plan_sentences(line: list[BisectState]) -> list[str]:
    """Return how many builds a bisection takes at most."""
    between = len(line) - 1
    of: _Of = "packages" if line[0].package else "commits"
    work, does = _WORK[of]
    lines = [f"{_states(between, of)}, {short(line[0])}..{short(line[-1])}; at most, where every one {does}:"]
    counts = [(changes, most_measured(between, changes)) for changes in (1, 2, 3) if changes <= between]
    lines += [f"  {changes} {'change' if changes == 1 else 'changes'}: {most} {work}" for changes, most in counts]
    lines.append(f"  every one of them, with --thorough: {between + 1} {work}")
    if of == "packages":
        lines += [f"    {short(state)}  {visible(state.subject)}" for state in line]
    merges = sum(len(state.parents) > 1 for state in line[1:])
    if merges:
        lines.append(f"{merges} of them are merges; one that changes the time takes more (--first-parent does not)")
    return lines


_Of = Literal["commits", "packages"]
_WORK: Final = {"commits": ("builds", "builds and boots"), "packages": ("versions booted", "boots")}


def _states(number: int, of: _Of) -> str:
    return _number(number, "commit" if of == "commits" else "version")


def _number(number: int, of: str) -> str:
    return f"1 {of}" if number == 1 else f"{number} {of}s"
