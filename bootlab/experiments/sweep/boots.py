"""Runs a sweep: boots one system with more and more vCPUs or memory, with other page sizes, with other kernels,
with other values of a key of its file.

On the virtual clock every place is booted with the same seeds, and a figure is the median over them. On the wall clock
every place is booted several times, in turn, so that a host that slows down slows all places alike.
"""

from collections.abc import Callable, Mapping, Sequence

from bootlab.build.source.config_text import read_config
from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.sweep.machines import AXES, SweepAxes, SweptMachine, places, system_at
from bootlab.experiments.sweep.result import Boot, Figure, PlaceResult, SweepResult, Trend, TrendRow, figure_of
from bootlab.experiments.sweep.straight_line import fit
from bootlab.measure.prepare import prepare
from bootlab.measure.price import judged_view
from bootlab.measure.record import BootRecord, DiskRecord, Outcome
from bootlab.measure.statistics.series import median_ns
from bootlab.system import ClockKind, System
from bootlab.targets.target import Prepared

Numeric = ("vcpus", "memory_mib")
_MIB_PER_GIB = 1024
_UNITS: dict[str, str] = {"vcpus": "vCPU", "memory_mib": "GiB"}


class BootSweep:
    """One sweep. `repeats`: seeds of each place (virtual clock), or boots of it (wall).

    Raises InputError where there is nothing to sweep, or where the system cannot be what one of the places asks.
    """

    def __init__(self, shop: Workshop, system: System, wanted: SweepAxes, repeats: int) -> None:
        self.system = system
        self.wanted = wanted
        self.seeds = list(range(1, repeats + 1))
        self.places = places(system, wanted, repeats)
        # Each is checked before the first is prepared, which may build a kernel.
        self.systems = {place: system_at(system, place, wanted) for place in self.places}
        self._shop = shop
        self._wall = system.clock.kind is not ClockKind.VIRTUAL

    @property
    def boots(self) -> int:
        """Return how many boots it takes, those included that only warm the host's caches up."""
        return len(self.places) * (len(self.seeds) + self._wall)

    def run(self, engine: Engine) -> SweepResult:
        """Boot every place and return the result. Raises BootFailed when none of them was ready."""
        shop = engine.furnish(self._shop)
        prepared = {place: self._prepare(shop, place) for place in self.places}
        # On the wall clock the first boot of each finds the host's caches cold; it is kept, and not counted.
        early = "warm-up" if self._wall else f"{self.seeds[0]:03d}"
        records = {place: [record] for place, record in self._round(engine, prepared, early, self.seeds[0]).items()}
        # A place that failed once has no figures, and may take a whole deadline each time to fail again.
        well = {place: prepared[place] for place, found in records.items() if found[0].outcome is Outcome.READY}
        if not well:
            first = next(iter(records.values()))[0]
            raise BootFailed(
                f"{self.system.name}: no place of the sweep was ready: {first.outcome.value}: {first.detail}",
                hint=f"the first console is {first.run}/console.log",
            )
        if self._wall:
            records |= {place: [] for place in well}
        for seed in self.seeds if self._wall else self.seeds[1:]:
            for place, record in self._round(engine, well, f"{seed:03d}", seed).items():
                records[place].append(record)
        cells = [_cell(place, records[place], self._wall) for place in self.places]
        return self._result(engine, cells, records, prepared)

    def _round(
        self, engine: Engine, prepared: dict[SweptMachine, Prepared], name: str, seed: int
    ) -> dict[SweptMachine, BootRecord]:
        # Every place once, in turn: a host that slows down slows all of them.
        jobs = [Job(f"{place.label}-{name}", one.with_seed(seed)) for place, one in prepared.items()]
        return dict(zip(prepared, engine.boot_all(jobs), strict=True))

    def _prepare(self, shop: Workshop, place: SweptMachine) -> Prepared:
        self._shop.tell(f"preparing {place.label}")
        return prepare(shop, self.systems[place])

    def _result(
        self,
        engine: Engine,
        cells: list[PlaceResult],
        records: dict[SweptMachine, list[BootRecord]],
        prepared: dict[SweptMachine, Prepared],
    ) -> SweepResult:
        first = next(iter(records.values()))[0]
        swept = self.wanted.swept()
        kvm = str(first.host["kvm"])
        price = next((one.price for boots in records.values() for one in boots if one.price is not None), None)
        unpriced = not self._wall and self.system.clock.host_model is None
        same_counts = _page_size_changes_nothing(records) if "page_size" in swept and unpriced else None
        return SweepResult(
            system=self.system.name,
            clock=first.clock,
            accelerator=first.accelerator,
            kvm=kvm,
            ns_per_instruction=first.ns_per_instruction,
            cpu=", ".join(dict.fromkeys(one.cpu for boots in records.values() for one in boots)),
            seeds=self.seeds,
            swept=list(swept),
            cells=cells,
            trends=[trend for axis in swept if axis in Numeric for trend in trends(axis, cells)],
            price=price,
            page_sizes_equal=same_counts,
            cautions=[
                *(_one_cpu_kernels(prepared, swept) if "vcpus" in swept else []),
                *_cautions(swept, first.clock, first.accelerator, kvm, same_counts, priced=not unpriced),
            ],
            hashes=hashes_of(prepared, swept),
            host=first.host,
            run=str(engine.run.path),
        )


def hashes_of(prepared: Mapping[SweptMachine, Prepared], swept: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return what was booted -> hashes of its inputs.

    What a boot before has left is of its memory and vCPUs, too: places that differ so are told apart by these.
    """
    by_name: dict[str, dict[SweptMachine, dict[str, str]]] = {}
    for place, one in prepared.items():
        by_name.setdefault(place.booted(swept), {})[place] = one.hashes
    found: dict[str, dict[str, str]] = {}
    for name, alike_named in by_name.items():
        alike = len({tuple(sorted(hashes.items())) for hashes in alike_named.values()}) == 1
        for place, hashes in alike_named.items():
            found[name if alike else f"{name}, {place.vcpus} vCPUs, {place.memory_mib} MiB, {place.page_size}"] = hashes
    return found


def _cell(place: SweptMachine, records: Sequence[BootRecord], wall: bool) -> PlaceResult:
    failed = next((record for record in records if record.outcome is not Outcome.READY), None)
    boots = [_boot(record) for record in records]
    if failed is not None:
        return PlaceResult(place=place, outcome=failed.outcome.value, detail=failed.detail, boots=boots)
    names = dict.fromkeys(name for boot in boots for name in boot.phases_ns)
    counted = [(boot.instructions, boot.idle_ns) for boot in boots]
    return PlaceResult(
        place=place,
        outcome=Outcome.READY.value,
        ready=figure_of("ready", [boot.total_ns for boot in boots if boot.total_ns is not None], wall=wall),
        instructions=_counts("instructions", [count for count, _ in counted], wall),
        idle=_counts("idle", [idle for _, idle in counted], wall),
        counted=_counts("instructions + idle", [boot.counted_ns for boot in boots], wall),
        read_bytes=_of_disks(records, lambda disk: disk.read_bytes),
        busy_ns=_of_disks(records, lambda disk: disk.busy_ns),
        phases=[figure_of(name, [boot.phases_ns.get(name, 0) for boot in boots], wall=wall) for name in names],
        boots=boots,
    )


def _of_disks(records: Sequence[BootRecord], figure: Callable[[DiskRecord], int]) -> int | None:
    known = [sum(figure(disk) for disk in record.disks) for record in records if record.disks]
    return median_ns(known) if known else None


def _counts(name: str, values: Sequence[int | None], wall: bool) -> Figure | None:
    known = [value for value in values if value is not None]
    return figure_of(name, known, wall=wall) if known else None


def _boot(record: BootRecord) -> Boot:
    shown = judged_view(record)
    phases = {phase.name: phase.duration_ns for phase in shown.phases}
    if record.load_ns:
        phases = {"load": record.load_ns, **phases}
    return Boot(
        seed=record.seed,
        outcome=record.outcome.value,
        total_ns=record.total_ns,
        instructions=record.instructions,
        idle_ns=record.idle_ns,
        counted_ns=record.counted_ns if record.price is not None else None,
        phases_ns=phases,
        cpu=record.cpu,
        run=record.run,
    )


def trends(axis: str, cells: Sequence[PlaceResult]) -> list[Trend]:
    """Return what one more on a numeric axis costs, for each combination of the other values that has two points."""
    groups: dict[tuple[int | str, ...], list[PlaceResult]] = {}
    for cell in cells:
        if cell.ready is not None:
            groups.setdefault(cell.place.without(axis), []).append(cell)
    return [_trend(axis, group) for group in groups.values() if len({cell.place.at(axis) for cell in group}) > 1]


def _trend(axis: str, cells: Sequence[PlaceResult]) -> Trend:
    scale = _MIB_PER_GIB if axis == "memory_mib" else 1
    values = [int(cell.place.at(axis)) / scale for cell in cells]
    figures = [{figure.name: figure for figure in _figures(cell)} for cell in cells]
    names = dict.fromkeys(name for one in figures for name in one)
    return Trend(
        axis=axis,
        unit=_UNITS[axis],
        place=cells[0].place,
        values=values,
        rows=[_row(name, values, [one.get(name, Figure(name=name)) for one in figures]) for name in names],
    )


def _figures(cell: PlaceResult) -> list[Figure]:
    return [
        figure
        for figure in (*cell.phases, cell.ready, cell.counted, cell.instructions, cell.idle)
        if figure is not None
    ]


def _row(name: str, values: Sequence[float], figures: Sequence[Figure]) -> TrendRow:
    medians = [figure.median for figure in figures]
    spread = max(figure.spread for figure in figures)
    line = fit(values, medians)
    return TrendRow(
        name=name,
        values=medians,
        spread=spread,
        slope=round(line.slope, 1),
        at_zero=round(line.at_zero, 1),
        residual=round(line.residual, 1),
        straight=line.is_straight(len(values), spread),
    )


def _page_size_changes_nothing(records: dict[SweptMachine, list[BootRecord]]) -> bool:
    # Boots that differ in the host's pages alone, seed by seed.
    seen: dict[tuple[object, ...], set[tuple[object, ...]]] = {}
    for place, boots in records.items():
        for boot in boots:
            counts = (boot.outcome, boot.instructions, boot.idle_ns, tuple(boot.marks.items()), boot.console_sha256)
            seen.setdefault((*place.without("page_size"), boot.seed), set()).add(counts)
    return all(len(counts) == 1 for counts in seen.values())


def _one_cpu_kernels(prepared: Mapping[SweptMachine, Prepared], swept: Sequence[str]) -> list[str]:
    found = {
        place.booted(swept): "SMP" not in read_config(one.files.kernel_config)
        for place, one in prepared.items()
        if one.files.kernel_config is not None
    }
    return [
        f"The kernel of {kernel} is built for one CPU (CONFIG_SMP is off) and leaves the others alone."
        for kernel, alone in found.items()
        if alone
    ]


def _cautions(
    swept: Sequence[str], clock: str, accelerator: str, kvm: str, page_sizes_equal: bool | None, *, priced: bool
) -> list[str]:
    if clock == "wall":
        if accelerator == "kvm":
            return []
        return [
            f"KVM was not used ({kvm}): these are times of emulation, mostly translation; the shape says little, and "
            "the figures nothing, about a real machine."
        ]
    said: dict[str, str] = {
        "vcpus": "vCPUs share one instruction stream on the virtual clock: work done in parallel shows no gain.",
        "memory_mib": "The virtual clock sees what the guest does with more memory, but no page fault of the host and "
        'no cache miss: for those, clock.kind = "wall" on a host with KVM.',
        "page_size": "The host's pages change nothing on the virtual clock: every count was "
        + ("equal, seed by seed. " if page_sizes_equal else "expected to be equal and was not: please report it. ")
        + 'What they save shows with clock.kind = "wall" on a host with KVM.',
    }
    if priced:
        # What they deny is what a host model charges.
        said = {"vcpus": said["vcpus"]}
    return [said[axis] for axis in AXES if axis in swept and axis in said]
