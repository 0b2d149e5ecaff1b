"""A recorded trial from before bootlab kept sizes, and one with a storage model, sizes, an ablation and its cost."""

from pathlib import Path

from bootlab.experiments.trial.result import Ablated, TrialCost, TryResult
from bootlab.system import Storage

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
            "alone": [one.model_copy(update=loaded) for one in result.alone],
            "final": {name: end.model_copy(update=loaded) for name, end in result.final.items()},
            "ablation": [Ablated.model_validate(values), Ablated.model_validate(missed)],
            "cost": TrialCost(
                built=12, build_s=340.2, boots=60, qemu_s=437.1, booting_s=237.8, parallel=2, elapsed_s=600.0,
                per_qemu=0.594
            ),
        }
    )  # fmt: skip
