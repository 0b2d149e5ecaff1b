"""The boots of all inits as one page of Markdown: what docs/cases/inits.md shows."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median, median_low
from typing import Any, Final

from bootlab.errors import InputError
from bootlab.experiments.verdict import virtual_verdict
from bootlab.measure.record import BootRecord
from bootlab.timeline import marks as m
from tests.bench.inits.own_cost import Shares

ALL_READY: Final = "all-ready"
_FEWEST: Final = 3
"""Seeds on each side of a verdict, besides null changes."""
_PROCESS: Final = re.compile(r"^bootlab: process (\d+) (\S+) rss (\d+) pss (\d+) KiB", re.MULTILINE)
_BINARY: Final = re.compile(r"^bootlab: (?:program|library) (\S+) (\d+) bytes", re.MULTILINE)
_SCRIPTS: Final = r"/etc/.*|.*/(?:dash|bash|sh|run-parts)"
_OURS: Final = r"/(?:usr/)?s?bin/(?:init|bootlab-init|bootlab-ctl)"

OWN: Final = {
    "systemd": r"/(?:usr/)?(?:lib/systemd/(?!systemd-(?:udevd|logind)).*|s?bin/(?:init|system.*|journalctl))",
    "sysvinit": r"/(?:usr/)?(?:s?bin/(?:init|telinit|startpar)|etc/init\.d/rcS?)",
    "openrc": r"/(?:usr/)?(?:s?bin/(?:init|openrc.*|rc-.*|start-stop-daemon)|lib/rc/.*|etc/init\.d/rcS?)",
    "runit": r"/(?:usr/)?(?:s?bin/(?:init|runit.*|runsv.*|sv|chpst|svlogd|update-service)|lib/runit/.*|etc/runit/.*)",
    "finit": r"/(?:usr/)?(?:s?bin/(?:init|finit)|lib/finit/.*)",
    "bootlab": _OURS,
    "units": _OURS,
}
"""Programs of the init system itself, by path; the rest is what they start."""


@dataclass(frozen=True, slots=True)
class Row:
    """One init: its exact boots, null changes, what its programs executed, and what it said after all-ready."""

    name: str
    members: list[BootRecord]
    null: list[BootRecord]
    shares: Shares
    console: str
    slow: BootRecord | None
    wall: list[BootRecord]

    def times(self, mark: str, records: Sequence[BootRecord] | None = None) -> list[int]:
        """Return ns to `mark` in each boot of the family, or of `records`."""
        return [record.marks[mark] for record in (self.members if records is None else records)]

    @property
    def pid_1(self) -> int:
        """Instructions of process 1 and of what it forked and never executed anything else, from init on."""
        return sum(share.pid_1 for share in self.shares.programs if re.fullmatch(OWN[self.name], share.program))

    @property
    def own(self) -> int:
        """Instructions of all programs of the init system, process 1 included."""
        return sum(share.instructions for share in self.shares.programs if re.fullmatch(OWN[self.name], share.program))

    @property
    def scripts(self) -> int:
        """Instructions of shells in all other scripts but goal and settled, without the programs that these call."""
        scripts = [one for one in self.shares.programs if re.fullmatch(_SCRIPTS, one.program)]
        return sum(one.instructions for one in scripts if not re.fullmatch(OWN[self.name], one.program))

    @property
    def whole(self) -> int:
        return sum(share.instructions for share in self.shares.programs)

    @property
    def memory(self) -> tuple[int, int, int]:
        """Proportional set size of process 1, of all programs of the init system (KiB), and how many those are."""
        found = [(int(one[1]), one[2], int(one[4])) for one in _PROCESS.finditer(self.console)]
        own = [pss for pid, program, pss in found if pid == 1 or re.fullmatch(OWN[self.name], program)]
        return sum(pss for pid, _, pss in found if pid == 1), sum(own), len(own)

    @property
    def binary(self) -> tuple[int, int]:
        """Bytes of process 1's program, and of it with the libraries that it has mapped."""
        sizes = [int(one[2]) for one in _BINARY.finditer(self.console)]
        if not sizes:
            raise InputError(f"{self.name}: its console does not say how large its program is")
        return sizes[0], sum(sizes)

    def as_json(self) -> dict[str, Any]:
        """Return all that the page is made of."""
        return {
            "init": self.name,
            "boots": [one.run for one in (*self.members, *self.null, *self.wall)],
            "goal_ns": self.times(m.READY),
            "all_ready_ns": self.times(ALL_READY),
            "programs": [asdict(share) for share in self.shares.programs],
            "memory_kib": self.memory,
            "binary_bytes": self.binary,
        }


def page(rows: Sequence[Row], delay_ms: int) -> str:
    """Return the tables; the last row is compared with each of the others."""
    first = rows[0].members[0]
    parts = [
        f"Virtual clock: ms of instructions + idle since power-on, median of seeds "
        f"{', '.join(str(one.seed) for one in rows[0].members)}; CPU model {first.cpu}.",
        _exact(rows),
        "Own cost, 10^6 instructions of the boot with seed 1 up to all-ready; memory after it.",
        _costs(rows),
    ]
    if delay_ms:
        parts += [f"Each request to the disk {delay_ms} ms longer; one exact boot.", _slow(rows)]
    if rows[0].wall:
        turns = len(rows[0].wall)
        parts += [f"Wall clock, multi-threaded TCG, two processors; ms, medians of {turns} boots in turn.", _wall(rows)]
    same = [(name, digest[:12]) for name, digest in first.hashes.items() if name != "rootfs"]
    parts.append(", ".join(f"{name} {digest}" for name, digest in same))
    parts.append("; ".join(f"root of {row.name} {row.members[0].hashes['rootfs'][:12]}" for row in rows))
    return "\n\n".join(parts) + "\n"


def _exact(rows: Sequence[Row]) -> str:
    ours = rows[-1]
    lines = []
    for row in rows:
        cells = [row.name, _ms(row.shares.init_ns)]
        for mark in (m.READY, ALL_READY):
            cells += [_ms(median_low(row.times(mark))), _ms(_spread(row, mark)), _against(row, ours, mark)]
        lines.append(cells)
    titles = ["init", "init executed", "goal", "moves by", "ours", "all ready", "moves by", "ours"]
    return _table(titles, lines)


def _against(row: Row, ours: Row, mark: str) -> str:
    if row is ours:
        return ""
    null = [*row.times(mark), *row.times(mark, row.null)]
    ratio = median_low(row.times(mark)) / median_low(ours.times(mark))
    theirs_ns, ours_ns = (median_low(one.times(mark)) - one.shares.init_ns for one in (row, ours))
    words = f"{ratio:.2f} x ({theirs_ns / ours_ns:.2f} x from init on)"
    if len(row.members) < _FEWEST or not row.null:
        return words
    return f"{words}, {virtual_verdict(null, row.times(mark), ours.times(mark)).verdict.value}"


def _spread(row: Row, mark: str) -> int:
    every = [*row.times(mark), *row.times(mark, row.null)]
    return max(every) - min(every)


def _costs(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        one, all_kib, count = row.memory
        program, mapped = row.binary
        lines.append(
            [
                row.name,
                _millions(row.pid_1),
                _millions(row.own),
                f"{row.own / row.whole:.2%}",
                _millions(row.scripts),
                _millions(row.whole),
                f"{one:,} KiB",
                f"{all_kib:,} KiB in {count}",
                f"{program:,}",
                f"{mapped:,}",
            ]
        )
    titles = ["init", "process 1", "with its helpers", "of the boot", "shells in other scripts", "whole boot"]
    titles += ["memory of process 1 (PSS)", "of init's processes", "program, bytes", "with libraries"]
    return _table(titles, lines)


def _slow(rows: Sequence[Row]) -> str:
    return _table(
        ["init", "goal", "all ready"],
        [[row.name, _ms(row.slow.marks[m.READY]), _ms(row.slow.marks[ALL_READY])] for row in rows if row.slow],
    )


def _wall(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        cells = [row.name]
        for mark in (m.READY, ALL_READY):
            times = row.times(mark, row.wall)
            cells += [_ms(round(median(times))), f"{_ms(min(times))} to {_ms(max(times))}"]
        lines.append(cells)
    return _table(["init", "goal", "from, to", "all ready", "from, to"], lines)


def _table(titles: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    ruler = ["---", *("---:" for _ in titles[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in (titles, ruler, *lines))


def _ms(time_ns: int) -> str:
    return f"{time_ns / 1e6:,.1f}"


def _millions(instructions: int) -> str:
    return f"{instructions / 1e6:,.1f}"
