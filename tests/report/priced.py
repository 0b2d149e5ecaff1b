"""Boots and a trial that have a price: made-up copies of the fixtures, charged by a model."""

import json
from pathlib import Path

from bootlab.experiments.trial.result import TryResult
from bootlab.measure.record import BootRecord, ChargeRecord, PhaseRecord, PriceRecord
from tests.report.trials import trial

DATA = Path(__file__).parents[1] / "data" / "report"


def priced(record: BootRecord) -> BootRecord:
    """Return a boot of which half of each phase was charged, and an instruction takes half a ns."""
    phases = [_phase(one) for one in record.phases]
    charged_ns, ready_ns = sum(one.charged_ns for one in phases), record.marks["ready"]
    counted_ns = ready_ns - charged_ns
    idle_ns = min(record.idle_ns or 0, counted_ns)
    price_ns = sum(one.price_ns or 0 for one in phases)
    price = PriceRecord(
        model="lean", identity="0" * 64, rules="svm", memory="4K", ns_per_instruction=0.5,
        instructions_ns=price_ns - idle_ns - charged_ns, idle_ns=idle_ns, charged_ns=charged_ns,
    )  # fmt: skip
    charges = {"fault_4K": ChargeRecord(count=1000, ns=charged_ns)}
    hashes = {**record.hashes, "host_model": "0" * 64}
    return record.model_copy(
        update={"phases": phases, "charged_ns": charged_ns, "price": price, "charges": charges, "hashes": hashes}
    )


def _phase(one: PhaseRecord) -> PhaseRecord:
    charged_ns = one.duration_ns // 2
    price_ns = charged_ns + round((one.duration_ns - charged_ns) * 0.9)
    return one.model_copy(update={"charged_ns": charged_ns, "price_ns": price_ns})


def priced_series(name: str = "series-before.json") -> list[BootRecord]:
    """Return the boots of a fixture, each with a price."""
    return [priced(BootRecord.model_validate(item)) for item in json.loads((DATA / name).read_text())]


def priced_boot() -> BootRecord:
    """Return one boot with a price."""
    return priced_series()[0]


def priced_trial() -> TryResult:
    """Return the trial as one under `lean`: each price is 9 tenths of the time, each count half of it."""
    result = trial()

    def figures(ready_ns: int | None, saved_ns: int | None = None) -> dict[str, int | None]:
        counted = {} if saved_ns is None else {"counted_saved_ns": saved_ns // 2}
        return {} if ready_ns is None else {"price_ns": ready_ns * 9 // 10, "counted_ns": ready_ns // 2, **counted}

    return result.model_copy(
        update={
            "price": priced_boot().price,
            "baseline": result.baseline.model_copy(update=figures(result.baseline.ready_ns)),
            "alone": [one.model_copy(update=figures(one.ready_ns, one.saved_ns)) for one in result.alone],
            "stack": [one.model_copy(update=figures(one.ready_ns, one.saved_ns)) for one in result.stack],
            "final": {name: end.model_copy(update=figures(end.ready_ns)) for name, end in result.final.items()},
        }
    )
