"""A sweep as CSV: one line a boot. The columns are documented in docs/sweeps.md."""

import csv
import io

from bootlab.experiments.sweep.result import SweepResult

COLUMNS = (
    "system", "kernel", "vcpus", "memory_mib", "page_size", "seed", "clock", "accelerator", "ns_per_instruction",
    "cpu", "outcome", "ready_ns", "instructions", "idle_ns",
)  # fmt: skip


def sweep_csv(result: SweepResult) -> str:
    """Return the table with its heading; behind the fixed columns one for each key that was set, then one a phase.

    A phase's is `PHASE_ns`; a key's has the key's name, and nothing where the key was left out.

    Under a host model `ready_ns` and the phases are `price_ns`, with `counted_ns` (instructions + idle) beside it.
    """
    keys = [one.key for one in result.cells[0].place.settings]
    phases = list(dict.fromkeys(name for cell in result.cells for boot in cell.boots for name in boot.phases_ns))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    priced = result.price is not None
    columns = [name if name != "ready_ns" or not priced else "price_ns" for name in COLUMNS]
    own = ["counted_ns", "host_model"] if priced else []
    ending = "price_ns" if priced else "ns"
    writer.writerow([*columns, *keys, *own, *(f"{name.replace(' ', '_')}_{ending}" for name in phases)])
    for cell in result.cells:
        place = cell.place
        for boot in cell.boots:
            writer.writerow([
                result.system, place.kernel, place.vcpus, place.memory_mib, place.page_size, boot.seed, result.clock,
                result.accelerator, result.ns_per_instruction, boot.cpu or result.cpu, boot.outcome, boot.total_ns,
                boot.instructions, boot.idle_ns, *(one.text for one in place.settings),
                *_priced(result, boot.counted_ns), *(boot.phases_ns.get(name) for name in phases),
            ])  # fmt: skip
    return text.getvalue()


def _priced(result: SweepResult, counted_ns: int | None) -> list[object]:
    return [] if result.price is None else [counted_ns, result.price.model]
