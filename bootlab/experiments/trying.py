"""Try techniques on a system: each alone against the baseline, then stacked, every step measured again and checked.

Two stacks are built. `recommended` takes techniques without risk; `with risks` goes on from it with those that cost a
function or a protection. A technique that failed or did nothing alone is tried once more on the finished stack, because
techniques interact.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bootlab.build.cache import Cache
from bootlab.errors import BootFailed, InputError
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.family import DEFAULT_NULLS, NULL_WORD, Family, ready_times
from bootlab.experiments.measured import evidence_of, measured_of
from bootlab.experiments.plan import Plan
from bootlab.experiments.trial import Baseline, Finished, Judged, Member, Step, TryResult
from bootlab.experiments.verdict import Verdict, virtual_verdict, wall_verdict
from bootlab.measure.prepare import Prepared, prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import ClockKind, System
from bootlab.techniques.technique import Measured, Proof, Risk, Technique

RECOMMENDED = "recommended"
WITH_RISKS = "with risks"


@dataclass(slots=True)
class _Place:
    """Where a stack stands: the system so far, its boots, what is in it."""

    system: System
    family: Family
    techniques: list[str] = field(default_factory=list)


class Trial:
    """One `bootlab try`. `note` is called with a line for the user when a stage begins."""

    def __init__(
        self,
        system: System,
        techniques: Sequence[Technique],
        plan: Plan,
        *,
        engine: Engine,
        cache: Cache,
        seeds: Sequence[int],
        nulls: int = DEFAULT_NULLS,
        note: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.system = system
        self.techniques = list(techniques)
        self.plan = plan
        self.engine = engine
        self.cache = cache
        self.seeds = list(seeds)
        self.nulls = nulls
        self.note = note
        self.wall = system.clock.kind is ClockKind.WALL
        self._watch = tuple(sorted({symbol for technique in techniques for symbol in technique.watch}))
        self._prepared: dict[str, Prepared] = {}

    def run(self) -> TryResult:
        """Measure everything and return the result. Raises BootFailed when the baseline itself does not boot."""
        self.note(f"baseline: seeds {_list(self.seeds)} and {self.nulls} null changes")
        base = self._family("baseline", self.system, nulls=self.nulls)
        if base.failed is not None:
            raise BootFailed(
                f"{self.system.name}: the baseline does not boot: {base.failed.outcome.value}: {base.failed.detail}",
                hint=f"its console is {base.failed.run}/console.log",
            )
        start = _Place(self.system, base)
        measured = measured_of(base.median)
        self.note(f"each of {len(self.techniques)} techniques alone")
        alone = self._all_alone(start, measured)
        stacks, steps = self._stacks(start, measured, alone)
        return TryResult(
            system=self.system.name,
            clock=self.system.clock.kind.value,
            ns_per_instruction=base.median.ns_per_instruction,
            cpu=self.system.machine.cpu,
            seeds=self.seeds,
            plan=self.plan.name,
            baseline=_baseline(base),
            alone=alone,
            stack=steps,
            final=stacks,
            hashes=base.median.hashes,
            host=base.median.host,
            baseline_run=base.median.run,
            run=str(self.engine.run.path),
        )

    def _all_alone(self, start: _Place, measured: Measured) -> list[Judged]:
        changed: dict[str, System] = {}
        judged: dict[str, Judged] = {}
        for technique in self.techniques:
            system, reason = self._change(technique, start.system, measured)
            if system is None:
                judged[technique.name] = _not_applied(technique, reason)
            else:
                changed[technique.name] = system
        families = self._contest({f"alone-{name}": system for name, system in changed.items()}, start)
        for technique in self.techniques:
            if technique.name in changed:
                family, before = families[f"alone-{technique.name}"]
                judged[technique.name] = self._judge(technique, before, family)
        return [judged[technique.name] for technique in self.techniques]

    def _stacks(
        self, start: _Place, measured: Measured, alone: Sequence[Judged]
    ) -> tuple[dict[str, Finished], list[Step]]:
        by_name = {technique.name: technique for technique in self.techniques}
        order = list(alone) if not self.plan.by_gain else sorted(alone, key=lambda item: -(item.saved_ns or 0))
        steps: list[Step] = []
        finished: dict[str, Finished] = {}
        place = start
        for stack, wanted in ((RECOMMENDED, (Risk.NONE,)), (WITH_RISKS, (Risk.FUNCTION, Risk.SECURITY))):
            mine = [judged for judged in order if by_name[judged.technique].risk in wanted]
            helped = [judged.technique for judged in mine if judged.verdict == "faster"]
            others = [judged.technique for judged in mine if judged.verdict != "faster"]
            if stack == WITH_RISKS:
                # The risky ones change the ground: what did nothing on the recommended stack gets another chance.
                safe = [judged.technique for judged in order if by_name[judged.technique].risk is Risk.NONE]
                others += [name for name in safe if name not in place.techniques]
            self.note(f"stack {stack}: {len(helped)} that helped, then {len(others)} tried again on it")
            for retried, names in ((False, helped), (True, others)):
                place = self._climb(place, stack, [by_name[name] for name in names], measured, steps, start, retried)
            base_ns, ready_ns = start.family.median.ready_ns, place.family.median.ready_ns
            assert base_ns is not None and ready_ns is not None
            finished[stack] = Finished(
                ready_ns=ready_ns,
                ratio=base_ns / ready_ns,
                techniques=list(place.techniques),
                run=place.family.median.run,
            )
        return finished, steps

    def _climb(
        self,
        place: _Place,
        stack: str,
        techniques: Sequence[Technique],
        measured: Measured,
        steps: list[Step],
        start: _Place,
        retried: bool,
    ) -> _Place:
        waiting = list(techniques)
        if retried and waiting:
            # Many are tried now and most do nothing: the spread must be known as well as the baseline's.
            place = self._with_nulls(place, f"{_slug(stack)}-{len(place.techniques):02d}", self.nulls)
        while waiting:
            # Tried again: all that are left at once, to find the one worth taking next in one round of boots.
            batch = waiting if retried else waiting[:1]
            changed = {}
            for technique in batch:
                system, _ = self._change(technique, place.system, measured)
                if system is not None and system != place.system:
                    changed[technique.name] = system
            labels = {name: f"{_slug(stack)}-{len(place.techniques):02d}-{name}" for name in changed}
            families = self._contest({labels[name]: system for name, system in changed.items()}, place)
            results = {
                technique.name: self._judge(
                    technique, families[labels[technique.name]][1], families[labels[technique.name]][0]
                )
                for technique in batch
                if technique.name in changed
            }
            best = max(
                (judged for judged in results.values() if judged.verdict == "faster"),
                key=lambda judged: judged.saved_ns or 0,
                default=None,
            )
            if best is not None:
                system = changed[best.technique]
                family = families[labels[best.technique]][0]
                place = _Place(system, family, [*place.techniques, best.technique])
                place = self._with_nulls(place, labels[best.technique], self.nulls if retried else 1)
                steps.append(_step(best, stack, start, place, retried))
            if not retried and best is None:
                steps += [_step(judged, stack, start, place, retried) for judged in results.values()]
            if best is None:
                if retried:
                    return place
                waiting = waiting[1:]
            else:
                # A round of retries keeps only those that might still help: the others were settled in this round.
                promising = (
                    {name for name, judged in results.items() if judged.verdict == "faster"} if retried else None
                )
                waiting = [
                    technique
                    for technique in waiting
                    if technique.name != best.technique and (promising is None or technique.name in promising)
                ]
        return place

    def _contest(self, systems: dict[str, System], before: _Place) -> dict[str, tuple[Family, Family]]:
        """Boot each system's family; returns label -> (its family, the family it is compared with)."""
        if self.wall:
            return {label: self._interleaved(label, system, before.system) for label, system in systems.items()}
        first = self._boot_seeds(systems, self.seeds[:1])
        null_ns = before.family.null_ns
        # The rule wants every boot outside the whole null family. One inside settles the verdict: no need for the rest.
        open_labels = [
            label
            for label, records in first.items()
            if all(t is not None and not min(null_ns) <= t <= max(null_ns) for t in [records[0].ready_ns])
        ]
        rest = self._boot_seeds({label: systems[label] for label in open_labels}, self.seeds[1:])
        return {label: (Family((*first[label], *rest.get(label, ()))), before.family) for label in systems}

    def _boot_seeds(self, systems: dict[str, System], seeds: Sequence[int]) -> dict[str, list[BootRecord]]:
        jobs = [
            Job(f"{label}-s{seed}", self._prepare(system).with_seed(seed))
            for label, system in systems.items()
            for seed in seeds
        ]
        records = dict(zip((job.label for job in jobs), self.engine.boot_all(jobs), strict=True))
        return {label: [records[f"{label}-s{seed}"] for seed in seeds] for label in systems}

    def _interleaved(self, label: str, after: System, before: System) -> tuple[Family, Family]:
        jobs = []
        for number in range(1, len(self.seeds) + 1):
            jobs.append(Job(f"{label}-before-{number}", self._prepare(before).with_seed(number)))
            jobs.append(Job(f"{label}-after-{number}", self._prepare(after).with_seed(number)))
        records = self.engine.boot_all(jobs)
        return Family(tuple(records[1::2])), Family(tuple(records[::2]))

    def _family(self, label: str, system: System, *, nulls: int, members: bool = True) -> Family:
        seeds = self.seeds if members else []
        jobs = [Job(f"{label}-s{seed}", self._prepare(system).with_seed(seed)) for seed in seeds]
        for number in range(1, nulls + 1):
            null = self._prepare(system.with_cmdline(f"{NULL_WORD}={number}"))
            seed = self.seeds[(number - 1) % len(self.seeds)]
            jobs.append(Job(f"{label}-null{number}-s{seed}", null.with_seed(seed)))
        records = self.engine.boot_all(jobs)
        return Family(tuple(records[: len(seeds)]), tuple(records[len(seeds) :]))

    def _with_nulls(self, place: _Place, label: str, nulls: int) -> _Place:
        if self.wall or len(place.family.null) >= nulls:
            return place
        null = self._family(label, place.system, nulls=nulls, members=False).null
        return _Place(place.system, Family(place.family.members, null), place.techniques)

    def _change(self, technique: Technique, system: System, measured: Measured) -> tuple[System | None, str]:
        reason = technique.applies(system, measured)
        if reason is not None:
            return None, reason
        try:
            changed = technique.apply(system, measured)
            # What cannot be built (a kernel without PVH entry, say) shows here, before any boot.
            self._prepare(changed)
        except InputError as error:
            return None, error.message
        return changed, ""

    def _prepare(self, system: System) -> Prepared:
        key = system.model_dump_json()
        if key not in self._prepared:
            self._prepared[key] = prepare(system, self.cache, watch=self._watch)
        return self._prepared[key]

    def _judge(self, technique: Technique, before: Family, after: Family) -> Judged:
        members = [_member(record) for record in after.members]
        failed = after.failed
        if failed is not None and failed.outcome is Outcome.TARGET_DIED:
            # Killed from outside, most likely: it must not count against the technique.
            raise BootFailed(f"{failed.run}: {failed.detail}", hint="go on with --resume: this boot alone is run again")
        if failed is not None:
            spread_ns = max(before.null_ns) - min(before.null_ns)
            return _judged(
                technique, members, spread_ns, Verdict.BROKE_IT.value, f"{failed.outcome.value}: {failed.detail}"
            )
        if self.wall:
            judgement = wall_verdict(before.ready_ns, after.ready_ns, seed=1)
        else:
            judgement = virtual_verdict(before.null_ns, before.ready_ns, after.ready_ns)
        proof = technique.prove(evidence_of(after.members[0]), evidence_of(before.members[0]))
        verdict, detail = judgement.verdict.value, ""
        if proof is Proof.NO_EFFECT:
            # Whatever moved the boot, it was not this knob.
            verdict, detail = Verdict.NO_DIFFERENCE_SHOWN.value, "the boot shows that the knob had no effect"
        return Judged.model_validate(
            {
                **dict(_judged(technique, members, judgement.spread_ns, verdict, detail)),
                "ready_ns": after.median.ready_ns,
                "saved_ns": judgement.saved_ns,
                "proof": proof.value,
                "phases": after.median.phases,
            }
        )


def _not_applied(technique: Technique, reason: str) -> Judged:
    return _judged(technique, [], 0, "does not apply", reason)


def _judged(technique: Technique, members: list[Member], spread_ns: int, verdict: str, detail: str) -> Judged:
    return Judged.model_validate(
        {
            "technique": technique.name,
            "layer": technique.layer.value,
            "risk": technique.risk.value,
            "ready_ns": None,
            "saved_ns": None,
            "spread_ns": spread_ns,
            "verdict": verdict,
            "proof": "",
            "detail": detail,
            "members": members,
            "phases": [],
        }
    )


def _step(judged: Judged, stack: str, start: _Place, place: _Place, retried: bool) -> Step:
    base_ns, ready_ns = start.family.median.ready_ns, place.family.median.ready_ns
    assert base_ns is not None and ready_ns is not None
    return Step.model_validate(
        {**dict(judged), "stack": stack, "total_saved_ns": base_ns - ready_ns, "retried": retried}
    )


def _baseline(family: Family) -> Baseline:
    record = family.median
    assert record.ready_ns is not None
    return Baseline(
        ready_ns=record.ready_ns,
        instructions=record.instructions,
        idle_ns=record.idle_ns,
        spread_ns=max(family.null_ns) - min(family.null_ns),
        members=[_member(item) for item in family.members],
        null_members=[_member(item, f"{NULL_WORD}={number}") for number, item in enumerate(family.null, 1)],
        phases=record.phases,
    )


def _member(record: BootRecord, change: str = "") -> Member:
    return Member(
        seed=record.seed,
        ready_ns=next(iter(ready_times([record])), None),
        instructions=record.instructions,
        idle_ns=record.idle_ns,
        outcome=record.outcome.value,
        run=record.run,
        change=change,
    )


def _slug(text: str) -> str:
    return text.replace(" ", "-")


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
