"""A tailoring as a document: schema bootlab.tailor/2, what its JSON, terminal view and run are made of."""

from dataclasses import asdict
from typing import Any, Final

from bootlab.experiments.tailor.rounds import Tailored
from bootlab.experiments.tailor.use import Use

SCHEMA: Final = "bootlab.tailor/2"
USES: Final = {
    Use.NEVER: "never ran",
    Use.INITCALL: "ran only in initcalls",
    Use.EARLY: "ran only before init",
    Use.ASIDE: "ran aside of the job",
    Use.JOB: "ran in the job",
}


def tailor_document(
    tailored: Tailored, *, config: str, reasons: str, run: str, keep: list[str], give_up: list[str]
) -> dict[str, Any]:
    """Return the document. `config`, `reasons`: where the tailored configuration and its reasons are written."""
    return {
        "schema": SCHEMA,
        "system": tailored.rich.name,
        "keep": keep,
        "give_up": give_up,
        "options_before": len(tailored.on_before),
        "options_after": len(tailored.on_after),
        "gained": sorted(tailored.on_after - tailored.on_before),
        "builds": len({step.label for step in tailored.steps}),
        "steps": [asdict(step) for step in tailored.steps],
        "dropped": [
            {
                "option": drop.option,
                "value": drop.value,
                "why": drop.why or USES[drop.use],
                "bytes": drop.bytes,
                "instructions": drop.instructions,
                "objects": list(drop.objects),
                "with_it": list(drop.lost),
                "gained": list(drop.gained),
            }
            for drop in tailored.drops
        ],
        "followed": [asdict(one) for one in tailored.followed],
        "kept": [asdict(kept) for kept in tailored.kept],
        "trials": [
            {"option": one.option, "value": one.value, "at_once": one.is_passed_through, **asdict(one.cost)}
            for one in tailored.trials
        ],
        "needed": [asdict(one) for one in tailored.needed],
        "untried": list(tailored.untried),
        "comparison": tailored.comparison.model_dump(mode="json", by_alias=True),
        "config": config,
        "reasons": reasons,
        "kernel": str(tailored.kernel.image),
        "run": run,
    }
