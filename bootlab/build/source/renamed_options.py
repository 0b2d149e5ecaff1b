"""Options of the Linux kernel that got another name: data with release and commit, and what is asked by an old name.

kconfig passes over a name that it does not know without a word, so a configuration of an older kernel loses what it
says by such a name. Here a rename keeps the option's meaning, turned round where it says so; what was split, merged or
removed is none. scripts/renamed-options checks the list against source trees, and finds what it lacks.
"""

import json
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LIST = Path(__file__).with_name("renamed_options.json")
_OPPOSITE = {"y": "n", "n": "y"}


@dataclass(frozen=True, slots=True)
class Renamed:
    """One option that got another name. Stable kernels may have taken the rename over into older releases."""

    old: str
    new: str
    linux: str
    """The release that renamed it, as in `6.9`."""
    commit: str
    inverted: bool = False
    """What was on by the old name is off by the new one."""

    def renamed_value(self, value: str) -> str:
        """Return what a value of one name is by the other."""
        return _OPPOSITE.get(value, value) if self.inverted else value


@cache
def load_renames() -> Mapping[str, Renamed]:
    """Return old name -> its rename, in the order of the list."""
    rows = json.loads(LIST.read_text(encoding="utf-8"))["renamed"]
    return {row["old"]: Renamed(**row) for row in rows}


def find_new_name(option: str, known: Container[str]) -> Renamed | None:
    """Return the rename of an option to a name that is `known`, over several in a row; None where there is none."""
    found, inverted, name = load_renames().get(option), False, option
    first = found
    while found is not None and first is not None:
        inverted, name = inverted != found.inverted, found.new
        if name in known:
            return Renamed(option, name, first.linux, first.commit, inverted)
        found = load_renames().get(name)
    return None


def later_names(option: str) -> tuple[str, ...]:
    """Return the names by which later kernels know an option, the next one first."""
    found, names = load_renames().get(option), list[str]()
    while found is not None:
        names.append(found.new)
        found = load_renames().get(found.new)
    return tuple(names)


def earlier_names(option: str) -> tuple[Renamed, ...]:
    """Return the renames by which older kernels know an option, each from that name to this one, newest first."""
    found = list[Renamed]()
    waiting = [(option, False)]
    while waiting:
        name, inverted = waiting.pop(0)
        for one in load_renames().values():
            if one.new == name:
                found.append(Renamed(one.old, option, one.linux, one.commit, inverted != one.inverted))
                waiting.append((one.old, inverted != one.inverted))
    return tuple(found)
