"""Compares each entry of a ledger with the one before it: what it saved, if beyond chance, which inputs changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bootlab.errors import InputError
from bootlab.experiments.verdict import (
    FEWEST_NULLS,
    FEWEST_SEEDS,
    FEWEST_WALL,
    PLAIN_BOOTS,
    virtual_verdict,
    wall_verdict,
)
from bootlab.ledger.entry import LedgerEntry, expect_comparable
from bootlab.techniques.model.verdict import Verdict

_SAME_HOST: Final = ("cpu_model", "machine", "cores", "governor", "memory_mib", "kernel")
"""Facts by which two wall clocks are of one host."""


@dataclass(frozen=True, slots=True)
class LedgerStep:
    """An entry and what it saves against one before it. `saved_ns` is None for the first, and where one failed."""

    entry: LedgerEntry
    saved_ns: int | None = None
    verdict: Verdict | None = None
    """None where none can be said: `why` says why."""
    why: str = ""
    changed: tuple[str, ...] = ()
    """Inputs with another hash, and those that came or went."""


def steps_of(entries: Sequence[LedgerEntry]) -> list[LedgerStep]:
    """Return each entry with the step to it from the last one before it that its figures compare with."""
    found: list[LedgerStep] = []
    for number, entry in enumerate(entries):
        before = next((one for one in reversed(entries[:number]) if _comparable(one, entry)), None)
        found.append(LedgerStep(entry, why="the first of its kind") if before is None else step(before, entry))
    return found


def step(before: LedgerEntry, after: LedgerEntry) -> LedgerStep:
    """Return what `after` saves against `before`. Raises InputError where their figures do not compare."""
    expect_comparable(before, after)
    changed = changed_inputs(before, after)
    if before.ready_ns is None or after.ready_ns is None:
        failed = after if after.ready_ns is None else before
        return LedgerStep(after, why=f"{failed.outcome}: {failed.detail}", changed=changed)
    saved_ns = before.ready_ns - after.ready_ns
    if why := _no_verdict(before, after):
        return LedgerStep(after, saved_ns, None, why, changed)
    if after.clock != "virtual":
        judged = wall_verdict(before.seeds_ns, after.seeds_ns, seed=1)
        return LedgerStep(after, judged.saved_ns, judged.verdict, "", changed)
    judged = virtual_verdict(before.times, after.times)
    why = "near: fresh boots of both would tell" if any(judged.wants) else ""
    return LedgerStep(after, judged.saved_ns, judged.verdict, why, changed)


def changed_inputs(before: LedgerEntry, after: LedgerEntry) -> tuple[str, ...]:
    """Return the inputs that differ, by name."""
    names = [*before.inputs, *(name for name in after.inputs if name not in before.inputs)]
    return tuple(name for name in names if before.inputs.get(name) != after.inputs.get(name))


def series_of(entries: Sequence[LedgerEntry]) -> list[list[LedgerEntry]]:
    """Return entries apart by what their figures compare within, each in their order, that of the last one first."""
    found: list[list[LedgerEntry]] = []
    for entry in reversed(entries):
        alike = next((one for one in found if _same_kind(one[0], entry)), None)
        if alike is None:
            found.append([entry])
        else:
            alike.append(entry)
    return [one[::-1] for one in found]


def _comparable(before: LedgerEntry, after: LedgerEntry) -> bool:
    return _same_kind(before, after) and before.ready_ns is not None


def _same_kind(before: LedgerEntry, after: LedgerEntry) -> bool:
    try:
        expect_comparable(before, after)
    except InputError:
        return False
    if after.clock == "recorded" and before.origin != after.origin:
        return False
    return after.clock in ("virtual", "recorded") or _same_host(before, after)


def _same_host(before: LedgerEntry, after: LedgerEntry) -> bool:
    return all(before.host.get(fact) == after.host.get(fact) for fact in _SAME_HOST)


def _no_verdict(before: LedgerEntry, after: LedgerEntry) -> str:
    if after.clock == "recorded":
        return "another tool's figure: nobody knows how far it moves for no reason"
    if after.clock == "virtual":
        if before.seeds != after.seeds:
            return "not the same seeds"
        if len(after.seeds) < FEWEST_SEEDS or len(before.null_ns) < FEWEST_NULLS:
            return f"a verdict takes {FEWEST_SEEDS} seeds, and {FEWEST_NULLS} null changes of the one before"
        if len(after.times.all) < PLAIN_BOOTS:
            return f"a verdict takes {PLAIN_BOOTS} boots: add one of a run with null changes"
        return ""
    if min(len(before.seeds_ns), len(after.seeds_ns)) < FEWEST_WALL:
        return f"a verdict on this clock takes {FEWEST_WALL} boots a side"
    if not _same_host(before, after):
        return "not the same host: its clock is another one"
    return ""
