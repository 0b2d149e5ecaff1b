"""What the record of a machine that wakes has otherwise than that of a boot: times since the wake, marks and phases."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bootlab.measure.record import PhaseRecord
from bootlab.profile.recorded.trace import PluginTrace
from bootlab.system import PowerOnKind, System
from bootlab.timeline import marks as m

_PHASES: Final = (
    ("firmware", m.WAKE, m.KERNEL_WAKES),
    ("kernel and devices", m.KERNEL_WAKES, m.WOKE),
    ("application", m.WOKE, m.READY),
)
_WITHOUT_FIRMWARE: Final = (("firmware, kernel and devices", m.WAKE, m.WOKE), *_PHASES[2:])


def is_waking(system: System) -> bool:
    """Return whether the system's boots are suspended when they are ready, and then timed from the wake."""
    return system.power_on is not None and system.power_on.kind is PowerOnKind.SUSPENDED


def counted_from_wake(trace: PluginTrace | None, system: System) -> PluginTrace | None:
    """Return the trace of a machine that woke counted from there, and without what was before; any other as it is."""
    if trace is None or not is_waking(system) or m.WAKE not in trace.marks:
        return trace
    counted = trace.since(trace.marks[m.WAKE])
    return replace(
        counted,
        marks={name: stamp for name, stamp in counted.marks.items() if stamp.t_ns >= 0},
        guest_marks={name: stamp for name, stamp in counted.guest_marks.items() if stamp.t_ns >= 0},
        calls=[],
    )


def marks_of_waking(marks: Mapping[str, int]) -> dict[str, int]:
    """Return the marks of a machine that woke: it was not powered on at their zero. As they are of one that did not."""
    return {name: t_ns for name, t_ns in marks.items() if name != m.POWER_ON or m.WAKE not in marks}


def phases_of_waking(marks: Mapping[str, int]) -> list[PhaseRecord]:
    """Return the phases of a machine that woke, as far as it came."""
    phases = _PHASES if m.KERNEL_WAKES in marks else _WITHOUT_FIRMWARE
    return [
        PhaseRecord(name=name, start=start, end=end, start_ns=marks[start], duration_ns=marks[end] - marks[start])
        for name, start, end in phases
        if start in marks and end in marks
    ]
