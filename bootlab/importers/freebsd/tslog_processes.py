"""TSLOG's table of processes: which process began and ended when, below which, under which name. Times are cycles."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bootlab.importers.freebsd.tslog_records import TslogProcess
from bootlab.timeline.stack_tree import StackTree

_INIT: Final = 1


@dataclass(frozen=True, slots=True)
class Life:
    """One process from fork to exit; `parent` is an index into the same list, -1 for none. It ends with its parent."""

    process: TslogProcess
    name: str
    parent: int
    start: int
    end: int


def read_lives(processes: Iterable[TslogProcess], *, user_start: int | None, end: int) -> list[Life]:
    """Return the processes of programs, earliest first. `user_start`: when init began to run in user space, if known.

    A process that still runs, exit 0 in the table, ends at `end`. The kernel's own processes, which have neither
    program nor any file they looked up, are left out. A parent is one that was forked before.
    """
    known: dict[int, int] = {}
    lives: list[Life] = []
    for process in sorted(processes, key=lambda one: one.forked):
        if process.pid in known or (process.parent == 0 and not process.program and not process.looked):
            continue
        parent = known.get(process.parent, -1)
        above = lives[parent] if parent >= 0 else None
        name = process.program or process.looked or (above.name if above is not None else f"pid {process.pid}")
        last = process.exited if process.exited >= process.forked else end
        if above is not None:
            last = min(last, above.end)
        known[process.pid] = len(lives)
        lives.append(Life(process, name, parent, process.forked, max(last, process.forked)))
    return [_in_user_space(life, lives, user_start) for life in lives]


def _in_user_space(life: Life, lives: Sequence[Life], user_start: int | None) -> Life:
    # init is forked long before the kernel lets it run.
    if life.process.pid != _INIT:
        return life
    children = [other.start for other in lives if other.process.parent == _INIT]
    start = user_start if user_start is not None else min(children, default=life.start)
    return Life(life.process, life.name, life.parent, min(max(start, life.start), life.end), life.end)


def log_reader(lives: Sequence[Life], end: int) -> Life | None:
    """Return the `sysctl` that wrote the table down, where it took long enough to be seen in it; else None.

    100,000 rows over a serial console take seconds, and are no part of the boot.
    """
    for life in lives:
        if life.name.endswith("sysctl") and 2 * (life.end - life.start) > end - lives[0].start:
            return life
    return None


def add_lives(lives: Sequence[Life], tree: StackTree, outermost: str, until: int) -> None:
    """Add processes as stacks below the frame `outermost`, as far as they lived before `until`.

    A process's own time is what no child of it lived through. Children beside each other count each for itself.
    """
    lives = [replace(life, start=min(life.start, until), end=min(life.end, until)) for life in lives]
    children: dict[int, list[Life]] = {}
    nodes: list[int] = []
    root = tree.below(0, outermost)
    for life in lives:
        children.setdefault(life.parent, []).append(life)
        nodes.append(tree.below(nodes[life.parent] if life.parent >= 0 else root, life.name))
    for index, life in enumerate(lives):
        if life.start < until:
            tree.charge(nodes[index], life.end - life.start - _covered(life, children.get(index, [])))
            tree.enter(nodes[index], 1)


def _covered(life: Life, children: list[Life]) -> int:
    # Children are sorted by their start.
    covered, at = 0, life.start
    for child in children:
        start, end = max(child.start, at), min(child.end, life.end)
        if end > start:
            covered += end - start
            at = end
    return covered
