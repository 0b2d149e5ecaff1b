"""Whom a step belongs to that chance makes longer: the processes of the shortest boot and of the longest, profiled.

A profiled boot is the plain one, so what ran between two moments of its clock is what ran in the step.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from bootlab.experiments.chance import Chance, ChanceProcess
from bootlab.findings.analysis import Analysis
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.tables.processes import Process, task_roots

_SHARE: Final = 0.05
"""A process is named whose time differs by this share of what the step differs by."""
_MOST: Final = 3
_LONGEST: Final = 120


@dataclass(frozen=True, slots=True)
class Ran:
    """For how long processes of one command line ran in a step. `task`: the one that did so longest."""

    ns: int
    task: int


def outermost_seeds(chances: list[Chance]) -> tuple[int, int]:
    """Return the seeds of the shortest and of the longest boot by the chance that differs most."""
    widest = max(chances, key=lambda chance: chance.spread_ns)
    ordered = sorted(widest.took_ns, key=lambda seed: (widest.took_ns[seed], int(seed)))
    return int(ordered[0]), int(ordered[-1])


def with_processes(chance: Chance, profiles: Mapping[int, Analysis]) -> Chance:
    """Return a chance with the processes that it is made of. `profiles`: by seed, of two boots of its life."""
    ran = {}
    for seed, analysis in profiles.items():
        end_ns = chance.ended_ns[str(seed)]
        ran[seed] = ran_between(analysis, end_ns - chance.took_ns[str(seed)], end_ns)
    named = []
    for command, times in differing(ran, chance.spread_ns):
        longest = max(times, key=lambda seed: times[seed])
        function, share = _busiest(profiles[longest].profile, ran[longest][command].task)
        by_seed = {str(seed): ns for seed, ns in times.items()}
        named.append(ChanceProcess(command=command, function=function, share=share, ran_ns=by_seed))
    return chance.model_copy(update={"processes": named})


def ran_between(analysis: Analysis, start_ns: int, end_ns: int) -> dict[str, Ran]:
    """Return what ran between two moments, by command line; kernel threads are left out."""
    found: dict[str, Ran] = {}
    tasks = {process.task: process for process in analysis.processes.processes}
    longest: dict[str, int] = {}
    for row in analysis.processes.chart(start_ns, end_ns, 1, sorted(tasks)).rows:
        (ns,), command = row.running_ns, _command(tasks[row.task], end_ns)
        if ns > 0:
            before = found.get(command, Ran(0, row.task))
            is_longest = ns > longest.get(command, 0)
            longest[command] = max(ns, longest.get(command, 0))
            found[command] = Ran(before.ns + ns, row.task if is_longest else before.task)
    return found


def differing(ran: Mapping[int, Mapping[str, Ran]], spread_ns: int) -> list[tuple[str, dict[int, int]]]:
    """Return the command lines whose time differs between boots, with it by seed, the largest difference first."""
    found = []
    for command in sorted({command for one in ran.values() for command in one}):
        times = {seed: one[command].ns if command in one else 0 for seed, one in ran.items()}
        if max(times.values()) - min(times.values()) >= max(_SHARE * spread_ns, 1):
            found.append((command, times))
    return sorted(found, key=lambda pair: min(pair[1].values()) - max(pair[1].values()))[:_MOST]


def _command(process: Process, end_ns: int) -> str:
    words = next((words for t_ns, words in reversed(process.commands) if t_ns <= end_ns), ())
    return " ".join(word or "''" for word in words)[:_LONGEST] or process.name


def _busiest(profile: Profile, task: int) -> tuple[str, float]:
    """Return the function in which a task executed most, of all that it executed itself, and which part that is."""
    mine = task_roots(profile)[profile.shape.top] == task
    executed = np.zeros(len(profile.nodes), dtype=np.int64)
    for part in profile.slices:
        np.add.at(executed, part.weights["node"], part.weights["instructions"])
    by_function = np.bincount(profile.nodes["function"][mine], weights=executed[mine])
    if not by_function.size or not by_function.max():
        return "", 0.0
    return profile.names[int(by_function.argmax())], float(by_function.max() / by_function.sum())
