"""What programs said of how they were started, and in what two of these accounts differ."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_CODED = re.compile(r"\\x([0-9a-f]{2})")
_STATUS = {
    "user": ("Uid", "Gid"),
    "groups": ("Groups",),
    "umask": ("Umask",),
    "capabilities": ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"),
    "no-new-privileges": ("NoNewPrivs",),
    "seccomp": ("Seccomp",),
    "signals": ("SigBlk", "SigIgn", "SigCgt"),
}
_PLAIN = ("cwd", "nice", "oom", "ioprio", "scheduler", "session")
_OWN_NUMBERS = {"LISTEN_PID", "WATCHDOG_PID", "MAINPID", "NOTIFY_SOCKET"}
"""Variables that are there in both, with values that can only differ."""
OF_SYSTEMD = {"INVOCATION_ID", "SYSTEMD_EXEC_PID", "JOURNAL_STREAM"}
"""Variables that name a thing of systemd's, which is not there."""


@dataclass(slots=True)
class Start:
    """One program that was started. `place`: among all; `said`: key -> lines."""

    place: int
    stops: bool
    unit: str
    what: str
    said: dict[str, list[str]] = field(default_factory=dict)

    @property
    def argv(self) -> tuple[str, ...]:
        return tuple(self.said.get("arg", ()))

    def facts(self) -> dict[str, object]:
        """Return what is compared, by its name."""
        status = {line.partition(":")[0]: line.partition(":")[2].split() for line in self.said.get("status", ())}
        found: dict[str, object] = {"argv": list(self.argv), "environment": self._environment()}
        found |= {name: {key: status.get(key) for key in keys} for name, keys in _STATUS.items()}
        found |= {name: self.said.get(name) for name in _PLAIN}
        limits = [re.split(r"\s{2,}", line.strip()) for line in self.said.get("limit", ())[1:]]
        found["limits"] = {row[0]: row[1:3] for row in limits}
        found["descriptors"] = {key: lines for key, lines in self.said.items() if key.startswith("fd ")}
        # The path is each one's own; that it is the unit's, and no other's, is the same.
        path = next((line for line in self.said.get("cgroup", ()) if line.startswith("0::")), "")
        found["cgroup"] = path.rpartition("/")[2].removesuffix(".service").removesuffix(".unit")
        return found

    def _environment(self) -> dict[str, str]:
        pairs = (line.partition("=") for line in self.said.get("env", ()))
        return {name: "" if name in _OWN_NUMBERS else value for name, _, value in pairs if name not in OF_SYSTEMD}


def parse_records(text: str) -> list[Start]:
    """Return the programs that were started, in their order."""
    starts: list[Start] = []
    for block in re.split(r"^(?=begin |states )", text.replace("\r\n", "\n"), flags=re.M):
        head, *lines = block.split("\n")
        found = re.fullmatch(r"begin (\d+) (start|stop) (\S*) (\S+)", head)
        if found is None:
            continue
        start = Start(int(found[1]), found[2] == "stop", found[3], found[4])
        for line in lines:
            key, _, value = line.partition(" ")
            if key == "fd":
                number, _, value = value.partition(" ")
                key = f"fd {number}"
            if key:
                value = _CODED.sub(lambda code: chr(int(code[1], 16)), value)
                start.said.setdefault(key, []).append(value.replace("\t", " ") if key == "cwd" else value)
        starts.append(start)
    return starts


def told_states(text: str) -> str:
    """Return what process 1 said of its units."""
    found = re.search(r"^states \S+\r?\n(.*?)^states end", text, re.M | re.S)
    return found[1].replace("\r", "") if found is not None else ""


def differences(theirs: Start, ours: Start) -> dict[str, tuple[object, object]]:
    """Return name of a fact -> both values, where they differ; of facts with parts only the parts that do."""
    found: dict[str, tuple[object, object]] = {}
    mine = ours.facts()
    for name, value in theirs.facts().items():
        other = mine[name]
        if value == other:
            continue
        if isinstance(value, Mapping) and isinstance(other, Mapping):
            keys = [key for key in value.keys() | other.keys() if value.get(key) != other.get(key)]
            for key in sorted(keys, key=str):
                found[f"{name} {key}"] = (value.get(key), other.get(key))
        else:
            found[name] = (value, other)
    return found


def by_unit(starts: Sequence[Start]) -> dict[str, list[Start]]:
    """Return unit -> its programs up to the end, in their order."""
    found: dict[str, list[Start]] = {}
    for start in starts:
        if not start.stops:
            found.setdefault(start.unit, []).append(start)
    return found
