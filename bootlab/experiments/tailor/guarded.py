"""What a record ran of the code that an option takes out of files which stay: what stands under `#if CONFIG_X`."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.kernel.ifdefs import guarded_code
from bootlab.experiments.tailor.use import FunctionUse, KernelUse, Use


@dataclass(slots=True)
class Guarded:
    """What stands under one option, or under `!X`: that one is off, inside of C files, and what ran of it."""

    functions: int = 0
    """How many there are in files that are linked, whether they ran or not."""
    instructions: int = 0
    job: int = 0
    """Of them, those of functions that ran in the job."""
    example: str = ""
    job_example: str = ""
    names: frozenset[tuple[int, str]] = frozenset()
    """(index of its object, name) of each function."""
    calls: frozenset[tuple[int, str, str]] = frozenset()
    """(index of the object, function, what it calls) of each call that the function makes only then."""


def find_guarded(use: KernelUse, tree: Path) -> Mapping[str, Guarded]:
    """Return option, or `!option` -> what ran of what stands under it. `tree`: the kernel's source."""
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
