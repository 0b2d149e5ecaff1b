"""Cuts the life of every process into stretches with one owner: the package whose file it executed there.

A script belongs to its own package, not to that of its interpreter; `sh -c` to whoever ran it. Before its first program
a process runs what its maker runs. The stretches of all tasks and the stages before the kernel are the whole boot.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from bootlab.findings.audit.process_costs import TaskCost, TaskCosts
from bootlab.findings.cost_tree import CostTree, Mask
from bootlab.findings.packages.file_owners import FileOwners
from bootlab.findings.packages.owner import IDLE, KERNEL, UNKNOWN, Owner, OwnerKind
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import EventKind, Integers, Space
from bootlab.profile.tables.processes import Process, task_roots
from bootlab.profile.waits.idle_blame import IdleStretch
from bootlab.profile.waits.schedule import covered

_SHELLS: Final = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh", "busybox"})
_INTERPRETERS: Final = ("perl", "python", "ruby", "lua", "tclsh", "awk", "gawk", "mawk")
_UNPACK: Final = ("unpack_to_rootfs",)


@dataclass(frozen=True, slots=True)
class OwnedStretch:
    """A part of a task's life. `path`: the program or script; empty before the first one. `early`: in the initramfs."""

    task: int
    start_ns: int
    owner: Owner
    path: str
    early: bool
    cost: TaskCost


@dataclass(frozen=True)
class OwnedTime:
    """All time of a boot up to ready, each ns in one place. `unpacking`: of the initramfs, by whose its files are."""

    stretches: Sequence[OwnedStretch]
    others: Mapping[Owner, TaskCost]
    """What is in no task: stages before the kernel, idle time that nobody waited in."""
    unpacking: Mapping[Owner, TaskCost]
    total_ns: int

    @property
    def sum_ns(self) -> int:
        """Return the sum of all parts, which is `total_ns` where nothing is lost."""
        parts = (*(one.cost for one in self.stretches), *self.others.values(), *self.unpacking.values())
        return sum(one.ns for one in parts)


def own_time(costs: TaskCosts, tree: CostTree, idles: Sequence[IdleStretch], owners: FileOwners) -> OwnedTime:
    """Return whose the time of a boot was. `tree`, `idles`: of the same profile as `costs`."""
    unpacks = tree.below(_UNPACK) & bool(owners.archive_files)
    executed, idle, others = _by_task(tree, ~unpacks, np.where(unpacks, 0, _unblamed(tree, idles, tree.total_ns)))
    by_task: dict[int, list[IdleStretch]] = defaultdict(list)
    for stretch in idles:
        if stretch.wait is not None:
            by_task[stretch.wait.task].append(stretch)
    lives = _lives(costs, tree.profile, owners)
    found: list[OwnedStretch] = []
    for task in sorted({*executed, *idle}):
        life = lives.get(task) or [_Turn(0, KERNEL if _is_kernels(costs, task) else UNKNOWN, "", early=False)]
        edges = np.array([one.start_ns for one in life[1:]] + [max(costs.until_ns, life[-1].start_ns)], dtype=np.int64)
        ran = np.diff(covered(*costs.running(task), edges), prepend=0)
        waited = [
            sum(max(min(one.end_ns, high) - max(one.start_ns, low), 0) for one in by_task[task])
            for low, high in zip([0, *edges.tolist()[:-1]], edges.tolist(), strict=True)
        ]
        shares = zip(life, _split(executed.get(task, 0), ran.tolist()), _split(idle.get(task, 0), waited), strict=True)
        found += [
            OwnedStretch(task, one.start_ns, one.owner, one.path, one.early, TaskCost(*cost)) for one, *cost in shares
        ]
    return OwnedTime(found, others, _unpacking(tree, unpacks, owners), tree.total_ns)


@dataclass(frozen=True, slots=True)
class _Turn:
    start_ns: int
    owner: Owner
    path: str
    early: bool


def _is_kernels(costs: TaskCosts, task: int) -> bool:
    one = costs.processes.get(task)
    return one is None or (not one.programs and one.tgid in (-1, 0, one.pid) and not costs.makers(task))


def _by_task(
    tree: CostTree, counted: Mask, unblamed: Integers
) -> tuple[dict[int, int], dict[int, int], dict[Owner, TaskCost]]:
    """Return ns executed and ns idle of every task, and what is in none, of the nodes that are `counted`."""
    profile = tree.profile
    roots = task_roots(profile)
    executed = np.where(counted, tree.cost_ns - tree.idle_ns, 0)
    idle = np.where(counted, tree.idle_ns, 0) - unblamed
    others: dict[Owner, TaskCost] = {}
    if (nobodys := int(unblamed.sum())) > 0:
        others[IDLE] = TaskCost(0, nobodys)
    top = profile.shape.top
    for root in np.unique(top[roots < 0]).tolist():
        mine = (top == root) & (roots < 0)
        cost = TaskCost(int(executed[mine].sum()), int(idle[mine].sum()))
        if cost.ns:
            owner = _outside(tree, root)
            others[owner] = others.get(owner, TaskCost()) + cost
    return _sums(roots, executed), _sums(roots, idle), others


def _sums(roots: Integers, values: Integers) -> dict[int, int]:
    totals = np.zeros(int(roots.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(totals, roots[roots >= 0], values[roots >= 0])
    return {task: int(total) for task, total in enumerate(totals.tolist()) if total}


def _unblamed(tree: CostTree, idles: Sequence[IdleStretch], end_ns: int) -> Integers:
    """Return by node the idle time in which nobody waited for anything, as firmware may have it."""
    found = np.zeros(len(tree.function), dtype=np.int64)
    for stretch in idles:
        if stretch.wait is None:
            found[stretch.node] += max(min(stretch.end_ns, end_ns) - stretch.start_ns, 0)
    return found


def _outside(tree: CostTree, root: int) -> Owner:
    function = int(tree.function[root])
    name = tree.profile.names[function] if root else ""
    if root and tree.profile.spaces[function] == Space.STAGE:
        return Owner(OwnerKind.STAGE, name.strip("[]"))
    return UNKNOWN


def _lives(costs: TaskCosts, profile: Profile, owners: FileOwners) -> dict[int, list[_Turn]]:
    maps: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for event in profile.events:
        if event.kind == EventKind.MAP:
            maps[event.task].append((event.t_ns, event.text.partition(" ")[2]))
    first = next((one for one in costs.processes.values() if one.pid == 1), None)
    switched = owners.switched_ns(first)
    lives: dict[int, list[_Turn]] = {}

    def at(task: int, t_ns: int) -> _Turn:
        life = lives.get(task)
        if not life:
            return _Turn(0, KERNEL, "", early=t_ns < switched)
        return next((one for one in reversed(life) if one.start_ns <= t_ns), life[0])

    # Makers come before what they make.
    for task, one in sorted(costs.processes.items(), key=lambda item: (item[1].started_ns, item[0])):
        makers = costs.makers(task)
        maker = at(makers[0].task, one.started_ns) if makers else at(-1, one.started_ns)
        life = [_Turn(0, maker.owner, "", maker.early)]
        for t_ns, path in one.programs:
            early = t_ns < switched
            owner, ran = _owner(owners, path, _words_at(one, t_ns), life[-1] if life[-1].path else maker, early=early)
            if owner == UNKNOWN and (real := next((file for t, file in maps.get(task, ()) if t >= t_ns), "")):
                # A link that was made as the system booted, or a program given by its descriptor.
                owner, ran = owners.owner(real, early=early), real
                owner = Owner(OwnerKind.UNPACKAGED, real) if owner == UNKNOWN else owner
            life.append(_Turn(t_ns, owner, ran, early))
        lives[task] = life
    return lives


def _words_at(one: Process, t_ns: int) -> Sequence[str]:
    """Return the command line of the program that was executed at a time, which is told soon after."""
    later = next((t for t, _ in one.programs if t > t_ns), None)
    return next((words for t, words in one.commands if t >= t_ns and (later is None or t < later)), ())


def _owner(owners: FileOwners, path: str, words: Sequence[str], before: _Turn, *, early: bool) -> tuple[Owner, str]:
    """Return whose a program is, and the file that says so. `before`: what the process, or its maker, ran before."""
    name = PurePosixPath(path).name
    shell = name in _SHELLS
    if shell or name.startswith(_INTERPRETERS):
        for word in words[1:]:
            if _is_command(word, shell=shell):
                return before.owner, before.path or path
            if not word.startswith("-"):
                if word.startswith("/") and owners.has(word, early=early):
                    return owners.owner(word, early=early), word
                break
    return owners.owner(path, early=early), path


def _is_command(word: str, *, shell: bool) -> bool:
    # `sh -ec COMMAND`, `perl -e COMMAND`, `python3 -c COMMAND`.
    letters = "c" if shell else "ce"
    return word.startswith("-") and not word.startswith("--") and any(one in word for one in letters)


def _unpacking(tree: CostTree, unpacks: Mask, owners: FileOwners) -> dict[Owner, TaskCost]:
    sizes = {owner: sum(one.size for one in files) for owner, files in owners.archive_files.items()}
    executed = _split(int((tree.cost_ns - tree.idle_ns)[unpacks].sum()), list(sizes.values()))
    idle = _split(int(tree.idle_ns[unpacks].sum()), list(sizes.values()))
    found = {owner: TaskCost(*cost) for owner, *cost in zip(sizes, executed, idle, strict=True)}
    return {owner: cost for owner, cost in found.items() if cost.ns}


def _split(whole: int, weights: Sequence[int]) -> list[int]:
    """Return `whole` in parts by weight that add up to it; all of it in the last where there is no weight."""
    total = sum(weights)
    if not weights or total <= 0:
        return [0] * (len(weights) - 1) + [whole] if weights else []
    ends, so_far = [], 0
    for weight in weights:
        so_far += weight
        ends.append(whole * so_far // total)
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]
