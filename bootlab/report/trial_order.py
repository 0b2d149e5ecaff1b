"""In which order a trial is told, and what of it stands: shared by the terminal and the page."""

from collections.abc import Sequence

from bootlab.experiments.trial import Judged, Step, TryResult
from bootlab.report.sides import Side

KINDS = {"baseline": "baseline", "recommended": "recommended", "with risks": "risks"}
"""Stack name -> the CSS class that colours it."""
VERDICTS = ("faster", "no difference shown", "slower", "broke it", "does not apply")
"""Most welcome first; the order in which verdicts are listed."""


def kept(result: TryResult, step: Step) -> bool:
    """Return whether the finished stack holds this step."""
    finished = result.final.get(step.stack)
    return finished is not None and step.technique in finished.techniques and step.ready_ns is not None


def kept_steps(result: TryResult, stack: str) -> list[Step]:
    return [step for step in result.stack if step.stack == stack and kept(result, step)]


def sides_of(result: TryResult) -> list[Side]:
    """Return the baseline and the end of each stack that holds anything."""
    sides = [Side("baseline", "baseline", result.baseline.ready_ns, result.baseline.phases)]
    for stack in result.final:
        steps = [step for step in kept_steps(result, stack) if step.phases]
        if steps:
            sides.append(Side(stack, KINDS.get(stack, "recommended"), steps[-1].ready_ns, steps[-1].phases))
    return sides


def in_order(judged: Sequence[Judged]) -> list[Judged]:
    """Return by verdict, most welcome first, and by saving within one verdict."""
    return sorted(judged, key=lambda one: (VERDICTS.index(one.verdict), -(one.saved_ns or 0), one.technique))
