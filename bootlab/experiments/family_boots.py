"""Boots whole families: makes systems ready, builds kernels where one changed, and runs the boots of each side."""

from collections.abc import Sequence
from dataclasses import replace

from bootlab.build.workshop import Workshop
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.family import NULL_WORD, Family
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord
from bootlab.system import ClockKind, System
from bootlab.targets.target import Prepared

Contest = tuple[Family, Family]
"""A changed system's family, and the family that it is compared with."""


class FamilyBoots:
    """Boots families into one run. `built` kernels took `build_s` host seconds; those in the cache count as neither."""

    def __init__(
        self,
        engine: Engine,
        shop: Workshop,
        seeds: Sequence[int],
        *,
        wall: bool,
        watch: tuple[str, ...] = (),
    ) -> None:
        self.engine = engine
        self.seeds = list(seeds)
        self.wall = wall
        self.built = 0
        self.build_s = 0.0
        self._shop = shop
        self._watch = watch
        self._told: set[str] = set()
        self._prepared: dict[str, Prepared] = {}

    def prepare(self, system: System, who: str = "") -> Prepared:
        """Make all that `system` boots from, once. What takes long is told as being done for `who`."""
        key = system.model_dump_json()
        if key not in self._prepared:

            def tell(line: str) -> None:
                line = f"{who}: {line}" if who else line
                # What is said of a package or an image holds for every system that has it.
                if line not in self._told:
                    self._told.add(line)
                    self._shop.tell(line)

            prepared = prepare(replace(self._shop, tell=tell), system, watch=self._watch)
            if prepared.files.kernel_build_s:
                self.built += 1
                self.build_s += prepared.files.kernel_build_s
            self._prepared[key] = prepared
        return self._prepared[key]

    def family(self, label: str, system: System, *, nulls: int, members: bool = True) -> Family:
        """Boot `system` with every seed, and `nulls` null changes of it; without `members` only those."""
        seeds = self.seeds if members else []
        jobs = [Job(f"{label}-s{seed}", self.prepare(system).with_seed(seed)) for seed in seeds]
        for number in range(1, nulls + 1):
            null = self.prepare(system.with_cmdline(f"{NULL_WORD}={number}"))
            seed = self.seeds[(number - 1) % len(self.seeds)]
            jobs.append(Job(f"{label}-null{number}-s{seed}", null.with_seed(seed)))
        records = self.engine.boot_all(jobs)
        return self._made(system, records[: len(seeds)], records[len(seeds) :])

    def with_nulls(self, family: Family, label: str, system: System, nulls: int) -> Family:
        """Return `family`, which `system` booted, with at least `nulls` null changes (virtual clock)."""
        if self.wall or len(family.null) >= nulls:
            return family
        return replace(family, null=self.family(label, system, nulls=nulls, members=False).null)

    def contest(self, systems: dict[str, System], before: Family, before_system: System) -> dict[str, Contest]:
        """Boot each system's family; returns label -> (its family, the family it is compared with).

        The other seeds are left out where the first boot has settled the verdict (virtual clock).
        """
        if self.wall:
            return {label: self._interleaved(label, system, before_system) for label, system in systems.items()}
        # Cores that would stand idle boot further seeds meanwhile; they count only where the first has settled nothing,
        # so that a result does not depend on the number of cores.
        ahead = max(1, self.engine.parallel // max(1, len(systems)))
        first = self._boot_seeds(systems, self.seeds[:ahead])
        null_ns = before.null_ns
        # The rule wants every boot outside the whole null family. One inside settles the verdict: no need for the rest.
        open_labels = [
            label
            for label, records in first.items()
            if all(t is not None and not _inside(t, null_ns) for t in [records[0].total_ns])
        ]
        rest = self._boot_seeds({label: systems[label] for label in open_labels}, self.seeds[ahead:])
        members = {label: [*first[label], *rest[label]] if label in rest else first[label][:1] for label in systems}
        return {label: (self._made(system, members[label]), before) for label, system in systems.items()}

    def _boot_seeds(self, systems: dict[str, System], seeds: Sequence[int]) -> dict[str, list[BootRecord]]:
        jobs = [
            Job(f"{label}-s{seed}", self.prepare(system).with_seed(seed))
            for label, system in systems.items()
            for seed in seeds
        ]
        records = dict(zip((job.label for job in jobs), self.engine.boot_all(jobs), strict=True))
        return {label: [records[f"{label}-s{seed}"] for seed in seeds] for label in systems}

    def _interleaved(self, label: str, after: System, before: System) -> Contest:
        jobs = []
        for number in range(1, len(self.seeds) + 1):
            jobs.append(Job(f"{label}-before-{number}", self.prepare(before).with_seed(number)))
            jobs.append(Job(f"{label}-after-{number}", self.prepare(after).with_seed(number)))
        records = self.engine.boot_all(jobs)
        return self._made(after, records[1::2]), self._made(before, records[::2])

    def _made(self, system: System, members: Sequence[BootRecord], null: Sequence[BootRecord] = ()) -> Family:
        return Family(tuple(members), tuple(null), self.prepare(system).files.kernel_config)


def wall_clock(system: System) -> bool:
    return system.clock.kind is not ClockKind.VIRTUAL


def _inside(time_ns: int, null_ns: Sequence[int]) -> bool:
    return min(null_ns) <= time_ns <= max(null_ns)
