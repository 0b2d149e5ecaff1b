"""The boots of all inits as one page of Markdown: what docs/cases/inits.md shows."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median, median_low
from typing import Any, Final

from bootlab.errors import InputError
from bootlab.experiments.family import Family
from bootlab.experiments.verdict import FEWEST_NULLS, FEWEST_SEEDS, Judgement, Times, virtual_verdict
from bootlab.measure.record import BootRecord
from bootlab.measure.statistics.series import spread_ns
from bootlab.report.parts.markdown import prose
from bootlab.timeline import marks as m
from scripts.publishing.boots_table import made_of
from tests.bench.inits.own_cost import Shares
from tests.handed_over import host_words

ALL_READY: Final = "all-ready"
GROUPS: Final = {
    "Debian's own init scripts started by each": ("sysvinit", "openrc", "runit", "bootlab"),
    "Each with units or settings of its own": ("systemd", "systemd-tuned", "finit", "units"),
}
"""What is compared with what: the last of a group with each of the others."""
_PROCESS: Final = re.compile(r"^bootlab: process (\d+) (\S+) rss (\d+) pss (\d+) KiB", re.MULTILINE)
_BINARY: Final = re.compile(r"^bootlab: (?:program|library) (\S+) (\d+) bytes", re.MULTILINE)
_SCRIPTS: Final = r"/etc/.*|.*/(?:dash|bash|sh|run-parts)"
_OURS: Final = r"/(?:usr/)?s?bin/(?:init|bootlab-init|bootlab-ctl)"

_SYSTEMD: Final = r"/(?:usr/)?(?:lib/systemd/(?!systemd-(?:udevd|logind)).*|s?bin/(?:init|system.*|journalctl))"

OWN: Final = {
    "systemd": _SYSTEMD,
    "systemd-tuned": _SYSTEMD,
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
    """One init: its exact boots, what its programs executed, and what it said after all-ready."""

    name: str
    family: Family
    shares: Shares
    console: str
    wall: list[BootRecord]

    def times(self, mark: str, records: Sequence[BootRecord] | None = None) -> list[int]:
        """Return ns to `mark` in each boot of the family, or of `records`."""
        return times(mark, self.family.members if records is None else records)

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
            "boots": [one.run for one in (*self.family.boots, *self.wall)],
            "goal_ns": self.times(m.READY),
            "all_ready_ns": self.times(ALL_READY),
            "programs": [asdict(share) for share in self.shares.programs],
            "memory_kib": self.memory,
            "binary_bytes": self.binary,
        }


def page(rows: Sequence[Row]) -> str:
    """Return the tables, those of the comparisons first."""
    first = rows[0].family.members[0]
    parts = [
        f"Virtual clock: ms of instructions + idle since power-on, median of seeds "
        f"{', '.join(str(one.seed) for one in rows[0].family.members)}; CPU model {first.cpu}.",
        *_exact(rows),
        "Own cost, 10^6 instructions of the boot with seed 1 up to all-ready; memory after it.",
        _costs(rows),
    ]
    if rows[0].wall:
        parts.append(_wall({row.name: row.wall for row in rows}))
    same = [(name, digest[:12]) for name, digest in first.hashes.items() if name != "rootfs"]
    roots = ", ".join(f"{row.name} {row.family.members[0].hashes['rootfs'][:12]}" for row in rows)
    parts.append(prose(f"{', '.join(f'{name} {digest}' for name, digest in same)}; roots: {roots}."))
    return "\n\n".join(parts) + "\n"


def wall_page(boots: Mapping[str, Sequence[BootRecord]]) -> str:
    """Return the table of the boots of each init on the wall clock, and what is to be known of the host."""
    return f"{_wall(boots)}\n\n{made_of([*boots.items()])}\n\n{prose(host_words())}\n"


def disk_page(disks: Mapping[str, Mapping[str, BootRecord]]) -> str:
    """Return the table of one boot of each init from each model of a disk; "" is one that answers at once."""
    models = list(next(iter(disks.values())))
    first = disks[next(iter(disks))][models[0]]
    titles = ["init", *(model or "at once" for model in models)]
    parts = [f"Virtual clock, ms since power-on, one exact boot of each, seed {first.seed}; CPU model {first.cpu}."]
    for said, mark in (("Goal", m.READY), ("All ready", ALL_READY)):
        lines = [[name, *(_ms(boots[model].marks[mark]) for model in models)] for name, boots in disks.items()]
        parts.append(f"{said}:\n\n{_table(titles, lines)}")
    asked = [[name, *(_asked(boots[model]) for model in models)] for name, boots in disks.items()]
    parts.append(f"Asked of the disk up to the goal (reads, MiB, busy ms):\n\n{_table(titles, asked)}")
    same = [f"{name} {digest[:12]}" for name, digest in first.hashes.items() if name != "rootfs"]
    roots = [f"{name} {boots[models[0]].hashes['rootfs'][:12]}" for name, boots in disks.items()]
    parts.append(prose(f"{', '.join(same)}; roots: {', '.join(roots)}."))
    return "\n\n".join(parts) + "\n"


def _asked(record: BootRecord) -> str:
    if not record.disks:
        return ""
    disk = record.disks[0]
    return f"{disk.reads:,}, {disk.read_bytes / 2**20:.1f}, {disk.busy_ns / 1e6:,.0f}"


def _exact(rows: Sequence[Row]) -> Iterator[str]:
    titles = ["init", "init executed", "goal", "moves by", "bootlab", "all ready", "moves by", "bootlab"]
    for title, names in GROUPS.items():
        group = [row for row in rows if row.name in names]
        lines = []
        for row in group:
            cells = [row.name, _ms(row.shares.init_ns)]
            for mark in (m.READY, ALL_READY):
                cells += [_ms(median_low(row.times(mark))), _ms(_spread(row, mark)), _against(row, group[-1], mark)]
            lines.append(cells)
        if lines:
            yield f"{title}:\n\n{_table(titles, lines)}"


def _against(row: Row, ours: Row, mark: str) -> str:
    if row is ours:
        return ""
    ratio = median_low(row.times(mark)) / median_low(ours.times(mark))
    theirs_ns, ours_ns = (median_low(one.times(mark)) - one.shares.init_ns for one in (row, ours))
    words = f"{ratio:.2f} x ({theirs_ns / ours_ns:.2f} x from init on)"
    if not enough(row.family, ours.family):
        return words
    return f"{words}, {judgement_at(mark, row.family, ours.family).verdict.value}"


def judgement_at(mark: str, before: Family, after: Family) -> Judgement:
    """Return what the boots of two families say of the time to a mark."""
    sides = [Times(times(mark, one.members), times(mark, one.null), times(mark, one.fresh)) for one in (before, after)]
    return virtual_verdict(*sides)


def enough(*families: Family) -> bool:
    """Return whether families have the boots without which no verdict is said."""
    return all(len(one.members) >= FEWEST_SEEDS and len(one.null) >= FEWEST_NULLS for one in families)


def wanted_boots(families: Mapping[str, Family]) -> dict[str, int]:
    """Return how many fresh boots which family still takes, for the verdicts on the last of each group."""
    wanted: dict[str, int] = {}
    for names in GROUPS.values():
        *others, ours = [name for name in names if name in families] or [""]
        for name in others:
            sides = families[name], families[ours]
            wants = [judgement_at(mark, *sides).wants for mark in (m.READY, ALL_READY) if enough(*sides)]
            for own, other in wants:
                wanted[name] = max(wanted.get(name, 0), own)
                wanted[ours] = max(wanted.get(ours, 0), other)
    return {name: number for name, number in wanted.items() if number}


def times(mark: str, records: Sequence[BootRecord]) -> list[int]:
    """Return ns to `mark` in each boot."""
    return [record.marks[mark] for record in records]


def _spread(row: Row, mark: str) -> int:
    return spread_ns(row.times(mark, row.family.boots))


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


def _wall(boots: Mapping[str, Sequence[BootRecord]]) -> str:
    lines = []
    for name, records in boots.items():
        cells = [name]
        for mark in (m.READY, ALL_READY):
            found = times(mark, records)
            cells += [_ms(round(median(found))), f"{_ms(min(found))} to {_ms(max(found))}"]
        lines.append(cells)
    turns = len(next(iter(boots.values())))
    said = f"Wall clock, multi-threaded TCG, two processors; ms, medians of {turns} boots in turn."
    return f"{said}\n\n{_table(['init', 'goal', 'from, to', 'all ready', 'from, to'], lines)}"


def _table(titles: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    ruler = ["---", *("---:" for _ in titles[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in (titles, ruler, *lines))


def _ms(time_ns: int) -> str:
    return f"{time_ns / 1e6:,.1f}"


def _millions(instructions: int) -> str:
    return f"{instructions / 1e6:,.1f}"
