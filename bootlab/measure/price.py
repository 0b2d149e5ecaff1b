"""What a boot costs on a host, by the model that its clock was charged by: as a whole, and phase by phase.

Two figures come of one such boot, and are never added up: "instructions + idle", its clock without what was charged;
and the price, its instructions at the model's rate with its idle time and what was charged.
"""

from collections.abc import Mapping, Sequence

from bootlab.extensions.host_models import find_host_models
from bootlab.measure.record import BootRecord, PhaseRecord, PriceRecord
from bootlab.price.classes import CLASSES
from bootlab.price.host_model import HostModel, read_host_model
from bootlab.price.shape_corrections import FIRMWARE, WITHOUT_XEN, XEN, XEN_CPUIDS, shape_corrections
from bootlab.profile.recorded.trace import PluginTrace, Stamp
from bootlab.system import System
from bootlab.timeline import marks as m


def price_record(system: System, trace: PluginTrace | None, ready: Stamp | None) -> PriceRecord | None:
    """Return the price up to `ready`; None where no host model was charged, or the boot was not ready.

    A trace says what of it was refused: exits that were not counted have no price. Raises InputError for a model that
    is gone.
    """
    model = _charged_by(system, trace)
    if model is None or trace is None or ready is None:
        return None
    corrections = _corrections(system, model, trace)
    return PriceRecord(
        model=model.name,
        identity=model.identity,
        rules=model.rules,
        memory=model.backed_by(system.machine.page_size.value),
        ns_per_instruction=model.instruction.ns,
        instructions_ns=_executed_ns(model, ready),
        idle_ns=trace.idle_ns(ready) or 0,
        charged_ns=ready.charged_ns,
        corrections=corrections,
        corrected_exits=_corrected_exits(corrections, trace),
    )


def priced_phases(
    phases: Sequence[PhaseRecord], system: System, trace: PluginTrace | None, ready: Stamp | None
) -> list[PhaseRecord]:
    """Return the phases with what each was charged and its price; as they are where no host model was charged.

    A phase whose ends the trace does not know stays without.
    """
    model = _charged_by(system, trace)
    if model is None or trace is None:
        return list(phases)
    stamps = {m.POWER_ON: Stamp(0, 0), **trace.guest_marks, **trace.marks}
    if ready is not None:
        stamps[m.READY] = ready
    corrections = _corrections(system, model, trace)
    return [_priced_phase(one, stamps, model, trace, corrections) for one in phases]


def _corrections(system: System, model: HostModel, trace: PluginTrace) -> dict[str, int]:
    if system.machine.shape is None or m.KERNEL_ENTRY not in trace.marks:
        return {}
    firmware_ns = _price_ns(model, trace, trace.marks[m.KERNEL_ENTRY])
    return shape_corrections(model, firmware_ns=firmware_ns, looks_for_xen=_looks_for_xen(system))


def _corrected_exits(corrections: Mapping[str, int], trace: PluginTrace) -> int:
    exits = XEN_CPUIDS if XEN in corrections else 0
    if FIRMWARE in corrections:
        charges = trace.charges_at_marks.get(m.KERNEL_ENTRY, {})
        exits += sum(charge.count for name, charge in charges.items() if name in CLASSES)
    return exits


def _looks_for_xen(system: System) -> bool:
    patches = () if system.kernel.build is None else system.kernel.build.patches
    return system.kernel.entry == "pvh" and WITHOUT_XEN not in [patch.name for patch in patches]


def _priced_phase(
    phase: PhaseRecord,
    stamps: Mapping[str, Stamp],
    model: HostModel,
    trace: PluginTrace,
    corrections: Mapping[str, int],
) -> PhaseRecord:
    ends = [stamps.get(name) for name in (phase.start, phase.end)]
    start, end = ends
    if start is None or end is None:
        return phase
    # Each end is rounded by itself, so that the phases add up to the whole to the ns.
    price_ns = _price_ns(model, trace, end) - _price_ns(model, trace, start)
    # What is corrected is taken off the phase that it is in.
    entry = stamps.get(m.KERNEL_ENTRY)
    if FIRMWARE in corrections and entry is not None and end.t_ns <= entry.t_ns:
        price_ns = 0
    if phase.end == m.START_KERNEL:
        price_ns += corrections.get(XEN, 0)
    return phase.model_copy(update={"charged_ns": end.charged_ns - start.charged_ns, "price_ns": price_ns})


def _charged_by(system: System, trace: PluginTrace | None) -> HostModel | None:
    name = system.clock.host_model
    if name is None or trace is None or "traps" in trace.refused:
        return None
    return read_host_model(name, find_host_models(system.extensions))


def _executed_ns(model: HostModel, stamp: Stamp) -> int:
    return round(stamp.instructions * model.instruction.ns)


def _price_ns(model: HostModel, trace: PluginTrace, stamp: Stamp) -> int:
    return _executed_ns(model, stamp) + (trace.idle_ns(stamp) or 0) + stamp.charged_ns


def counted_view(record: BootRecord) -> BootRecord:
    """Return the boot as a clock that is not charged would have it: every time in instructions and idle time."""
    phases = [(one, one.duration_ns - one.charged_ns) for one in record.phases]
    return _with_times(record, record.counted_ns, _one_after_another(phases))


def priced_view(record: BootRecord) -> BootRecord:
    """Return the boot with the price of each phase as its time, and the whole price as the time to ready.

    What has no price has none here.
    """
    whole_ns = None if record.price is None else record.price.total_ns
    return _with_times(record, whole_ns, priced_phases_of(record.phases))


def judged_view(record: BootRecord) -> BootRecord:
    """Return the boot by what it is judged by: its price where it has one, else as it is."""
    return record if record.price is None else priced_view(record)


def priced_phases_of(phases: Sequence[PhaseRecord]) -> list[PhaseRecord]:
    """Return the phases with their price for a time, one after the other; those without a price are not there."""
    return _one_after_another([(one, one.price_ns) for one in phases if one.price_ns is not None])


def _one_after_another(phases: Sequence[tuple[PhaseRecord, int]]) -> list[PhaseRecord]:
    at_ns, placed = 0, []
    for phase, duration_ns in phases:
        placed.append(phase.model_copy(update={"start_ns": at_ns, "duration_ns": duration_ns}))
        at_ns += duration_ns
    return placed


def _with_times(record: BootRecord, ready_ns: int | None, phases: Sequence[PhaseRecord]) -> BootRecord:
    marks = {name: t_ns for name, t_ns in record.marks.items() if name != m.READY}
    if ready_ns is not None and m.READY in record.marks:
        marks[m.READY] = ready_ns
    return record.model_copy(
        update={"phases": list(phases), "marks": marks, "price": None, "charged_ns": 0, "charges": {}}
    )
