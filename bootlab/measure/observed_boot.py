"""One boot as it is observed: what it was prepared as, and what its console and its plugin have shown so far."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bootlab.measure.guest.heard_console import HeardConsole
from bootlab.profile.recorded.disk_requests import FIRST_LINE, REQUESTS, WRITES
from bootlab.profile.recorded.joined import join_traces
from bootlab.profile.recorded.pictures import PICTURES
from bootlab.profile.recorded.trace import PluginTrace, parse_trace, read_trace
from bootlab.snapshot.asked import Beginning
from bootlab.system import System
from bootlab.targets.target import REST, TRACE, OpenedMachine, Prepared


class BootWatcher(Protocol):
    """Somebody who looks at a machine beside whoever follows it."""

    def opened(self, opened: OpenedMachine) -> None:
        """Take note of a machine that was opened, and is not switched on yet."""
        ...

    async def ready(self, opened: OpenedMachine, ready_ns: int) -> None:
        """Take note of a machine that is ready and well, since `ready_ns` of the host; it lives until this returns."""
        ...


@dataclass(frozen=True, slots=True)
class ObservedBoot:
    """A boot in `directory`. `patience` multiplies the deadlines of its system."""

    prepared: Prepared
    directory: Path
    heard: HeardConsole
    patience: float = 1.0
    answers: bytearray = field(default_factory=bytearray)
    """What its shell has said, where it was asked."""
    remarks: list[str] = field(default_factory=list)
    """What a user should know of the asking."""
    watcher: BootWatcher | None = None

    @property
    def system(self) -> System:
        return self.prepared.system

    @property
    def ready_deadline_s(self) -> float:
        """Return the host seconds in which it has to be ready."""
        return self.system.booted.deadline_s * self.patience

    @property
    def check_deadline_s(self) -> float:
        """Return the host seconds that its check may take from ready on; 0 where it has none."""
        check = self.system.check
        return 0.0 if check is None else check.deadline_s * self.patience

    def trace(self) -> PluginTrace | None:
        """Return what the plugin has written by now; None where there is no plugin. Raises InputError for damage."""
        path = self.directory / REST
        if self.prepared.begins is not None and path.exists():
            return parse_trace(self._joined(self.prepared.begins, path), str(path))
        path = self.directory / TRACE
        return read_trace(path) if path.exists() else None

    def join_beginning(self) -> None:
        """Have the directory hold all of a boot that has another's beginning: whatever its plugin wrote.

        Raises OSError.
        """
        begins, path = self.prepared.begins, self.directory / REST
        if begins is None:
            return
        if path.exists():
            (self.directory / TRACE).write_text(self._joined(begins, path), encoding="ascii")
            path.unlink()
        for name, header in ((PICTURES, 0), (REQUESTS, len(FIRST_LINE)), (WRITES, 0)):
            path = self.directory / name
            if path.exists():
                path.write_bytes((begins.boot / name).read_bytes() + path.read_bytes()[header:])

    def _joined(self, begins: Beginning, rest: Path) -> str:
        return join_traces(begins.trace, begins.mark, rest.read_text(encoding="ascii", errors="replace"))

    def has_seen(self, mark: str) -> bool:
        """Return whether the trace has this mark of screen or keyboard, without reading the rest of it."""
        path = self.directory / (TRACE if self.prepared.begins is None else REST)
        written = path.read_bytes() if path.exists() else b""
        return any(b"\n%s %s " % (kind, mark.encode()) in written for kind in (b"seen", b"typed"))

    def has_traced(self, mark: str | None) -> bool:
        """Return whether the trace has this mark of the guest; false where nothing traces it."""
        trace = self.trace() if self.prepared.traced else None
        return trace is not None and mark in trace.guest_marks
