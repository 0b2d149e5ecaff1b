"""Fills a boot's record from what was observed: the plugin's trace where there is one, else the console's stamps."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from bootlab.measure.board_stages import phase_records, stage_records
from bootlab.measure.causes.board import board_remarks
from bootlab.measure.causes.ending import Ending
from bootlab.measure.causes.ticks import tick_remarks, why_unmoved
from bootlab.measure.causes.unseen import screen_remarks
from bootlab.measure.clone import counted_from_snapshot, marks_of_clone, phases_of_clone, restored_record
from bootlab.measure.guest.clock import HOST, VIRTUAL, place_guest_clock
from bootlab.measure.host.facts import read_host_facts
from bootlab.measure.observed_boot import ObservedBoot
from bootlab.measure.price import price_record, priced_phases
from bootlab.measure.record import (
    BeganRecord,
    BootRecord,
    ChargeRecord,
    ConsoleStamps,
    DiskRecord,
    EarlyWakeRecord,
    GuestClock,
    InitcallRecord,
    LaunchRecord,
    Outcome,
    PhaseRecord,
    PictureRecord,
    PowerOnRecord,
    ScreenRecord,
    StageRecord,
    VmmRecord,
)
from bootlab.measure.waking import (
    counted_from_wake,
    early_wake_of,
    is_waking,
    marks_of_waking,
    phases_of_waking,
    untold_of,
    wake_ns,
    wakes_of,
    why_unwoken,
)
from bootlab.profile.asked.marks import INITCALL, marks_looked_for
from bootlab.profile.recorded.disk_requests import REQUESTS, disk_use, read_disk_requests
from bootlab.profile.recorded.trace import DISKS, READS, SCREEN, SKIP, TRAPS, PluginTrace, Stamp
from bootlab.snapshot.asked import Beginning
from bootlab.system import ClockKind, PowerOn, System, moved_ticks_ns
from bootlab.targets.launch import Launch
from bootlab.targets.target import LineStamps, Names
from bootlab.timeline import marks as m
from bootlab.timeline import phases

_MOST_DIGITS: Final = 20
_LOADED_FROM: Final = {"root_kept": "kept-ram", "kept_refused": "card"}
"""A mark of SPL's (patches/u-boot/kept-ram.patch) -> where it takes kernel and root from."""

_READY_BEFORE: Final = (
    "it was ready before it slept, and a boot has one mark of a name: of a machine that is to sleep the mark that says "
    "ready is made behind /sbin/bootlab-sleep alone"
)


@dataclass(frozen=True, slots=True)
class HostRun:
    """What the host did for a boot. `started`: ISO 8601, UTC; `wall_s`: from start to end of the boot."""

    argv: list[str]
    started: str
    wall_s: float
    doubts: tuple[str, ...] = ()
    """What may have spoilt the boot or its times, as its session says."""
    remarks: tuple[str, ...] = ()
    """What was around the machine and does not spoil its times, as its session says."""
    stamps: LineStamps | None = None
    launch: Launch | None = None


def fill_record(seen: ObservedBoot, ending: Ending, run: HostRun, pictures: Sequence[PictureRecord] = ()) -> BootRecord:
    """Return the record of a boot that has ended. Raises InputError for a trace that is damaged."""
    prepared, system, heard = seen.prepared, seen.system, seen.heard
    whole, trace = _traces(seen)
    ready = _find_ready_stamp(seen, trace)
    marks = _collect_marks(heard.guest.marks, trace, ready)
    marks = marks_of_clone(marks) if prepared.restored is not None else marks
    marks = marks_of_waking(marks) if is_waking(system) else marks
    if ending.outcome is Outcome.READY:
        # A PID 1 that ends after all that was asked for: the host's timing decides whether it still gets there.
        marks.pop(m.PANIC, None)
    ending = _as_traced(ending, system, marks, heard.text, why_unwoken(whole, system))
    return BootRecord(
        system=system.name,
        clock=system.clock.kind.value,
        accelerator=prepared.runs_on,
        ns_per_instruction=1 << system.clock.shift if system.clock.kind is ClockKind.VIRTUAL else None,
        cpu=system.machine.cpu,
        seed=system.seed,
        outcome=ending.outcome,
        detail="; ".join([ending.detail, *run.doubts]).strip("; "),
        remarks=_remarks(seen, run, trace, marks, pictures),
        instructions=ready.instructions if ready is not None else None,
        idle_ns=trace.idle_ns(ready) if trace is not None and ready is not None else None,
        charged_ns=ready.charged_ns if ready is not None else 0,
        charges=_charges(seen, trace),
        ticks_moved_ns=0 if why_unmoved(system, trace) else moved_ticks_ns(system),
        price=price_record(system, trace, ready) if ending.outcome is Outcome.READY else None,
        marks=marks,
        drivers=_list_drivers(trace),
        phases=_phases(seen, marks, trace, ready),
        timings_ns=_timings(system, marks),
        read_up_to=_read_up_to(marks, trace),
        screen=_screen_record(system, trace, pictures),
        restored=restored_record(prepared.restored),
        began=_began_record(prepared.begins),
        bootstage=stage_records(heard.text),
        initcalls=[] if trace is None else cut_initcalls(trace, prepared.symbols, marks),
        guest_clock=_place_clock(seen, trace),
        exact_disks=DISKS in trace.exact if trace is not None and trace.asked_for(DISKS) else None,
        disks=_disk_records(seen, wake_ns(whole, system), ready),
        vmm=_vmm_record(run.launch),
        power_on=_power_on_record(system, heard.guest.facts, marks, early_wake_of(whole, ready, system)),
        kaslr_slide=trace.slide if trace is not None else None,
        facts=heard.guest.facts,
        console_sha256=hashlib.sha256(heard.raw[: heard.ready_offset]).hexdigest(),
        key=prepared.key,
        hashes=prepared.hashes,
        sizes=prepared.sizes,
        load_ns=prepared.load_ns,
        storage=system.storage,
        stamps=_keep_stamps(run.stamps),
        board_model=system.board_model,
        host={**read_host_facts(), **prepared.host_facts()},
        argv=run.argv,
        started=run.started,
        wall_s=round(run.wall_s, 3),
        run=str(seen.directory),
    )


def _traces(seen: ObservedBoot) -> tuple[PluginTrace | None, PluginTrace | None]:
    """Return the trace from power-on or snapshot on, and from where the record's times begin; None on other clocks."""
    if seen.system.clock.kind is not ClockKind.VIRTUAL:
        return None, None
    whole = counted_from_snapshot(seen.trace(), seen.prepared.restored)
    return whole, counted_from_wake(whole, seen.system)


def _as_traced(ending: Ending, system: System, marks: Mapping[str, int], text: str, unwoken: str) -> Ending:
    """Return the ending of a boot as its marks have it: ready is what was seen to be ready, and to have woken."""
    if ending.outcome is not Outcome.READY:
        return replace(ending, detail=f"{unwoken}; {ending.detail}".strip("; ")) if unwoken else ending
    if m.READY not in marks and is_waking(system) and m.WAKE in marks:
        return Ending(Outcome.NOT_READY, _READY_BEFORE)
    if m.READY not in marks:
        return Ending(Outcome.NOT_READY, "the console said ready, but the plugin saw neither mark nor line")
    if is_waking(system) and m.WAKE not in marks:
        return Ending(Outcome.NOT_READY, f"it was ready, and never suspended; {_not_slept(text)}")
    return ending


def _not_slept(text: str) -> str:
    said = [line.strip() for line in text.splitlines() if "not put to sleep" in line]
    return said[0] if said else "/sbin/bootlab-sleep has to be started before the mark that says ready"


def _phases(
    seen: ObservedBoot, marks: dict[str, int], trace: PluginTrace | None, ready: Stamp | None
) -> list[PhaseRecord]:
    if seen.prepared.restored is not None:
        return phases_of_clone(marks)
    if m.WAKE in marks and is_waking(seen.system):
        return phases_of_waking(marks, seen.system)
    cut = phase_records(marks, seen.directory, seen.system.booted.mark, _disk_reads(trace, ready))
    return priced_phases(cut, seen.system, trace, ready)


def _timings(system: System, marks: Mapping[str, int]) -> dict[str, int | None]:
    # A stretch that ends before it begins is none.
    return {
        name: end - start if start is not None and end is not None and start <= end else None
        for name, (start, end) in _timing_bounds(system, marks).items()
    }


def _turned_timings(system: System, marks: Mapping[str, int]) -> Iterator[str]:
    for name, (start, end) in _timing_bounds(system, marks).items():
        if start is not None and end is not None and end < start:
            one = system.timings[name]
            yield f"timings.{name}: {one.mark} came before {one.after}, so nothing lies between them"


def _timing_bounds(system: System, marks: Mapping[str, int]) -> dict[str, tuple[int | None, int | None]]:
    since = {m.POWER_ON: 0, **marks}
    return {name: (since.get(one.after or m.POWER_ON), since.get(one.mark)) for name, one in system.timings.items()}


def _read_up_to(marks: Mapping[str, int], trace: PluginTrace | None) -> dict[str, int]:
    bounds = {name for phase in phases.cut(marks) for name in (phase.start, phase.end)}
    reads = _disk_reads(trace, None)
    return {name: reads[name] for name in marks if name in reads and name not in bounds}


def _disk_reads(trace: PluginTrace | None, ready: Stamp | None) -> dict[str, int]:
    if trace is None or not trace.counts_reads:
        return {}
    stamps = {m.POWER_ON: Stamp(0, 0), **trace.guest_marks, **trace.marks}
    if ready is not None:
        stamps[m.READY] = ready
    return {name: stamp.read_bytes for name, stamp in stamps.items()}


def cut_initcalls(trace: PluginTrace, symbols: Names | None, marks: Mapping[str, int]) -> list[InitcallRecord]:
    """Return the initcalls of a boot up to ready, each ending where the next begins; none without `symbols`.

    Modules loaded by the check are initcalls too, but what comes after ready is not measured, and does not repeat.
    """
    if symbols is None:
        return []
    until = marks.get(m.READY)
    calls = [call for call in trace.calls if call.name == INITCALL and (until is None or call.t_ns < until)]
    initcalls_end = marks.get(m.INITCALLS_END, 0)
    records = []
    ends = [call.t_ns for call in calls[1:]] + [until or initcalls_end]
    for call, end in zip(calls, ends, strict=False):
        if call.t_ns < initcalls_end:
            end = min(end, initcalls_end)
        name = symbols.name_at(call.argument) or f"{call.argument:#x}"
        records.append(InitcallRecord(name=name, start_ns=call.t_ns, duration_ns=max(0, end - call.t_ns)))
    return records


def _find_ready_stamp(seen: ObservedBoot, trace: PluginTrace | None) -> Stamp | None:
    if trace is None:
        return None
    if seen.system.booted.mark in trace.guest_marks:
        return trace.guest_marks[seen.system.booted.mark]
    # Said on the console only: by pattern, or by a script that wrote the mark's line itself.
    offset = seen.heard.ready_offset
    stamp = trace.console_stamp(offset) if offset is not None else None
    # Of a machine that woke, one that is from before its wake is no mark of this waking.
    return None if stamp is None or stamp.t_ns < 0 else stamp


def _collect_marks(said: Mapping[str, int], trace: PluginTrace | None, ready: Stamp | None) -> dict[str, int]:
    marks = {m.POWER_ON: 0}
    if trace is None:
        marks.update(said)
    else:
        # A guest may name a mark as it likes, but not move one of ours.
        marks.update({name: mark.t_ns for name, mark in trace.guest_marks.items() if name not in m.OWN})
        marks.update({name: mark.t_ns for name, mark in trace.marks.items() if not name.startswith(m.DRIVER_PREFIX)})
        if ready is not None:
            marks[m.READY] = ready.t_ns
    return dict(sorted(marks.items(), key=lambda item: item[1]))


def _list_drivers(trace: PluginTrace | None) -> list[StageRecord]:
    found = [] if trace is None else [item for item in trace.marks.items() if item[0].startswith(m.DRIVER_PREFIX)]
    return [StageRecord(name=name.removeprefix(m.DRIVER_PREFIX), t_ns=stamp.t_ns) for name, stamp in found]


def _remarks(
    seen: ObservedBoot,
    run: HostRun,
    trace: PluginTrace | None,
    marks: Mapping[str, int],
    pictures: Sequence[PictureRecord],
) -> list[str]:
    config = seen.prepared.plugin_config or ""
    return [
        *seen.prepared.files.remarks,
        *([] if trace is None else _refusals(trace)),
        *tick_remarks(seen.system, trace, seen.prepared.files.kernel_config),
        *run.remarks,
        *([] if trace is None else screen_remarks(config, trace, pictures)),
        *_turned_timings(seen.system, marks),
        *board_remarks(seen.system, marks.keys(), seen.heard.text, marks_looked_for(config)),
    ]


def _refusals(trace: PluginTrace) -> list[str]:
    refused = dict(trace.refused)
    without, unseen, uncounted, _ = (refused.pop(feature, None) for feature in (TRAPS, SCREEN, READS, SKIP))
    told = [f"exact {feature}: refused: {why}" for feature, why in refused.items()]
    if trace.settled[1]:
        told.append(f"exact disks: of {trace.settled[0]} waits for a disk {trace.settled[1]} were given up")
    told += [
        f"disk {drive}: {late} of {answered} requests were not answered at the model's time"
        for drive, (answered, late) in trace.modelled.items()
        if late
    ]
    lost = [] if without is None else [f"exits of KVM are neither counted nor charged: {without}"]
    if uncounted is not None:
        lost.append(f"what is read from disks is not counted by phase: {uncounted}")
    if unseen is not None:
        lost.append(f"the screen is not looked at, and nothing is typed: {unseen}")
    return [*lost, *(f"{line}: this boot may not repeat exactly" for line in told)]


def _screen_record(system: System, trace: PluginTrace | None, pictures: Sequence[PictureRecord]) -> ScreenRecord | None:
    if system.screen is None or trace is None or trace.looks is None:
        return None
    looks, screen = trace.looks, system.screen
    return ScreenRecord(
        looks=looks.count,
        frames=looks.frames,
        after={name: after or m.POWER_ON for name, after in screen.after.items()},
        frames_up_to=trace.frames_up_to,
        pictures=list(pictures),
        lost=looks.lost,
    )


def _power_on_record(
    system: System, facts: Mapping[str, str], marks: Mapping[str, int], wake: EarlyWakeRecord | None
) -> PowerOnRecord | None:
    source = "image" if facts.get("hibernation") == "resumed" else None
    if system.power_on is None and system.kept_ram is None:
        return None
    if system.kept_by_loader:
        # SPL says by its marks alone where all is from: each character takes its time.
        source = next((where for mark, where in _LOADED_FROM.items() if mark in marks), None)
    asked = system.power_on or PowerOn()
    return PowerOnRecord(
        kind=asked.kind.value,
        fault=None if asked.fault is None else asked.fault.value,
        fault_file=asked.fault_file,
        source=facts.get("root_source", source),
        refused=facts.get("kept_ram_refused", facts.get("hibernation_refused")),
        changes_taken=_number(facts.get("changes_taken")),
        changes_refused=facts.get("changes_refused"),
        devices=wakes_of(facts) if asked.devices else [],
        devices_untold=untold_of(facts) if asked.devices else "",
        wake=wake,
    )


def _number(text: str | None) -> int | None:
    # A guest's console may say anything.
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def _charges(seen: ObservedBoot, trace: PluginTrace | None) -> dict[str, ChargeRecord]:
    # A console line says ready within a block: what was charged up to there is told at the next mark only.
    mark = seen.system.booted.mark
    if trace is None or mark is None or mark not in trace.charges_at:
        return {}
    return {name: ChargeRecord(count=one.count, ns=one.ns) for name, one in trace.charges_at[mark].items()}


def _disk_records(seen: ObservedBoot, since_ns: int, ready: Stamp | None) -> list[DiskRecord]:
    models = seen.system.modelled_disks
    path = seen.directory / REQUESTS
    if not models or not path.exists():
        return []
    until_ns = None if ready is None else since_ns + ready.t_ns
    uses = disk_use(read_disk_requests(path), until_ns, since_ns)
    return [
        DiskRecord(drive=drive, model=model.name, **asdict(uses[drive]))
        for drive, model in models.items()
        if drive in uses
    ]


def _place_clock(seen: ObservedBoot, trace: PluginTrace | None) -> GuestClock | None:
    lines = seen.heard.lines_to_ready()
    if trace is None:
        sent = [(line.t_ns - seen.heard.zero_ns, line.text) for line in lines]
    else:
        ends = dict(trace.console_ends())
        sent = [(ends[line.end_offset].t_ns, line.text) for line in lines if line.end_offset in ends]
    # A clone's kernel counts from its own power-on.
    placed = (
        None
        if seen.prepared.restored or is_waking(seen.system)
        else place_guest_clock(sent, HOST if trace is None else VIRTUAL)
    )
    if placed is None:
        return None
    return GuestClock(offset_ns=placed.offset_ns, uncertainty_ns=placed.uncertainty_ns, since_ns=placed.since_ns)


def _began_record(begins: Beginning | None) -> BeganRecord | None:
    return None if begins is None else BeganRecord(mark=begins.mark, t_ns=begins.t_ns, boot=str(begins.boot))


def _vmm_record(launch: Launch | None) -> VmmRecord | None:
    if launch is None:
        return None
    steps = [LaunchRecord(name=step.name, duration_ns=step.end_ns - step.start_ns) for step in launch.steps]
    return VmmRecord(name=launch.vmm, version=launch.version, launch=steps, own=dict(launch.own))


def _keep_stamps(stamps: LineStamps | None) -> ConsoleStamps | None:
    if stamps is None:
        return None
    return ConsoleStamps(byte_ns=stamps.byte_ns, late_ns=stamps.late_ns, power_ns=stamps.power_ns)
