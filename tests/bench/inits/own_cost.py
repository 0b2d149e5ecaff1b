"""What each program of a profiled boot executed up to a mark, from the profile's exact account of who ran when."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.tables.processes import Process, State, find_processes

_KERNEL: Final = "[kernel]"


@dataclass(frozen=True, slots=True)
class Share:
    """What one program executed: `pid_1` as process 1, `instructions` in all its processes together."""

    program: str
    instructions: int
    pid_1: int
    processes: int


@dataclass(frozen=True, slots=True)
class Shares:
    """What every program executed; `init_ns`: when process 1 became the init that is on the root file system."""

    init_ns: int
    programs: list[Share]


def by_program(profile: Profile, until_ns: int) -> Shares:
    """Return what each program executed before `until_ns`, most first; `[kernel]` is no process's, boot included.

    Of one vCPU at a ns an instruction, where a ns of running is an instruction. A process that was forked and has not
    executed anything is of its parent's program.
    """
    found = find_processes(profile)
    known = {one.task: one for one in found.processes}
    shares: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    members: dict[str, set[int]] = defaultdict(set)
    for one in found.processes:
        for since_ns, until, program in _lives(one, known, until_ns):
            states = found.states(one.task)
            running = states[states["state"] == State.RUNNING]
            ran = (running["end_ns"].clip(since_ns, until) - running["start_ns"].clip(since_ns, until)).sum()
            shares[program][0] += int(ran)
            shares[program][1] += int(ran) if one.tgid == 1 else 0
            members[program].add(one.task)
    idle_ns = profile.idles["end_ns"].clip(0, until_ns) - profile.idles["start_ns"].clip(0, until_ns)
    shares[_KERNEL][0] += until_ns - int(idle_ns.sum()) - sum(one for one, _ in shares.values())
    rows = [Share(name, one, first, len(members[name])) for name, (one, first) in shares.items()]
    (first,) = (one for one in found.processes if one.pid == 1)
    # Busybox runs /init and switch_root without executing anything else.
    init_ns = next(since for since, program in first.programs if "busybox" not in program and program != "/init")
    return Shares(init_ns, sorted(rows, key=lambda row: -row.instructions))


def _lives(one: Process, known: Mapping[int, Process], until_ns: int) -> list[tuple[int, int, str]]:
    """Return (from, to, program) of what a process was, one after the other."""
    begins = [(one.started_ns, _program_at(one.parent, one.started_ns, known)), *one.programs]
    ends = [since for since, _ in begins[1:]] + [until_ns]
    return [
        (min(since, until_ns), min(end, until_ns), program) for (since, program), end in zip(begins, ends, strict=True)
    ]


def _program_at(task: int | None, t_ns: int, known: Mapping[int, Process]) -> str:
    if task is None or task not in known:
        return _KERNEL
    one = known[task]
    ran = [program for since, program in one.programs if since <= t_ns]
    return ran[-1] if ran else _program_at(one.parent, one.started_ns, known)
