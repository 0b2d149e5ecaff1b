"""The document of a gate: what was held against what, what every figure came to, and what differs beside the times."""

from bootlab.experiments.family import Family
from bootlab.experiments.verdict import WRONG
from bootlab.ledger.gate.boots import Held
from bootlab.ledger.gate.figures import GateBaseline
from bootlab.ledger.gate.judging import GateVerdict
from bootlab.ledger.gate.result import GateFigure, GatePhase, GateResult, worst
from bootlab.measure.record import BootRecord
from bootlab.measure.statistics.series import median_ns


def make_result(held: Held, run: str) -> GateResult:
    """Return the document. A boot that was not ready makes the gate's verdict `broken`, on whichever side it was."""
    before, after = held.before, held.after
    broken = _broken(before, after)
    record = after.members[0] if after.failed is not None else after.median
    figures = []
    for what, one in held.judged.items():
        was_ns = median_ns(before.times(what).seeds)
        figures.append(
            GateFigure(
                what=what,
                before_ns=was_ns,
                after_ns=was_ns + one.longer_ns,
                longer_ns=one.longer_ns,
                limit_ns=one.limit_ns,
                smallest_ns=one.smallest_ns,
                spread_ns=one.spread_ns,
                verdict=one.verdict,
                why=one.why,
            )
        )
    figures.sort(key=lambda one: -one.longer_ns)
    return GateResult(
        system=record.system,
        against=before.name,
        against_commit=before.entry.commit if before.entry is not None else "",
        clock=record.clock,
        accelerator=record.accelerator,
        ns_per_instruction=record.ns_per_instruction,
        cpu=record.cpu,
        seeds=[one.seed for one in after.members],
        verdict=GateVerdict.BROKEN if broken else worst([one.verdict for one in figures]),
        why=broken,
        broken_run=next((one.failed.run for one in (after, before.family) if one is not None and one.failed), ""),
        figures=figures,
        phases=[] if broken else _phases(before, record),
        changed=_changed(before, record),
        marks={} if broken else dict(sorted(record.marks.items(), key=lambda mark: mark[1])),
        boots_before=len(before.family.boots) if before.family is not None else _entry_boots(before),
        boots_after=len(after.boots),
        wrong=WRONG["virtual" if record.clock == "virtual" else "wall"],
        hashes=record.hashes,
        host=record.host,
        run=run,
    )


def _broken(before: GateBaseline, after: Family) -> str:
    for name, family in ((before.name, before.family), ("", after)):
        if family is not None and family.failed is not None:
            failed = family.failed
            which = f"{name}, which it is held against: " if name else ""
            return f"{which}{failed.outcome.value}: {failed.detail}"
    return ""


def _phases(before: GateBaseline, after: BootRecord) -> list[GatePhase]:
    if before.family is not None:
        was = {one.name: one.duration_ns for one in before.family.median.phases}
    else:
        was = {one.name: one.duration_ns for one in before.entry.phases} if before.entry is not None else {}
    now = {one.name: one.duration_ns for one in after.phases}
    return [
        GatePhase(name=name, before_ns=was.get(name, 0), after_ns=now.get(name, 0))
        for name in dict.fromkeys([*was, *now])
        if was
    ]


def _changed(before: GateBaseline, after: BootRecord) -> list[str]:
    if before.family is not None:
        was = before.family.members[0].hashes
    else:
        was = before.entry.inputs if before.entry is not None else {}
    return [name for name in dict.fromkeys([*was, *after.hashes]) if was.get(name) != after.hashes.get(name)]


def _entry_boots(before: GateBaseline) -> int:
    return len(before.entry.times.all) if before.entry is not None else 0
