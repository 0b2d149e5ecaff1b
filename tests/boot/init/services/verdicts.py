"""What a service came to beside systemd: equal, equal but for what is stated, refused, or started by one alone."""

from collections.abc import Mapping, Sequence

from bootlab.build.units.plan import InitPlan
from tests.boot.init.services.records import Start, by_unit, differences
from tests.boot.init.services.roots import Unit

STATED: Mapping[str, str] = {
    "descriptors fd 1": "standard output is a pipe to PID 1 and no journal",
    "descriptors fd 2": "standard error is a pipe to PID 1 and no journal",
    "descriptors fd": "a socket file that is left out, and said so",
    "environment LISTEN_": "a socket file that is left out, and said so",
    "environment NOTIFY_SOCKET": "NotifyAccess= is ignored: Type=notify alone has it, and all of its commands",
    "environment SYSTEMD_NSS_DYNAMIC_BYPASS": "between systemd and its bus alone",
    "environment TERM": "of a service that writes to the console",
    "environment SHELL": "User=root is looked up in passwd",
    "environment PIDFILE": "PIDFile=/var/run/... is not rewritten as /run/...",
    "environment CONFIGURATION_DIRECTORY": "ConfigurationDirectory= is ignored, and said so",
    "environment LOGS_DIRECTORY": "LogsDirectory= is ignored, and said so",
    "environment STATE_DIRECTORY": "StateDirectory= is ignored, and said so",
    "environment CACHE_DIRECTORY": "CacheDirectory= is ignored, and said so",
    "capabilities": "a sandbox (Private...=, Protect...=) is ignored, and said so",
    "seccomp": "a sandbox (SystemCall...=, Restrict...=, Protect...=) is ignored, and said so",
    "no-new-privileges": "a sandbox is ignored, and said so",
    "ioprio": "IOScheduling...= is ignored, and said so",
    "scheduler": "CPUScheduling...= is ignored, and said so",
    "groups": "a command behind ! has no further groups",
    "environment MAINPID": "of a daemon that forks and names no pidfile, systemd guesses the main process",
    "limits": "PermissionsStartOnly= is ignored, and said so",
}
"""What is known to differ, by the beginning of its name -> why."""

_SANDBOX = ("Private", "Protect", "Restrict", "SystemCall", "MemoryDeny", "LockPersonality")
_NEEDS = {
    "capabilities": _SANDBOX,
    "seccomp": _SANDBOX,
    "no-new-privileges": _SANDBOX,
    "limits": ("PermissionsStartOnly",),
}
"""Facts that may differ where the unit file has such keys, and nowhere else."""


def reason(fact: str, unit: Unit | None) -> str | None:
    """Return why this fact may differ in this service; None: it must not."""
    found = max((name for name in STATED if fact.startswith(name)), key=len, default=None)
    if found is None:
        return None
    keys = _NEEDS.get(found)
    if keys is not None and unit is not None and not any(key.startswith(keys) for key in unit.keys):
        return None
    return STATED[found]


def pairs(theirs: Sequence[Start], ours: Sequence[Start]) -> list[tuple[Start, Start]]:
    """Return the programs that both started, by their words; what was started again counts once."""
    left, found = list(ours), []
    seen = set[tuple[str, ...]]()
    for start in theirs:
        other = next((one for one in left if one.argv == start.argv), None)
        if other is not None and start.argv not in seen:
            seen.add(start.argv)
            found.append((start, other))
    return found


def verdicts(
    both: tuple[Sequence[Start], Sequence[Start]], units: Mapping[str, Unit], plan: InitPlan
) -> dict[str, tuple[str, list[str]]]:
    """Return service -> verdict and its details. "different": something differs that nobody has stated."""
    theirs, ours = by_unit(both[0]), by_unit(both[1])
    broken = {unit.name for unit in plan.units if unit.broken}
    found: dict[str, tuple[str, list[str]]] = {}
    for service, unit in sorted(units.items()):
        name = service.removesuffix(".service")
        if name in broken:
            found[name] = ("refused" if name not in ours else "different", [])
        elif name not in theirs or name not in ours:
            who = "neither" if name not in theirs and name not in ours else "systemd" if name in theirs else "ours"
            found[name] = (f"started by {who}", [])
        else:
            found[name] = _compare(theirs[name], ours[name], unit)
    return found


def _compare(theirs: Sequence[Start], ours: Sequence[Start], unit: Unit) -> tuple[str, list[str]]:
    matched = pairs(theirs, ours)
    facts = {fact: values for one, other in matched for fact, values in differences(one, other).items()}
    unknown = [f"{fact}: {values}" for fact, values in facts.items() if reason(fact, unit) is None]
    if unknown or not matched:
        return "different", unknown or ["no command in common"]
    stated = sorted(fact for fact in facts if not fact.startswith(("descriptors fd 1", "descriptors fd 2")))
    return ("equal but for what is stated" if stated else "equal"), stated
