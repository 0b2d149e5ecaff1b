"""System calls: how often each process made which, how long they took and what they executed."""

from collections import defaultdict
from dataclasses import dataclass

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.tables.plain_data import Result
from bootlab.profile.waits.sleep_reasons import bare, syscall_name


@dataclass(frozen=True, slots=True)
class SyscallTotal(Result):
    """One system call of one process.

    `elapsed_ns`: from entry to return, waits included. `instructions`: the process's own meanwhile.
    """

    name: str
    calls: int
    elapsed_ns: int
    instructions: int


@dataclass(frozen=True, slots=True)
class ProcessSyscalls(Result):
    """The system calls of one process and its threads, longest together first. `task`: the process's first thread."""

    task: int
    pid: int
    name: str
    calls: int
    elapsed_ns: int
    instructions: int
    syscalls: tuple[SyscallTotal, ...]


def find_syscalls(profile: Profile, until: str | None = None) -> tuple[ProcessSyscalls, ...]:
    """Return the system calls of each process that made any, in order of start, up to the mark `until` if reached."""
    rows = profile.syscalls
    last = None if until is None else profile.slice_index(until)
    if last is not None:
        rows = rows[rows["slice"] <= last]
    first: dict[int, int] = {}
    for task in profile.tasks:
        first.setdefault(task.tgid if task.tgid >= 0 else -2 - task.number, task.number)
    sums: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0, 0]))
    for task_number, function, calls, elapsed, instructions in rows[
        ["task", "function", "calls", "elapsed_ns", "instructions"]
    ].tolist():
        task = profile.tasks[task_number]
        process = first[task.tgid if task.tgid >= 0 else -2 - task.number]
        kernel_name = profile.names[function]
        total = sums[process][syscall_name(kernel_name) or bare(kernel_name)]
        for index, value in enumerate((calls, elapsed, instructions)):
            total[index] += value
    ordered = sorted(sums, key=lambda process: (profile.tasks[process].started_ns, process))
    return tuple(_process(profile, process, sums[process]) for process in ordered)


def _process(profile: Profile, process: int, sums: dict[str, list[int]]) -> ProcessSyscalls:
    rows = [SyscallTotal(name, *totals) for name, totals in sums.items()]
    rows.sort(key=lambda row: (-row.elapsed_ns, -row.calls, row.name))
    calls, elapsed, instructions = (sum(totals[index] for totals in sums.values()) for index in range(3))
    task = profile.tasks[process]
    return ProcessSyscalls(process, task.pid, task.name, calls, elapsed, instructions, tuple(rows))
