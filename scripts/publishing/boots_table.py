"""The table of several runs: a row for each run, a column for each figure of its boots, and what they were booted on.

A figure of one boot is that of the run's middle boot, so that the figures of a row belong together.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bootlab.experiments.family import timings_of
from bootlab.experiments.trial.result import Judged
from bootlab.measure.line_and_card_cost import board_terms
from bootlab.measure.record import BootRecord, DiskRecord, Outcome
from bootlab.measure.statistics.series import median_ns
from bootlab.report.parts.figures import (
    clock_of,
    count,
    median_boot,
    median_ready_ns,
    mib,
    ms,
    ready_times,
    short_hashes,
)
from bootlab.report.parts.markdown import markdown_table, plain, prose
from scripts.publishing.profile_figures import (
    HANDLED,
    PROGRAM_FIGURES,
    STRETCH_FIGURES,
    Program,
    Stretch,
    functions_ns,
    stretch_figure,
)


@dataclass(frozen=True, slots=True)
class Row:
    """The boots of one run, by the name that the table has for it."""

    name: str
    boots: Sequence[BootRecord]
    others: Sequence[BootRecord] = ()
    """Null changes and fresh boots of a step of a trial, which only its spread is of as well."""
    judged: Judged | None = None
    """What the trial says of that step; None of the baseline, and of boots that are no trial's."""
    baseline: bool = False
    """Whether it is of a trial's baseline, to which nothing before it in the table is compared."""
    stretch: Stretch | None = None
    """The phase or timing of a profile that the row is of."""
    program: Program | None = None
    """The process of a profile that it is of, by what that executed."""
    profile: Mapping[str, Any] | None = None
    """The document of the profile, where the boot was profiled."""

    @property
    def middle(self) -> BootRecord:
        """Return the boot whose phases and counts stand in the row."""
        return median_boot(self.boots)

    @property
    def ready_ns(self) -> int | None:
        """Return the median of its boots, in ns since power-on; None where none was ready."""
        return median_ready_ns(self.boots)


def boots_table(rows: Sequence[Row], columns: Mapping[str, str], *, turned: bool = False) -> str:
    """Return the table, and below it the clock and the inputs that its boots have in common, and of each row.

    `columns` has the words of a figure for each title; `turned`: a column a run and a row a figure. Raises ValueError
    for a figure that there is none of, or that none of the boots has, and for a boot that was not ready and well.
    """
    for row in rows:
        wrong = [one for one in (*row.boots, *row.others) if one.outcome is not Outcome.READY]
        if wrong:
            raise ValueError(f"{row.name}: {wrong[0].outcome.value}: {wrong[0].detail} ({wrong[0].run})")
    cells = [[figure(words, row, rows) for words in columns.values()] for row in rows]
    for words, column in zip(columns.values(), zip(*cells, strict=True), strict=True):
        if not any(column):
            raise ValueError(f"{words}: no boot of the table has it")
    if turned:
        lines = [[title, *(one[index] for one in cells)] for index, title in enumerate(columns)]
        whole = markdown_table(["", *(f"{row.name}>" for row in rows)], lines)
    else:
        whole = markdown_table(
            ["", *(f"{title}>" for title in columns)], [[row.name, *one] for row, one in zip(rows, cells, strict=True)]
        )
    return f"{whole}\n\n{made_of([(row.name, row.boots) for row in rows])}\n"


def made_of(rows: Sequence[tuple[str, Sequence[BootRecord]]]) -> str:
    """Return on which clock the boots of each name were measured, and the hashes of their inputs."""
    every = [record for _, boots in rows for record in boots]
    same = len({(one.clock, one.ns_per_instruction, one.cpu, one.accelerator, one.price is None) for one in every}) == 1
    # A name has as many rows as it was started in ways.
    told: dict[str, dict[str, None]] = {}
    for name, boots in rows:
        told.setdefault(clock_of(boots), {})[_unlinked(name)] = None
    clocks = [clock_of(every)] if same else [f"{' and '.join(names)}: {clock}" for clock, names in told.items()]
    common = {
        part: digest
        for part, digest in every[0].hashes.items()
        if all(record.hashes.get(part) == digest for record in every)
    }
    lines = ["; ".join(clocks), f"All: {short_hashes(common)}"] if common else ["; ".join(clocks)]
    own: dict[str, dict[str, None]] = {}
    for name, boots in rows:
        # Of one name in several ways there are several inputs of a kind.
        of_it = own.setdefault(name, {})
        for record in boots:
            of_it |= {short_hashes({part: one}): None for part, one in record.hashes.items() if part not in common}
    lines += [f"{_unlinked(name)}: {', '.join(hashes)}" for name, hashes in own.items() if hashes]
    return prose(f"{'. '.join(lines)}.")


def _unlinked(name: str) -> str:
    return _LINK.sub(lambda found: found[1], name)


def figure(words: str, row: Row, rows: Sequence[Row]) -> str:
    """Return the figure of a row that `words` ask for, empty where its boots have none. Raises ValueError."""
    kind, _, of = words.partition(" ")
    names = [name.strip() for name in of.split(",") if name.strip()]
    if kind in _OF_NAMES and names:
        return _OF_NAMES[kind](row.middle, names)
    if kind == _TIMING and names:
        return _timing(row, names[0])
    if kind == _FUNCTION and names:
        return "" if row.profile is None else ms(functions_ns(row.profile, names))
    if kind in (*STRETCH_FIGURES, HANDLED):
        return "" if row.stretch is None else stretch_figure(kind, row.stretch, names)
    if kind in PROGRAM_FIGURES and not names:
        return "" if row.program is None else PROGRAM_FIGURES[kind](row.program)
    if kind in _OF_ROW and not names:
        return _OF_ROW[kind](row, rows)
    of_names = (f"{kind} NAME" for kind in (*_OF_NAMES, _TIMING, _FUNCTION, HANDLED))
    known = [*_OF_ROW, *STRETCH_FIGURES, *PROGRAM_FIGURES, *of_names]
    raise ValueError(f"{words}: no such figure of a boot; there are: {', '.join(known)}")


def _range(row: Row, _rows: Sequence[Row]) -> str:
    times = ready_times(row.boots)
    return f"{ms(min(times))} to {ms(max(times))}" if times and min(times) != max(times) else ms(row.ready_ns)


def _verdict(row: Row, _rows: Sequence[Row]) -> str:
    return "" if row.judged is None else f"{row.judged.verdict}, {row.judged.proof}"


def _spread(row: Row, _rows: Sequence[Row]) -> str:
    every = [*row.boots, *row.others]
    times = ready_times(every)
    return f"{ms(min(times))} to {ms(max(times))}, {count(len(every))} boots"


def _timing(row: Row, name: str) -> str:
    times = timings_of(row.boots).get(name, [])
    if not times:
        return ""
    middle = ms(median_ns(times))
    return middle if min(times) == max(times) else f"{middle} ({ms(min(times))} to {ms(max(times))})"


def _saved(row: Row, rows: Sequence[Row]) -> str:
    if row.judged is not None:
        return ms(row.judged.saved_ns)
    both = _ready_beside_first(row, rows)
    return "" if both is None else ms(both[0] - both[1])


def _times(row: Row, rows: Sequence[Row]) -> str:
    both = _ready_beside_first(row, rows)
    return "" if both is None else f"{both[0] / both[1]:.2f}x"


def _ready_beside_first(row: Row, rows: Sequence[Row]) -> tuple[int, int] | None:
    """Return when the first row and this one were ready, in ns; None where this one is not compared to it."""
    first = rows[0].ready_ns
    return None if row is rows[0] or row.baseline or not first or not row.ready_ns else (first, row.ready_ns)


def _waited(record: BootRecord, names: Sequence[str]) -> str:
    terms = board_terms(record)
    if terms is None:
        return ""
    told = {
        "bootloader line": terms.loader_line_ns,
        "bootloader card": terms.loader_card_ns,
        "kernel line": terms.kernel_line_ns,
        "kernel card": terms.kernel_card_ns,
    }
    if unknown := set(names) - set(told):
        raise ValueError(f"waited {', '.join(sorted(unknown))}: a board waits for: {', '.join(told)}")
    known = [told[name] for name in names if told[name] is not None]
    return ms(sum(one for one in known if one is not None)) if known else ""


def _phases(record: BootRecord, names: Sequence[str]) -> str:
    found = [phase.duration_ns for phase in record.phases if phase.name in names]
    return ms(sum(found)) if found else ""


def _between(record: BootRecord, names: Sequence[str]) -> str:
    if len(names) != 2:
        raise ValueError(f"between {', '.join(names)}: between two marks")
    begin, end = (record.marks.get(name) for name in names)
    return "" if begin is None or end is None else ms(end - begin)


def _sizes(record: BootRecord, names: Sequence[str]) -> int | None:
    found = [record.sizes[name] for name in names if name in record.sizes]
    return sum(found) if found else None


def _kib(record: BootRecord, names: Sequence[str]) -> str:
    size = _sizes(record, names)
    return "" if size is None else count(size // 1024)


def _read_in(record: BootRecord, names: Sequence[str]) -> str:
    found = [phase.read_bytes for phase in record.phases if phase.name in names and phase.read_bytes is not None]
    return count(sum(found)) if found else ""


def _read_between(record: BootRecord, names: Sequence[str]) -> str:
    if len(names) != 2:
        raise ValueError(f"read-between {', '.join(names)}: between two marks")
    begin, end = (_read_up_to(record, name) for name in names)
    return "" if begin is None or end is None else count(end - begin)


def _read_up_to(record: BootRecord, mark: str) -> int | None:
    """Return the bytes that all disks were asked for before a mark; None where that was not counted."""
    if mark in record.read_up_to:
        return record.read_up_to[mark]
    ends = [phase.end for phase in record.phases]
    before = record.phases[: ends.index(mark) + 1] if mark in ends else []
    found = [phase.read_bytes for phase in before if phase.read_bytes is not None]
    return sum(found) if found else None


def _charges(record: BootRecord, names: Sequence[str]) -> str:
    found = [record.charges[name] for name in names if name in record.charges]
    return f"{count(sum(one.count for one in found))}: {ms(sum(one.ns for one in found))}" if found else ""


def _facts(record: BootRecord, names: Sequence[str]) -> str:
    said = [record.facts[name] for name in names if name in record.facts]
    return ", ".join(count(int(one)) if one.isdecimal() else plain(one) for one in said)


def _of_disks(of_one: Callable[[DiskRecord], int], said: Callable[[int], str]) -> Callable[[Row, Sequence[Row]], str]:
    def told(row: Row, _rows: Sequence[Row]) -> str:
        return said(sum(of_one(disk) for disk in row.middle.disks)) if row.middle.disks else ""

    return told


_TIMING: Final = "timing"
_FUNCTION: Final = "function"
"""What functions took up to ready with all that they called, of a profile."""
_LINK: Final = re.compile(r"\[([^]]*)\]\([^)]*\)")
_OF_ROW: Final[Mapping[str, Callable[[Row, Sequence[Row]], str]]] = {
    "ready": lambda row, _: ms(row.ready_ns),
    "range": _range,
    "spread": _spread,
    "boots": lambda row, _: count(len(row.boots)),
    "saved": _saved,
    "price": lambda row, _: "" if row.middle.price is None else ms(row.middle.price.total_ns),
    "verdict": _verdict,
    "times-less": _times,
    "idle": lambda row, _: ms(row.middle.idle_ns),
    "instructions": lambda row, _: count(row.middle.instructions),
    "reads": _of_disks(lambda disk: disk.reads, count),
    "read-mib": _of_disks(lambda disk: disk.read_bytes, mib),
    "writes": _of_disks(lambda disk: disk.writes, count),
    "flushes": _of_disks(lambda disk: disk.flushes, count),
    "disk-busy": _of_disks(lambda disk: disk.busy_ns, ms),
}
_OF_NAMES: Final[Mapping[str, Callable[[BootRecord, Sequence[str]], str]]] = {
    "phase": _phases,
    "read-in": _read_in,
    "read-between": _read_between,
    "charge": _charges,
    "mark": lambda record, names: ms(record.marks.get(names[0])),
    "between": _between,
    "waited": _waited,
    "bytes": lambda record, names: count(_sizes(record, names)),
    "kib": _kib,
    "fact": _facts,
}
