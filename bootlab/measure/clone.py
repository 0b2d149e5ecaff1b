"""What the record of a clone has otherwise than that of a boot: times since it was restored, marks and phases."""

from collections.abc import Mapping

from bootlab.measure.record import PhaseRecord, RestoredRecord
from bootlab.profile.recorded.trace import PluginTrace, Stamp
from bootlab.snapshot.asked import Restored
from bootlab.timeline import marks as m

_PHASES = (
    ("waking", m.RESTORED, m.WOKE),
    ("clone agent and application", m.WOKE, m.READY),
)
_WITHOUT_AGENT = (("application", m.RESTORED, m.READY),)


def counted_from_snapshot(trace: PluginTrace | None, restored: Restored | None) -> PluginTrace | None:
    """Return a clone's trace counted from where it was kept; any other as it is."""
    if trace is None or restored is None:
        return trace
    assert restored.instructions is not None  # of whatever has a trace
    return trace.since(Stamp(restored.t_ns, restored.instructions))


def marks_of_clone(marks: Mapping[str, int]) -> dict[str, int]:
    """Return a clone's marks: it was not powered on, and its ready is `ready_clone` as well."""
    kept = {m.RESTORED if name == m.POWER_ON else name: t_ns for name, t_ns in marks.items()}
    if m.READY in kept:
        kept[m.READY_CLONE] = kept[m.READY]
    return dict(sorted(kept.items(), key=lambda item: item[1]))


def phases_of_clone(marks: Mapping[str, int]) -> list[PhaseRecord]:
    """Return the phases of a clone that was ready; of another what it came to."""
    phases = _PHASES if m.WOKE in marks else _WITHOUT_AGENT
    return [
        PhaseRecord(name=name, start=start, end=end, start_ns=marks[start], duration_ns=marks[end] - marks[start])
        for name, start, end in phases
        if start in marks and end in marks
    ]


def restored_record(restored: Restored | None) -> RestoredRecord | None:
    """Return what a record says of the snapshot; None for a boot."""
    if restored is None:
        return None
    number = None if restored.identity is None else restored.identity.number
    return RestoredRecord(snapshot=str(restored.folder), clone=number, kept_ns=restored.t_ns)
