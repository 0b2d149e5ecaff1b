"""One boot: power on, follow the console, decide what happened, write the record.

A boot's directory holds record.json, console.log (raw), trace.txt (the plugin's), plugin.conf and qemu.stderr; that of
a profiled boot also profile.bin and the functions it refers to. The record is written last and in one piece, so a
directory with a record is a finished boot and one without is not.
"""

import asyncio
import hashlib
import re
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bootlab.errors import BootFailed, Interrupted
from bootlab.importers.serial.console_lines import ConsoleLine, LineSplitter
from bootlab.measure.board_stages import phase_records, stage_records
from bootlab.measure.causes.board import board_remarks, find_board_cause
from bootlab.measure.causes.search import find_known_cause
from bootlab.measure.causes.wrong_baud import find_line_cause
from bootlab.measure.guest.clock import HOST, VIRTUAL, place_guest_clock
from bootlab.measure.guest.console import GuestConsole, early_check
from bootlab.measure.guest.tcp_check import ask
from bootlab.measure.host.deadline import deadline
from bootlab.measure.host.facts import host_facts
from bootlab.measure.record import BootRecord, ConsoleStamps, GuestClock, InitcallRecord, Outcome
from bootlab.measure.record_files import store_error, write_whole
from bootlab.profile.asked.marks import marks_looked_for
from bootlab.profile.asked.profiling import FUNCTIONS
from bootlab.profile.recorded.about import PROFILE
from bootlab.profile.recorded.compressed import compress_kept
from bootlab.profile.recorded.trace import PluginTrace, Stamp, read_trace
from bootlab.system import Check, ClockKind
from bootlab.targets.target import TRACE, ConsoleBytes, Ended, EndReason, Prepared, Session
from bootlab.timeline import marks as m

_AFTER_PANIC_S = 1.0
"""How long a panicked guest may still print before it is stopped; panic=-1 ends most at once."""

_PROMPT_S = 0.5
"""How long a console must be silent in mid-line before what it says is taken for a prompt."""

_AFTER_CHECK_MARK_S = 5.0
"""How long after the line of its check's mark a guest may go on: the mark itself, where there is one, stops it."""

_EARLY = "before it was ready its check said: "

Events = AsyncIterator[ConsoleBytes | Ended]

OnLine = Callable[[int, str], None]
"""Called with each console line: host ns since power-on, text."""


@dataclass(slots=True)
class _Ending:
    outcome: Outcome
    detail: str = ""


def boot(
    prepared: Prepared,
    directory: Path,
    *,
    on_line: OnLine | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    patience: float = 1.0,
) -> BootRecord:
    """Boot once and return the record, also written to `directory` (which must exist and be empty).

    `patience` multiplies the system's deadlines, for a slow host or a boot that is profiled.
    A boot that panics, hangs, fails its check or does not start is an outcome in the record, not an error.
    Raises MissingTool when there is no QEMU, Interrupted when `cancelled()` became true, StoreError when the
    record could not be written.
    """
    try:
        return asyncio.run(_Boot(prepared, directory, on_line, cancelled, patience).run())
    except OSError as error:
        raise store_error(directory, error) from error


class _Boot:
    def __init__(
        self,
        prepared: Prepared,
        directory: Path,
        on_line: OnLine | None,
        cancelled: Callable[[], bool],
        patience: float,
    ) -> None:
        self.prepared = prepared
        self.system = prepared.system
        self.directory = directory
        self.on_line = on_line
        self.cancelled = cancelled
        self.deadline_s = self.system.booted.deadline_s * patience
        self.check_deadline_s = self.system.check.deadline_s * patience if self.system.check is not None else 0.0
        self.guest = GuestConsole(
            self.system.booted, self.system.check, named=prepared.console.marks, traced=prepared.traced
        )
        self.lines = LineSplitter()
        self.power_on_ns = 0
        self.withheld_s = 0.0
        self.ready_offset: int | None = None
        self.console = bytearray()
        self.ended: Ended | None = None
        self.pending: asyncio.Future[ConsoleBytes | Ended] | None = None
        self.spoken: list[ConsoleLine] = []
        self.session: Session | None = None
        self.zero = prepared.console.zero

    async def run(self) -> BootRecord:
        started = datetime.now(UTC).isoformat(timespec="seconds")
        begun = time.monotonic()
        argv: list[str] = []
        try:
            async with self.prepared.open(self.directory, argv) as machine:
                self.session = machine.session
                self.lines = LineSplitter(byte_ns=machine.session.byte_ns)
                ending = await self._follow(machine.session, machine.tcp_port)
        except BootFailed as error:
            ending = _Ending(Outcome.NOT_STARTED, error.message)
        (self.directory / "console.log").write_bytes(self.console)
        for kept in (PROFILE, FUNCTIONS):
            compress_kept(self.directory / kept)
        record = self._record(ending, argv, started, time.monotonic() - begun)
        write_whole(self.directory / "record.json", record.model_dump_json(by_alias=True, indent=1) + "\n")
        return record

    async def _follow(self, session: Session, port: int | None) -> _Ending:
        watcher = asyncio.create_task(self._watch_cancelled(asyncio.current_task()))
        self.power_on_ns = await session.power_on()
        events = session.events()
        try:
            async with deadline(self.deadline_s, session.withheld_s):
                ended = await self._until_ready(session, events)
            if ended is not None:
                return self._ended_early(ended)
            if self.guest.failed_early:
                await self._finish(session, events)
                return self._explained(Outcome.CHECK_FAILED, f"{_EARLY}{self.guest.check_detail}")
            check = self.system.check
            if check is None:
                await self._finish(session, events)
                return _Ending(Outcome.READY)
            async with deadline(self.check_deadline_s, session.withheld_s):
                ending = await self._run_check(check, events, port)
            await self._finish(session, events)
            return ending
        except TimeoutError:
            self.withheld_s = session.withheld_s()
            ending = self._overdue()
            # Stopped in order, QEMU writes out what the plugin still holds: of a hang that is the part that matters.
            await self._finish(session, events)
            return ending
        except asyncio.CancelledError:
            if self.cancelled():
                raise Interrupted("interrupted") from None
            raise
        finally:
            watcher.cancel()
            if self.pending is not None:
                self.pending.cancel()

    async def _next(self, events: Events, patience_s: float | None = None) -> ConsoleBytes | Ended | None:
        """Return the next event; None when `patience_s` passed without one, which then comes with a later call."""
        if self.pending is None:
            self.pending = asyncio.ensure_future(anext(events))
        done, _ = await asyncio.wait({self.pending}, timeout=patience_s)
        if not done:
            return None
        arrived, self.pending = self.pending, None
        event = arrived.result()
        self.ended = event if isinstance(event, Ended) else None
        return event

    async def _until_ready(self, session: Session, events: Events) -> Ended | None:
        # Or until its check has failed.
        while not self.guest.ready and not self.guest.failed_early:
            event = await self._next(events, _PROMPT_S if self.lines.rest() else None)
            if event is None:
                self._look_for_prompt()
            elif isinstance(event, Ended):
                self._feed(b"", event.t_ns, last=True)
                if self.guest.failed_early:
                    return None
                # The plugin ends a boot at its mark before the console line that says the same can be written.
                return None if self._ready_in_trace(event) else event
            else:
                self._feed(event.data, event.t_ns)
                if self.guest.panic is not None and not self.guest.ready:
                    return await self._drain_panic(session, events)
                if self.guest.gave_up and not self.prepared.console.may_be_reset:
                    await self._finish(session, events)
                    return self.ended
        return None

    async def _drain_panic(self, session: Session, events: Events) -> Ended:
        try:
            async with asyncio.timeout(_AFTER_PANIC_S):
                while not isinstance(event := await self._next(events), Ended):
                    if event is not None:
                        self._feed(event.data, event.t_ns)
                return event
        except TimeoutError:
            await session.stop()
        return Ended(time.monotonic_ns(), EndReason.GUEST_PANIC)

    async def _run_check(self, check: Check, events: Events, port: int | None) -> _Ending:
        # Its mark may have ended the boot before its console, if it has one, said even that it was ready.
        patience_s = min(_AFTER_CHECK_MARK_S, self.check_deadline_s / 2)
        while self.guest.check_passed is None and self.guest.panic is None and self.ended is None:
            event = await self._next(events, patience_s if self._check_said(check) else None)
            if event is None:
                break
            if isinstance(event, Ended):
                self._feed(b"", event.t_ns, last=True)
            else:
                self._feed(event.data, event.t_ns)
        if self.guest.check_passed is None and self.guest.panic is not None:
            return _Ending(Outcome.CHECK_FAILED, f"the guest panicked during its check: {self.guest.panic}")
        if self.guest.check_passed is None and not (self._check_said(check) or self._checked_in_trace(check)):
            reason = self.ended.reason.value if self.ended is not None else "unknown"
            return _Ending(Outcome.CHECK_FAILED, f"the guest ended ({reason}) during its check")
        if self.guest.check_passed is False:
            return _Ending(Outcome.CHECK_FAILED, self.guest.check_detail)
        if check.send is None or check.expect is None or port is None:
            return _Ending(Outcome.READY)
        answer = await ask(port, check.send, check.expect)
        if re.search(check.expect, answer) is None:
            return _Ending(
                Outcome.CHECK_FAILED, f"TCP answer {answer[:80]!r} does not match check.expect {check.expect!r}"
            )
        return _Ending(Outcome.READY)

    async def _finish(self, session: Session, events: Events) -> None:
        await session.stop()
        while self.ended is None:
            event = await self._next(events)
            if isinstance(event, ConsoleBytes):
                self._feed(event.data, event.t_ns)

    def _feed(self, data: bytes, t_ns: int, *, last: bool = False) -> None:
        self.console += data
        was_ready = self.guest.ready
        lines = self.lines.feed(data, t_ns) if not last else self.lines.finish()
        for line in lines:
            if self.zero is not None and re.search(self.zero, line.text) is not None:
                self.zero, self.power_on_ns = None, line.t_ns
            since_ns = line.t_ns - self.power_on_ns
            if self.zero is not None:
                # Not counted yet: what a mark there would be since is not known.
                self.guest.last_line, self.guest.last_line_ns = line.text, since_ns
                self._tell(since_ns, line.text)
                continue
            self.spoken.append(line)
            self.guest.take(since_ns, line.text)
            self._tell(since_ns, line.text)
            if self.guest.ready and not was_ready:
                was_ready = True
                self.ready_offset = line.end_offset

    def _tell(self, since_ns: int, text: str) -> None:
        if self.on_line is not None:
            self.on_line(since_ns, text)

    def _look_for_prompt(self) -> None:
        # A prompt has no line end, and nothing more comes until somebody types. A line that is only slow in coming
        # would match at a byte that differs from boot to boot, hence the patience before this is asked.
        for line in self.lines.rest() if self.zero is None else ():
            if self.guest.prompt(line.t_ns - self.power_on_ns, line.text):
                self.ready_offset = line.end_offset

    def _ready_in_trace(self, event: Ended) -> bool:
        if event.reason is EndReason.DIED or not self.prepared.traced:
            return False
        trace = self._trace()
        self.guest.ready = trace is not None and self.system.booted.mark in trace.guest_marks
        return self.guest.ready

    def _check_said(self, check: Check) -> bool:
        # By its line alone, as a script can that has no bootlab-mark; before ready it proves nothing.
        marks = self.guest.marks
        return check.mark is not None and marks.get(check.mark, -1) >= marks.get(m.READY, 0)

    def _checked_in_trace(self, check: Check) -> bool:
        trace = self._trace() if self.prepared.traced else None
        return trace is not None and check.mark in trace.guest_marks

    def _ended_early(self, ended: Ended) -> _Ending:
        if self.guest.panic is not None:
            return self._explained(Outcome.PANICKED, f"kernel panic: {self.guest.panic}")
        if ended.reason is EndReason.DIED:
            return _Ending(Outcome.TARGET_DIED, ended.detail)
        if self.guest.gave_up and ended.reason is EndReason.STOPPED:
            return self._explained(Outcome.HUNG, f"the bootloader gave up; {self._last_words()}")
        trace = self._trace()
        if trace is not None and m.PANIC in trace.marks:
            return self._explained(Outcome.PANICKED, "the kernel panicked without a word on the console")
        check = self.system.check
        if trace is not None and check is not None and check.mark in trace.guest_marks:
            return self._explained(Outcome.CHECK_FAILED, f"{_EARLY}{early_check(check)}")
        return self._explained(Outcome.NOT_READY, f"{ended.reason.value} before ready; {self._last_words()}")

    def _overdue(self) -> _Ending:
        if self.guest.ready:
            overdue = f"no result of the check after {self.check_deadline_s:g} s"
            return self._explained(Outcome.CHECK_FAILED, f"{overdue}; {self._last_words()}")
        trace = self._trace()
        if trace is not None and (seen := trace.guest_marks.get(self.system.booted.mark or "")) is not None:
            if self.system.check is not None and self.system.check.mark is not None:
                return self._explained(
                    Outcome.CHECK_FAILED,
                    f"ready at {seen.t_ns / 1e6:.3f} ms, and its check has not made the mark {self.system.check.mark} "
                    f"after {self._deadline_words()}; {self._last_words()}",
                )
            return self._explained(
                Outcome.HUNG,
                f"the mark was made at {seen.t_ns / 1e6:.3f} ms, but its line has not reached the serial port "
                f"after {self._deadline_words()}, and the check needs it; {self._last_words()}",
            )
        overdue = f"not ready after {self._deadline_words()}"
        return self._explained(Outcome.HUNG, f"{overdue}; {self._last_words()}")

    def _deadline_words(self) -> str:
        waited = f", and {self.withheld_s:.0f} s for a processor" if self.withheld_s >= 1 else ""
        return f"{self.deadline_s:g} s on the host's clock{waited}"

    def _explained(self, outcome: Outcome, detail: str) -> _Ending:
        if self.prepared.console.is_line:
            cause = find_line_cause(bytes(self.console), self.zero)
        else:
            trace = self._trace()
            silent = not self.console
            cause = find_board_cause(self.system, trace.marks.keys(), silent=silent) if trace is not None else None
            cause = cause or find_known_cause(self.system, self.console.decode(errors="replace"), self.prepared.files)
        return _Ending(outcome, detail if cause is None else f"{detail}; {cause}")

    def _last_words(self) -> str:
        if not self.guest.last_line:
            return "the console said nothing"
        seconds = self.guest.last_line_ns / 1e9
        return f'last console line, {seconds:.3f} host s after power-on: "{self.guest.last_line.strip()[:160]}"'

    def _trace(self) -> PluginTrace | None:
        path = self.directory / TRACE
        return read_trace(path) if path.exists() else None

    async def _watch_cancelled(self, boot: "asyncio.Task[object] | None") -> None:
        while not self.cancelled():
            await asyncio.sleep(0.1)
        if boot is not None:
            boot.cancel()

    def _record(self, ending: _Ending, argv: list[str], started: str, wall_s: float) -> BootRecord:
        prepared, system = self.prepared, self.system
        virtual = system.clock.kind is ClockKind.VIRTUAL
        trace = self._trace() if virtual else None
        ready = self._ready_stamp(trace)
        marks = self._marks(trace, ready)
        if ending.outcome is Outcome.READY:
            # A PID 1 that ends after all that was asked for: the host's timing decides whether it still gets there.
            marks.pop(m.PANIC, None)
        if ending.outcome is Outcome.READY and m.READY not in marks:
            ending = _Ending(Outcome.NOT_READY, "the console said ready, but the plugin saw neither mark nor line")
        return BootRecord(
            system=system.name,
            clock=system.clock.kind.value,
            accelerator=prepared.runs_on,
            ns_per_instruction=1 << system.clock.shift if virtual else None,
            cpu=system.machine.cpu,
            seed=system.seed,
            outcome=ending.outcome,
            detail="; ".join([ending.detail, *(self.session.doubts if self.session is not None else ())]).strip("; "),
            remarks=board_remarks(
                system,
                marks.keys(),
                self.console.decode(errors="replace"),
                marks_looked_for(prepared.plugin_config or ""),
            ),
            instructions=ready.instructions if ready is not None else None,
            idle_ns=trace.idle_ns(ready) if trace is not None and ready is not None else None,
            marks=marks,
            phases=phase_records(marks, self.directory, system.booted.mark),
            bootstage=stage_records(self.console.decode(errors="replace")),
            initcalls=self._initcalls(trace, marks),
            guest_clock=self._guest_clock(trace),
            kaslr_slide=trace.slide if trace is not None else None,
            facts=self.guest.facts,
            console_sha256=hashlib.sha256(self.console[: self.ready_offset]).hexdigest(),
            key=prepared.key,
            hashes=prepared.hashes,
            sizes=prepared.sizes,
            load_ns=prepared.load_ns,
            storage=system.storage,
            stamps=self._stamps(),
            board_model=system.board_model,
            host={**host_facts(), **prepared.host_facts()},
            argv=argv,
            started=started,
            wall_s=round(wall_s, 3),
            run=str(self.directory),
        )

    def _stamps(self) -> ConsoleStamps | None:
        stamps = self.session.stamps() if self.session is not None else None
        if stamps is None:
            return None
        return ConsoleStamps(byte_ns=stamps.byte_ns, late_ns=stamps.late_ns, power_ns=stamps.power_ns)

    def _ready_stamp(self, trace: PluginTrace | None) -> Stamp | None:
        if trace is None:
            return None
        if self.system.booted.mark in trace.guest_marks:
            return trace.guest_marks[self.system.booted.mark]
        # Said on the console only: by pattern, or by a script that wrote the mark's line itself.
        return trace.console_stamp(self.ready_offset) if self.ready_offset is not None else None

    def _marks(self, trace: PluginTrace | None, ready: Stamp | None) -> dict[str, int]:
        marks = {m.POWER_ON: 0}
        if trace is None:
            marks.update(self.guest.marks)
        else:
            # A guest may name a mark as it likes, but not move one of ours.
            marks.update({name: mark.t_ns for name, mark in trace.guest_marks.items() if name not in m.OWN})
            marks.update({name: mark.t_ns for name, mark in trace.marks.items()})
            if ready is not None:
                marks[m.READY] = ready.t_ns
        return dict(sorted(marks.items(), key=lambda item: item[1]))

    def _guest_clock(self, trace: PluginTrace | None) -> GuestClock | None:
        until = self.ready_offset if self.ready_offset is not None else len(self.console)
        lines = [line for line in self.spoken if line.end_offset <= until]
        if trace is None:
            sent = [(line.t_ns - self.power_on_ns, line.text) for line in lines]
        else:
            ends = dict(trace.console_ends())
            sent = [(ends[line.end_offset].t_ns, line.text) for line in lines if line.end_offset in ends]
        placed = place_guest_clock(sent, HOST if trace is None else VIRTUAL)
        if placed is None:
            return None
        return GuestClock(offset_ns=placed.offset_ns, uncertainty_ns=placed.uncertainty_ns, since_ns=placed.since_ns)

    def _initcalls(self, trace: PluginTrace | None, marks: dict[str, int]) -> list[InitcallRecord]:
        symbols = self.prepared.symbols
        if trace is None or symbols is None:
            return []
        # Modules loaded by the check call it too; what comes after ready is not measured, and does not repeat.
        until = marks.get(m.READY)
        calls = [call for call in trace.calls if until is None or call.t_ns < until]
        initcalls_end = marks.get(m.INITCALLS_END, 0)
        records = []
        ends = [call.t_ns for call in calls[1:]] + [until or initcalls_end]
        for call, end in zip(calls, ends, strict=False):
            if call.t_ns < initcalls_end:
                end = min(end, initcalls_end)
            name = symbols.name_at(call.argument) or f"{call.argument:#x}"
            records.append(InitcallRecord(name=name, start_ns=call.t_ns, duration_ns=max(0, end - call.t_ns)))
        return records
