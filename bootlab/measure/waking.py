"""What the record of a machine that wakes has otherwise than that of a boot: times since the wake, marks and phases."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bootlab.measure.record import EarlyWakeRecord, PhaseRecord, WakeRecord
from bootlab.profile.recorded.trace import PluginTrace, Stamp
from bootlab.system import SLEEPS, PowerOnKind, System, pressed_ns
from bootlab.timeline import marks as m

_WOKE: Final = re.compile(r"(?P<us>\d{1,15}) (?P<device>\S+) (?P<driver>.+)")
"""The value of a fact `wake.NUMBER` (guest/sleep/main.c)."""
_LOST: Final = (
    "events that the kernel had no room for",
    "devices of which there were too many",
    "lines not understood",
)
_PHASES: Final = (
    ("firmware", m.WAKE, m.KERNEL_WAKES),
    ("kernel and devices", m.KERNEL_WAKES, m.WOKE),
    ("application", m.WOKE, m.READY),
)
_KERNEL_UNSEEN: Final = (("firmware, kernel and devices", m.WAKE, m.WOKE), *_PHASES[2:])
_OF_IDLE: Final = (("kernel and devices", m.WAKE, m.WOKE), *_PHASES[2:])


def is_waking(system: System) -> bool:
    """Return whether the system's boots fall asleep when they are ready, and are then timed from the wake."""
    return system.power_on is not None and system.power_on.kind in SLEEPS


def wake_ns(whole: PluginTrace | None, system: System) -> int:
    """Return when a machine woke, in ns since its power-on; 0 for one that did not. `whole`: its trace from there."""
    if whole is None or not is_waking(system) or m.WAKE not in whole.marks:
        return 0
    return whole.marks[m.WAKE].t_ns


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


def phases_of_waking(marks: Mapping[str, int], system: System) -> list[PhaseRecord]:
    """Return the phases of a machine that woke, as far as it came."""
    phases = _PHASES if m.KERNEL_WAKES in marks else _KERNEL_UNSEEN
    if system.power_on is not None and system.power_on.kind is PowerOnKind.S2IDLE:
        phases = _OF_IDLE
    return [
        PhaseRecord(name=name, start=start, end=end, start_ns=marks[start], duration_ns=marks[end] - marks[start])
        for name, start, end in phases
        if start in marks and end in marks
    ]


def early_wake_of(whole: PluginTrace | None, ready: Stamp | None, system: System) -> EarlyWakeRecord | None:
    """Return what `[wake]` did to a machine that slept; None where there is none, or where it never woke.

    `whole`: the trace since power-on; `ready`: counted from the wake, None where it was not.
    """
    wake = system.wake
    if wake is None or whole is None or not is_waking(system) or m.WAKE not in whole.marks:
        return None
    if m.SUSPENDING not in whole.guest_marks:
        return None
    at_ns, since_ns = _mark_ns(whole, wake.at), whole.guest_marks[m.SUSPENDING].t_ns
    woken_ns = whole.marks[m.WAKE].t_ns
    record = EarlyWakeRecord(
        by=wake.by.value,
        at=wake.at,
        at_to_wake_ns=None if at_ns is None else woken_ns - at_ns,
        slept_ns=woken_ns - since_ns,
        fell_asleep_ns=whole.marks[m.ASLEEP].t_ns - since_ns if m.ASLEEP in whole.marks else None,
    )
    if wake.ignition_ns is None or at_ns is None:
        return record
    ignition_ns = wake.ignition_ns - (woken_ns - at_ns)
    if ready is None:
        return record.model_copy(update={"ignition_ns": ignition_ns})
    idle_ns = whole.idle_ns(ready)
    return record.model_copy(
        update={
            "ignition_ns": ignition_ns,
            "ignition_to_ready_ns": max(0, ready.t_ns - ignition_ns),
            "idle_awake_ns": None if idle_ns is None else idle_ns + max(0, ignition_ns - ready.t_ns),
        }
    )


def _mark_ns(whole: PluginTrace, name: str) -> int | None:
    if name == m.POWER_ON:
        return 0
    stamp = whole.guest_marks.get(name) or whole.marks.get(name)
    return None if stamp is None else stamp.t_ns


def why_unwoken(whole: PluginTrace | None, system: System) -> str:
    """Return why `[wake]` did not wake a machine that began to fall asleep; empty where it did, or nothing is known.

    `whole`: the trace since power-on.
    """
    wake, asked = system.wake, system.power_on
    if wake is None or asked is None or whole is None or not is_waking(system) or m.WAKE in whole.marks:
        return ""
    if m.SUSPENDING not in whole.guest_marks:
        return ""
    at_ns, key_ns = _mark_ns(whole, wake.at), pressed_ns(asked, wake)
    if at_ns is None:
        return f"nothing woke it: wake.at is {wake.at}, a mark that it did not make before it slept"
    asleep = whole.marks.get(m.ASLEEP)
    if key_ns is not None and asleep is not None and at_ns + key_ns <= asleep.t_ns:
        early_ms = (asleep.t_ns - at_ns - key_ns) / 1e6
        return f"nothing woke it: the key came {early_ms:.3f} ms before it was asleep, and wakes nobody then"
    return "it began to fall asleep, and was not woken in this time"


def wakes_of(facts: Mapping[str, str]) -> list[WakeRecord]:
    """Return how long each device took to wake, as the guest told, the longest first; what it told of none is none."""
    found = [_WOKE.fullmatch(value) for name, value in facts.items() if name.startswith("wake.")]
    wakes = [
        WakeRecord(device=one["device"], driver=one["driver"], duration_ns=int(one["us"]) * 1000)
        for one in found
        if one is not None
    ]
    return sorted(wakes, key=lambda one: (-one.duration_ns, one.device))


def untold_of(facts: Mapping[str, str]) -> str:
    """Return what of its devices a guest that was asked did not tell, in one line; empty where that is nothing."""
    if "wake_untold" in facts:
        return f"the kernel notes no such events: {facts['wake_untold']}"
    if "wake_rest" not in facts:
        return "the machine did not come to tell of them"
    told = []
    rest = facts["wake_rest"].split()
    if len(rest) == 2 and all(word.isdecimal() for word in rest) and int(rest[0]):
        told.append(f"{rest[0]} devices more, {int(rest[1]) / 1000:.3f} ms together")
    lost = facts.get("wake_lost", "").split()
    told += [f"{number} {what}" for number, what in zip(lost, _LOST, strict=False) if number != "0"]
    return "; ".join(told)
