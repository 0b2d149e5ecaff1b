"""Finds what a boot ran of the code under `#if CONFIG_X`: an option that goes takes it out of files that stay."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.kernel.ifdefs import guarded_code
from bootlab.experiments.tailor.kernel_use import FunctionUse, KernelUse, Use


@dataclass(slots=True)
class Guarded:
    """Code in C files that is compiled only with one option on (or, for `!X`, off), and how much of it ran."""

    functions: int = 0
    """Number of such functions in linked files, whether they ran or not."""
    instructions: int = 0
    job: int = 0
    """Those of these instructions that functions executed in the job."""
    example: str = ""
    job_example: str = ""
    names: frozenset[tuple[int, str]] = frozenset()
    """(index of its object, name) of each function."""
    calls: frozenset[tuple[int, str, str]] = frozenset()
    """(index of the object, function, called function) of each call that only this option compiles in."""


def find_guarded(use: KernelUse, tree: Path) -> Mapping[str, Guarded]:
    """Return for each option, or `!option`, the code that stands under it and what ran. `tree`: the kernel's source."""
    ran = defaultdict[int, dict[str, FunctionUse]](dict)
    for one in use.functions:
        # What the compiler split off belongs to the function it was: `name.constprop.0`, `name.cold`.
        ran[one.index].setdefault(one.name.split(".")[0], one)
    found = defaultdict[str, Guarded](Guarded)
    names = defaultdict[str, set[tuple[int, str]]](set)
    calls = defaultdict[str, set[tuple[int, str, str]]](set)
    for index, part in enumerate(use.objects.objects):
        if part.source is None or not part.source.endswith(".c") or not (tree / part.source).is_file():
            continue
        code = guarded_code((tree / part.source).read_text(encoding="utf-8", errors="replace"))
        for name, guards in code.functions.items():
            for option in guards:
                _count(found[option], ran[index].get(name), part.source)
                names[option].add((index, name))
        for (caller, callee), guards in code.calls.items():
            for option in guards if caller in ran[index] else ():
                calls[option].add((index, caller, callee))
    for option in {*names, *calls}:
        found[option].names, found[option].calls = frozenset(names[option]), frozenset(calls[option])
    return found


def _count(guarded: Guarded, ran: FunctionUse | None, source: str) -> None:
    guarded.functions += 1
    if ran is None:
        return
    where = f"{ran.name} in {source}"
    guarded.instructions += ran.instructions
    guarded.example = guarded.example or where
    if ran.use is Use.JOB:
        # One instruction is enough to have been needed.
        guarded.job += max(ran.instructions, 1)
        guarded.job_example = guarded.job_example or where
