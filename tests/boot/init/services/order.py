"""Which services the unit files order behind which, through targets and others too, as systemd.unit(5) has it."""

from collections.abc import Mapping, Sequence

from tests.boot.init.scripts.insserv import reachable
from tests.boot.init.services.records import Start
from tests.boot.init.services.roots import Services, Unit


def ordered_pairs(services: Services) -> set[tuple[str, str]]:
    """Return the pairs (first, second) of services of which the second begins when the first has done its beginning.

    The first is one of which that can be seen: its process was there, and more than forked, before it counted as up.
    """
    names = _names(services)
    waits: dict[str, list[str]] = {}
    for name, unit in (*services.units.items(), *services.others.items()):
        waits.setdefault(name, [])
        for other in unit.words("After"):
            waits[name].append(names.get(other, other))
        for other in unit.words("Before"):
            waits.setdefault(names.get(other, other), []).append(name)
        if name in services.units and unit.last("DefaultDependencies", "yes") not in ("no", "false"):
            waits[name] += ["sysinit.target", "basic.target"]
    waits.setdefault("basic.target", []).append("sysinit.target")
    for one in waits:
        waits[one] = list(dict.fromkeys(waits[one]))
    before = reachable(waits)
    return {
        (first, second)
        for second in services.units
        for first in before[second]
        if first in services.units and services.units[first].type in ("oneshot", "forking", "notify", "notify-reload")
    } - {(name, name) for name in services.units}


def _names(services: Services) -> dict[str, str]:
    return {alias: name for name, unit in services.units.items() for alias in unit.words("Alias")}


def places(starts: Sequence[Start], units: Mapping[str, Unit]) -> dict[str, tuple[int, int]]:
    """Return service -> places of its first and its last command up to the main one, among all that were started."""
    found: dict[str, tuple[int, int]] = {}
    left = {
        name: len(unit.keys.get("ExecStartPre", ())) + len(unit.keys.get("ExecStart", ()))
        for name, unit in units.items()
    }
    for start in starts:
        name = f"{start.unit}.service"
        if start.stops or left.get(name, 0) == 0:
            continue
        left[name] -= 1
        found[name] = (found.get(name, (start.place, 0))[0], start.place)
    return found


def broken(pairs: set[tuple[str, str]], at: Mapping[str, tuple[int, int]]) -> set[tuple[str, str]]:
    """Return the pairs that were started the other way round."""
    return {(first, second) for first, second in pairs if first in at and second in at and at[first][1] > at[second][0]}
