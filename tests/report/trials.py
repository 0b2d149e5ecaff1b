"""A recorded trial from before bootlab kept sizes, and what later ones have besides, in made-up copies of it."""

from pathlib import Path

from bootlab.experiments.trial.result import Ablated, Judged, Member, StackName, TrialCost, TryResult
from bootlab.system import Storage
from bootlab.techniques.model.verdict import Verdict

DATA = Path(__file__).parents[1] / "data" / "report"


def trial() -> TryResult:
    return TryResult.model_validate_json((DATA / "try.json").read_text())


def loaded_trial() -> TryResult:
    """The trial with a storage model, sizes, an ablation and a cost."""
    result = trial()
    sizes = {"kernel": 10_000_000, "initramfs": 2_500_000, "disk0": 16 << 20}
    loaded = {"sizes": sizes, "load_ns": 500_000_000, "user_space_ns": 1_500_000_000}
    first = result.alone[0]
    values = {**dict(first), "stack": "recommended", "alone_ns": first.saved_ns, "saved_ns": 3_000_000}
    missed = {**values, "verdict": "broke it", "saved_ns": None, "detail": "the stack cannot be made without it"}
    return result.model_copy(
        update={
            "storage": Storage(mb_s=20, latency_us=500),
            "baseline": result.baseline.model_copy(update=loaded),
            "alone": [one.model_copy(update=loaded | _split(one)) for one in result.alone],
            "final": {name: end.model_copy(update=loaded) for name, end in result.final.items()},
            "ablation": [Ablated.model_validate(values), Ablated.model_validate(missed)],
            "cost": TrialCost(
                built=12, build_s=340.2, boots=60, qemu_s=437.1, booting_s=237.8, parallel=2, elapsed_s=600.0,
                per_qemu=0.594
            ),
        }
    )  # fmt: skip


def confirmed_trial() -> TryResult:
    """The trial with fresh boots, a step that broke on its stack only, and a stack that is not steady."""
    result = trial()
    shared = [_fresh(f"baseline-fresh{number}-s{number + 3}") for number in range(1, 9)]
    alone = [
        row.model_copy(update={"fresh_before": shared, "fresh_members": [_fresh(f"alone-{row.technique}-fresh1-s4")]})
        for row in result.alone[:2]
    ]
    why = "with a change that means nothing: hung: not ready after 5 s (runs/1/boots/stack-null1-s1)"
    lost = {"verdict": Verdict.BROKE_IT, "ready_ns": None, "saved_ns": None, "phases": [], "proof": "", "detail": why}
    broken = result.stack[1].model_copy(update=lost)
    end = result.final[StackName.RECOMMENDED].model_copy(update={"unsteady": "runs/1/boots/stack-null4-s1: panicked"})
    return result.model_copy(
        update={
            "alone": [*alone, *result.alone[2:]],
            "stack": [*result.stack, broken.model_copy(update={"technique": alone[1].technique})],
            "final": {**result.final, StackName.RECOMMENDED: end},
        }
    )


def _split(one: Judged) -> dict[str, object]:
    """What of its saving is loading, and the verdict on the rest: made up."""
    return {} if one.saved_ns is None else {"load_saved_ns": 12_340_000, "execution": Verdict.NO_DIFFERENCE_SHOWN}


def _fresh(label: str) -> Member:
    return Member(
        seed=4, ready_ns=1_534_000_000, instructions=1, idle_ns=1, outcome="ready", run=f"runs/1/boots/{label}",
        change="fresh",
    )  # fmt: skip
