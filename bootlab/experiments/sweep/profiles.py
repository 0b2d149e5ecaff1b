"""Profiles one system with more and more vCPUs or memory: what each unit costs, by phase and by function.

The slope is that of the least-squares line through the points, so a cost that comes once (a second CPU, of any number)
shows as a smaller slope over more points: the values themselves stand beside it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.experiments.sweep.straight_line import slope
from bootlab.findings.analysis import Analysis
from bootlab.measure.record import Outcome
from bootlab.profile.recorded.record_types import Space
from bootlab.profile.tree.without_symbols import as_one
from bootlab.system import System

SCHEMA: Final = "bootlab.profile-sweep/1"
Axis = Literal["vcpus", "memory_gib"]
_KEPT: Final = 200


class Point(Document):
    """One boot of a sweep. `value` is where it lies on the axis."""

    value: float
    outcome: str
    detail: str = ""
    """Why it was not ready, in words."""
    ready_ns: int | None
    instructions: int | None
    idle_ns: int | None
    run: str
    """Directory of the boot."""


class Slope(Document):
    """One thing over all points, in ns; `slope_ns` per vCPU or per GiB."""

    name: str
    values_ns: list[int]
    slope_ns: float


class Sweep(Document):
    """What more of something costs. `functions` by their own instructions, `totals` with all they called.

    With fewer than two points that were ready there are no slopes: `ready` is None and the lists are empty.
    """

    schema_: Literal["bootlab.profile-sweep/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    axis: Axis
    asked: int
    """How many points were asked for; those missing were not booted, because the run was interrupted."""
    points: list[Point]
    ready: Slope | None
    phases: list[Slope]
    functions: list[Slope]
    totals: list[Slope]
    run: str

    @property
    def whole(self) -> bool:
        """Whether every point asked for was booted and ready."""
        return len(self.points) == self.asked and all(point.ready_ns is not None for point in self.points)

    @property
    def why_no_slopes(self) -> str | None:
        """Return why there are none, in words; None where there are."""
        if self.ready is not None:
            return None
        ready = sum(point.ready_ns is not None for point in self.points)
        return f"no slopes: {ready} of {self.asked} boots were ready, and a slope needs two"


@dataclass(frozen=True, slots=True)
class Sample:
    """A point and, in ns by name, what its phases and its functions up to ready took."""

    point: Point
    phases_ns: Mapping[str, int]
    own_ns: Mapping[str, int]
    total_ns: Mapping[str, int]


def make_point(axis: Axis, analysis: Analysis) -> Sample:
    """Return what a sweep keeps of one profile."""
    record = analysis.record
    spaces, shift = analysis.profile.spaces, analysis.profile.shift
    # Tasks have other pids in every boot, and no slope.
    functions = [
        one
        # SeaBIOS lies at the top of memory, wherever that is: its addresses are no names here.
        for one in as_one(analysis.tree).top_functions()
        if one.function < len(spaces) and spaces[one.function] != Space.TASK
    ]
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for one in functions:
        # Copies of a function that the compiler made, and static ones of the same name, go together.
        own[one.name] += one.self_instructions << shift
        total[one.name] += one.total_instructions << shift
    point = Point(
        value=_value(axis, analysis.system),
        outcome=record.outcome.value,
        detail=record.detail,
        ready_ns=record.ready_ns,
        instructions=record.instructions,
        idle_ns=record.idle_ns,
        run=record.run,
    )
    return Sample(point, {one.name: one.duration_ns for one in analysis.activity.phases}, own, total)


def failed_point(axis: Axis, system: System, detail: str, *, run: str) -> Sample:
    """Return the point of a boot that left no profile, `detail` says why."""
    point = Point(
        value=_value(axis, system), outcome=Outcome.NOT_STARTED.value, detail=detail, ready_ns=None, instructions=None,
        idle_ns=None, run=run,
    )  # fmt: skip
    return Sample(point, {}, {}, {})


def _value(axis: Axis, system: System) -> float:
    return system.machine.vcpus if axis == "vcpus" else system.machine.memory_mib / 1024


def make_sweep(system: str, axis: Axis, samples: Sequence[Sample], *, asked: int, run: str) -> Sweep:
    """Return the slopes over those samples that were ready; none with fewer than two. `asked`: points asked for."""
    points = [sample.point for sample in samples]
    ready = [sample for sample in samples if sample.point.ready_ns is not None]
    if len(ready) < 2:
        return Sweep(
            system=system, axis=axis, asked=asked, points=points, ready=None, phases=[], functions=[], totals=[],
            run=run,
        )  # fmt: skip
    places = [sample.point.value for sample in ready]
    times = [sample.point.ready_ns or 0 for sample in ready]
    return Sweep(
        system=system,
        axis=axis,
        asked=asked,
        points=points,
        ready=Slope(name="ready", values_ns=times, slope_ns=round(slope(places, times), 1)),
        phases=in_order(places, [sample.phases_ns for sample in ready]),
        functions=slopes(places, [sample.own_ns for sample in ready]),
        totals=slopes(places, [sample.total_ns for sample in ready]),
        run=run,
    )


def slopes(axis: Sequence[float], values: Sequence[Mapping[str, int]], *, kept: int = _KEPT) -> list[Slope]:
    """Return the slope of every name that any point has, steepest first in either direction, at most `kept`.

    A point without a name has it at zero: a function that did not run cost nothing.
    """
    names = dict.fromkeys(name for one in values for name in one)
    rows = [[one.get(name, 0) for one in values] for name in names]
    found = [
        Slope(name=name, values_ns=row, slope_ns=round(slope(axis, row), 1))
        for name, row in zip(names, rows, strict=True)
        if len(set(row)) > 1
    ]
    return sorted(found, key=lambda one: (-abs(one.slope_ns), one.name))[:kept]


def in_order(axis: Sequence[float], values: Sequence[Mapping[str, int]]) -> list[Slope]:
    """Return the slope of every name in the order in which the names come, as for phases."""
    names = dict.fromkeys(name for one in values for name in one)
    rows = {name: [one.get(name, 0) for one in values] for name in names}
    return [Slope(name=name, values_ns=row, slope_ns=round(slope(axis, row), 1)) for name, row in rows.items()]
