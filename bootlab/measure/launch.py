"""A boot from the start of its VMM's process to ready, in parts: what the VMM did, and then the phases of its guest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bootlab.measure.record import BootRecord

WHOLE: Final = "VMM start to ready"


@dataclass(frozen=True, slots=True)
class LaunchPart:
    """One part of a series of boots. `times_ns`: what it took in each boot that has it. `of_vmm`: before power-on."""

    name: str
    times_ns: tuple[int, ...]
    of_vmm: bool


def whole_ns(record: BootRecord) -> int | None:
    """Return the time from the start of the VMM's process to ready; None for a boot that was not ready, or has none."""
    if record.ready_ns is None or record.vmm is None:
        return None
    return record.vmm.launch_ns + record.ready_ns


def boot_parts(records: Sequence[BootRecord]) -> list[LaunchPart]:
    """Return the parts of a series in order, and the whole last; empty where no VMM was started for it.

    Boots that were not ready do not count.
    """
    ready = [record for record in records if whole_ns(record) is not None]
    if not ready:
        return []
    times: dict[tuple[str, bool], list[int]] = {}
    for record in ready:
        assert record.vmm is not None
        for step in record.vmm.launch:
            times.setdefault((step.name, True), []).append(step.duration_ns)
        for phase in record.phases:
            times.setdefault((phase.name, False), []).append(phase.duration_ns)
    parts = [LaunchPart(name, tuple(taken), of_vmm) for (name, of_vmm), taken in times.items()]
    whole = tuple(time for record in ready if (time := whole_ns(record)) is not None)
    return [*parts, LaunchPart(WHOLE, whole, of_vmm=False)]
