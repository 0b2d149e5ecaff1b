"""Boots whole families: makes systems ready, builds kernels where one changed, and runs the boots of each side."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.family import FRESH, NULL, Family, wanted_boots
from bootlab.experiments.making import Making
from bootlab.experiments.verdict import NEAR_FRESH
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import NULL_WORD, ClockKind, System
from bootlab.targets.target import Prepared

_Made = TypeVar("_Made")
Contest = tuple[Family, Family]
"""A changed system's family, and the family that it is compared with."""

_FRESH_WORDS_FROM = 100
"""Null words of fresh boots count from here: no trial has so many null changes."""
_NULL_BUILDS = 2
"""Builds of one kernel that differ in their names, which fresh boots take turns with where kernels are compared."""


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
        self.overlap_s = 0.0
        """Of these seconds, those that went by while another kernel was built."""
        self._making = Making(engine.furnish(shop))
        self._watch = watch
        self._told: set[str] = set()
        self._prepared: dict[str, Prepared] = {}
        self._learned: dict[str, Mapping[str, str]] = {}

    def prepare(self, system: System, who: str = "") -> Prepared:
        """Make all that `system` boots from, once; from any thread.

        What takes long is told as being done for `who`.
        """
        key = system.model_dump_json()
        with self._making.turn():
            if key not in self._prepared:
                shop = self._making.shop

                def tell(line: str) -> None:
                    line = f"{who}: {line}" if who else line
                    # What is said of a package or an image holds for every system that has it.
                    if line not in self._told:
                        self._told.add(line)
                        shop.tell(line)

                prepared = prepare(replace(shop, tell=tell), system, watch=self._watch)
                if prepared.files.kernel_build_s:
                    self.built += 1
                    self.build_s += prepared.files.kernel_build_s
                self._prepared[key] = prepared
            return self._prepared[key]

    def each(self, makes: Sequence[Callable[[], _Made]]) -> list[_Made]:
        """Return what each of `makes`, which prepare systems, returns; a cluster compiles their kernels at once."""
        began, build_s = time.monotonic(), self.build_s
        made = self._making.each(makes)
        if self._making.at_once:
            self.overlap_s += max(0.0, self.build_s - build_s - (time.monotonic() - began))
        return made

    def learn(self, label: str, system: System) -> Mapping[str, str]:
        """Boot `system` once, with the first seed, and return what it printed as facts; the same system only once.

        Raises InputError where the boot is not well: it has not learned what it was to.
        """
        key = system.model_dump_json()
        if key not in self._learned:
            prepared = self.prepare(system, label).with_seed(self.seeds[0])
            (record,) = self.engine.boot_all([Job(f"{label}-{len(self._learned) + 1}", prepared)])
            if record.outcome is not Outcome.READY:
                raise InputError(f"the boot that was to learn: {record.outcome.value}: {record.detail}")
            self._learned[key] = record.facts
        return self._learned[key]

    def family(self, label: str, system: System, *, nulls: int, members: bool = True, keeps: bool = False) -> Family:
        """Boot `system` with every seed, and `nulls` null changes of it; without `members` only those.

        `keeps`: the boots of others will begin as those of its members do.
        """
        seeds = self.seeds if members else []
        jobs = self._jobs(label, system, seeds, nulls)
        jobs[: len(seeds)] = [replace(job, keeps=keeps) for job in jobs[: len(seeds)]]
        records = self.engine.boot_all(jobs)
        return self._made(label, system, records[: len(seeds)], records[len(seeds) :])

    def families(self, asked: Mapping[str, tuple[System, int]]) -> dict[str, Family]:
        """Boot the families of several sides together: label -> a system and its number of null changes."""
        count, last = len(self.seeds), list(asked)[-1:]
        jobs = [self._jobs(label, system, self.seeds, nulls) for label, (system, nulls) in asked.items()]
        for label, one in zip(asked, jobs, strict=True):
            # A later side may begin as this one does.
            one[:count] = [replace(job, keeps=label not in last) for job in one[:count]]
        records = iter(self.engine.boot_all([job for one in jobs for job in one]))
        booted = {label: [next(records) for _ in one] for label, one in zip(asked, jobs, strict=True)}
        return {
            label: self._made(label, system, booted[label][:count], booted[label][count:])
            for label, (system, _) in asked.items()
        }

    def _jobs(self, label: str, system: System, seeds: Sequence[int], nulls: int) -> list[Job]:
        jobs = [Job(f"{label}-s{seed}", self.prepare(system).with_seed(seed)) for seed in seeds]
        for number in range(1, nulls + 1):
            null = self.prepare(system.with_cmdline(f"{NULL_WORD}={number}"))
            seed = self.seeds[(number - 1) % len(self.seeds)]
            jobs.append(Job(f"{label}{NULL}{number}-s{seed}", null.with_seed(seed)))
        return jobs

    def with_nulls(self, family: Family, label: str, system: System, nulls: int) -> Family:
        """Return `family`, which `system` booted, with at least `nulls` null changes (virtual clock)."""
        if self.wall or len(family.null) >= nulls:
            return family
        return replace(family, null=self.family(label, system, nulls=nulls, members=False).null)

    def contest(self, systems: dict[str, System], before: Family, before_system: System) -> dict[str, Contest]:
        """Boot each system's family; returns label -> (its family, the family it is compared with).

        On the virtual clock as many boots as the verdict takes: the other seeds are left out where the first boot has
        settled it, and a difference that was seen is confirmed.
        """
        if self.wall:
            return {label: self._interleaved(label, system, before_system) for label, system in systems.items()}
        # Cores that would stand idle boot further seeds meanwhile; they count only where the first has settled nothing,
        # so that a result does not depend on the number of cores.
        ahead = max(1, self.engine.parallel // max(1, len(systems)))
        first = self._boot_seeds(systems, self.seeds[:ahead])
        unchanged_ns = before.unchanged_ns
        # The rule wants every boot outside the whole null family. One inside settles the verdict: no need for the rest.
        open_labels = [
            label
            for label, records in first.items()
            if all(t is not None and not _inside(t, unchanged_ns) for t in [records[0].total_ns])
        ]
        rest = self._boot_seeds({label: systems[label] for label in open_labels}, self.seeds[ahead:])
        members = {label: [*first[label], *rest[label]] if label in rest else first[label][:1] for label in systems}
        booted = {label: (system, self._made(label, system, members[label])) for label, system in systems.items()}
        return self.confirm(booted, before, before_system)

    def confirm(
        self,
        changed: dict[str, tuple[System, Family]],
        before: Family,
        before_system: System | None,
        *,
        null_builds: bool = True,
    ) -> dict[str, Contest]:
        """Return label -> (its family, the family it is compared with), with the fresh boots that their verdicts take.

        Without `before_system` no boot is added to `before`, which is on record: what takes some stays unconfirmed.
        Where the kernel was built anew and the difference is near, the fresh boots of both sides take turns with null
        builds of their kernels, for what another build does by chance is no saving; without `null_builds` not.
        """
        contests = {}
        for rebuilt in (False, True):
            group = {label: one for label, one in changed.items() if is_rebuilt(before_system, one[0]) is rebuilt}
            contests.update(self._confirmed(group, before, before_system, rebuilt and null_builds))
        return {label: contests[label] for label in changed}

    def fresh_jobs(self, family: Family, system: System, number: int, *, null_builds: bool = False) -> list[Job]:
        """Return `number` boots of a family's system with seeds and null changes that it has not had."""
        jobs = []
        for index in range(len(family.fresh) + 1, len(family.fresh) + number + 1):
            null, build = system.with_cmdline(f"{NULL_WORD}={_FRESH_WORDS_FROM + index}"), ""
            if null_builds:
                build = f"-build{(index - 1) % _NULL_BUILDS + 1}"
                null = null.with_options(LOCALVERSION=f"-null{build}")
            prepared = self.prepare(null, f"{family.label}, null build" if build else "")
            seed = max(self.seeds) + index
            jobs.append(Job(f"{family.label}{FRESH}{index}{build}-s{seed}", prepared.with_seed(seed)))
        return jobs

    def _confirmed(
        self, changed: dict[str, tuple[System, Family]], before: Family, before_system: System | None, null_builds: bool
    ) -> dict[str, Contest]:
        after = {label: family for label, (_, family) in changed.items()}
        while True:
            wants = {label: wanted_boots(before, family) for label, family in after.items()}
            makes = []
            if before_system is not None:
                most = max((own for own, _ in wants.values()), default=0)
                makes.append(partial(self.fresh_jobs, before, before_system, most, null_builds=null_builds))
            for label, (own, other) in wants.items():
                builds = null_builds and _near(after[label], other)
                number = other if before_system is not None or own == 0 else 0
                makes.append(partial(self.fresh_jobs, after[label], changed[label][0], number, null_builds=builds))
            made = self.each(makes)
            # What is changed is booted with the same seeds and words, so that it may begin as they do.
            jobs = [replace(job, keeps=True) for job in made.pop(0)] if before_system is not None else []
            fresh = dict(zip(wants, made, strict=True))
            if not jobs and not any(fresh.values()):
                return {label: (family, before) for label, family in after.items()}
            records = iter(self.engine.boot_all([*jobs, *(job for more in fresh.values() for job in more)]))
            before = replace(before, fresh=(*before.fresh, *(next(records) for _ in jobs)))
            for label, more in fresh.items():
                after[label] = replace(after[label], fresh=(*after[label].fresh, *(next(records) for _ in more)))

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
        return self._made(label, after, records[1::2]), self._made(label, before, records[::2])

    def _made(
        self, label: str, system: System, members: Sequence[BootRecord], null: Sequence[BootRecord] = ()
    ) -> Family:
        return Family(tuple(members), tuple(null), self.prepare(system).files.kernel_config, label=label)


def wall_clock(system: System) -> bool:
    """Return whether a system's boots are timed by the host's clock, on which no two are the same."""
    return system.clock.kind is not ClockKind.VIRTUAL


def is_rebuilt(before: System | None, after: System) -> bool:
    """Return whether both systems' kernels are built, and not from one recipe: what moves them may be the build."""
    built = before.kernel.build if before is not None else None, after.kernel.build
    return None not in built and built[0] != built[1]


def _inside(time_ns: int, unchanged_ns: Sequence[int]) -> bool:
    return min(unchanged_ns) <= time_ns <= max(unchanged_ns)


def _near(after: Family, wanted: int) -> bool:
    # The side before may have its fresh boots already: another technique's difference was near as well.
    return wanted > 0 and len(after.fresh) + wanted >= NEAR_FRESH[1]
