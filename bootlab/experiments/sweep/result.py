"""The result of a sweep as values: what is kept, printed and drawn. The JSON's shape is in docs/formats.md."""

from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.experiments.sweep.machines import SweptMachine
from bootlab.measure.record import PriceRecord
from bootlab.measure.statistics.median_interval import median_interval
from bootlab.measure.statistics.series import median_ns

SCHEMA: Final = "bootlab.sweep/1"


class Figure(Document):
    """A median over the boots of one place, in ns (instructions: a count).

    `low` and `high`: on the virtual clock the least and the greatest over the seeds, on the wall clock the 95 %
    interval of the median (fewer than six boots: their range).
    """

    name: str
    median: int = 0
    low: int = 0
    high: int = 0

    @property
    def spread(self) -> int:
        return self.high - self.low


class Boot(Document):
    """One boot of a place. `total_ns`: to ready, with the load before it when the system has a storage model.

    Where a host model is charged `total_ns` and `phases_ns` are prices under it.
    """

    seed: int
    outcome: str
    total_ns: int | None
    instructions: int | None
    idle_ns: int | None
    counted_ns: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """Instructions + idle, where the other times are a price."""
    phases_ns: dict[str, int]
    cpu: str = Field(default="", exclude_if=lambda value: not value)
    """The CPU model, which may be another at each place."""
    run: str


class PlaceResult(Document):
    """One place and what its boots took; without figures when one of them was not ready and well."""

    place: SweptMachine
    outcome: str
    detail: str = ""
    ready: Figure | None = None
    instructions: Figure | None = None
    idle: Figure | None = None
    counted: Figure | None = Field(default=None, exclude_if=lambda value: value is None)
    """Instructions + idle in ns, where the other times are a price."""
    read_bytes: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """From modelled disks up to ready, the median over the boots; None without any."""
    busy_ns: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """How long somebody waited for one of them, likewise."""
    phases: list[Figure] = []
    boots: list[Boot]


class TrendRow(Document):
    """One figure along an axis, in ns (instructions: counts), and the least-squares line through it.

    `residual`: how far the worst point lies off the line; `spread`: the largest spread of a point; `straight`: no point
    lies off the line by more than that; null with two points, which any line joins.
    """

    name: str
    values: list[int]
    spread: int
    slope: float
    """What one more unit of the axis adds."""
    at_zero: float
    residual: float
    straight: bool | None


class Trend(Document):
    """One line of a chart: what more on `axis` costs while everything else stays as at `place`."""

    axis: str
    unit: str
    """`vCPU` or `GiB`: what the slopes are per."""
    place: SweptMachine
    values: list[float]
    """Places on the axis, in that unit."""
    rows: list[TrendRow]

    def row(self, name: str) -> TrendRow:
        """Return one figure by name; there is always a `ready`."""
        return next(row for row in self.rows if row.name == name)


class SweepResult(Document):
    """A sweep: every place with its figures, and the lines through them."""

    schema_: Literal["bootlab.sweep/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    clock: str
    accelerator: str
    kvm: str
    """What is known of KVM on this host, in words."""
    ns_per_instruction: int | None
    cpu: str
    seeds: list[int]
    swept: list[str]
    """Axes with several values: `vcpus`, `memory_mib`, `page_size`, `kernel`, or a key of the system file."""
    cells: list[PlaceResult]
    trends: list[Trend]
    price: PriceRecord | None = Field(default=None, exclude_if=lambda value: value is None)
    """A boot's price with its parts: under which host model every time here is. None: times of the clock."""
    page_sizes_equal: bool | None
    """Virtual clock with several page sizes: whether every count was the same, as it must be; else null."""
    cautions: list[str]
    hashes: dict[str, dict[str, str]]
    """Name of the kernel, and what was set -> sha256 of what was booted there."""
    host: dict[str, Any]
    run: str


def figure_of(name: str, values: Sequence[int], *, wall: bool) -> Figure:
    """Return the figure that the boots of one place give. Raises InputError when there are none."""
    low, high = median_interval(values) if wall else (min(values), max(values))
    return Figure(name=name, median=median_ns(values), low=low, high=high)
