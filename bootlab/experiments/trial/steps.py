"""Try techniques on a system: each alone against the baseline, then stacked, every step measured again and checked.

Two stacks are built. `recommended` takes techniques without risk; `with risks` goes on from it with those that cost a
function or a protection. A technique that failed or did nothing alone is tried once more on the finished stack, because
techniques interact. A plan that keeps every step has one stack instead, the `ladder`.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed
from bootlab.experiments.engine import Engine
from bootlab.experiments.family import DEFAULT_NULLS, Family
from bootlab.experiments.family_boots import FamilyBoots, wall_clock
from bootlab.experiments.trial.ablation import ablate
from bootlab.experiments.trial.changing import Changing
from bootlab.experiments.trial.judging import baseline_of, finished_of, judge, row, step_of
from bootlab.experiments.trial.plan import Plan
from bootlab.experiments.trial.result import Ablated, Finished, Judged, StackName, Step, TrialCost, TryResult
from bootlab.findings.evidence import measured_of
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System
from bootlab.techniques.model.technique import Risk, Technique
from bootlab.techniques.model.verdict import Verdict


@dataclass(slots=True)
class _Place:
    """Where a stack stands: the system so far, its boots, what is in it."""

    system: System
    family: Family
    techniques: list[str] = field(default_factory=list)


class Trial:
    """One `bootlab try`. The workshop tells when a stage begins, or a kernel is built.

    `facts`: what an audit gives techniques, besides what the baseline measures. Without `stack` nothing is stacked;
    without `alone`, which takes a plan that keeps every step, its ladder is climbed and nothing else. With `ablation`
    each technique of a finished stack is left out of it once.
    """

    def __init__(
        self,
        system: System,
        techniques: Sequence[Technique],
        plan: Plan,
        *,
        engine: Engine,
        shop: Workshop,
        seeds: Sequence[int],
        nulls: int = DEFAULT_NULLS,
        alone: bool = True,
        stack: bool = True,
        ablation: bool = False,
        facts: Mapping[str, str] | None = None,
    ) -> None:
        self.system = system
        self.techniques = {technique.name: technique for technique in techniques}
        self.plan = plan
        self.engine = engine
        self.seeds = list(seeds)
        self.nulls = nulls
        self.alone = alone
        self.stack = stack
        self.ablation = ablation
        self.facts = dict(facts or {})
        self.note = shop.tell
        self.wall = wall_clock(system)
        watch = tuple(sorted({symbol for technique in techniques for symbol in technique.proof.watch}))
        self.boots = FamilyBoots(engine, shop, self.seeds, wall=self.wall, watch=watch)
        self.steps: list[Step] = []

    def run(self) -> TryResult:
        """Measure everything and return the result. Raises BootFailed when the baseline itself does not boot."""
        began = time.monotonic()
        self.note(f"baseline: seeds {_list(self.seeds)} and {self.nulls} null changes")
        self.boots.prepare(self.system, "baseline")
        base = self.boots.family("baseline", self.system, nulls=self.nulls)
        if base.failed is not None:
            raise _bad_baseline(self.system, base.failed)
        start = _Place(self.system, base)
        measured = measured_of(base.median, base.kernel_config)
        measured = replace(measured, facts={**measured.facts, **self.facts})
        changing = Changing(self.boots, measured, self.note)
        alone = self._all_alone(start, changing) if self.alone else []
        places: dict[StackName, _Place] = {}
        if self.stack:
            places = self._ladder(start, changing) if self.plan.keep_all else self._stacks(start, changing, alone)
        ablation = self._ablation(start, changing, places, alone) if self.ablation else []
        return TryResult(
            system=self.system.name,
            clock=self.system.clock.kind.value,
            ns_per_instruction=base.median.ns_per_instruction,
            cpu=self.system.machine.cpu,
            seeds=self.seeds,
            plan=self.plan.name,
            baseline=baseline_of(base),
            alone=alone,
            stack=self.steps,
            final={stack: self._finished(start, place) for stack, place in places.items()},
            ablation=ablation,
            storage=self.system.storage,
            board_model=self.system.board_model,
            cost=self._cost(began),
            hashes=base.median.hashes,
            host=base.median.host,
            baseline_run=base.median.run,
            run=str(self.engine.run.path),
        )

    def _all_alone(self, start: _Place, changing: Changing) -> list[Judged]:
        self.note(f"each of {len(self.techniques)} techniques alone")
        changed = changing.each(list(self.techniques.values()), start.system, start.family)
        systems = {f"alone-{name}": one.system for name, one in changed.items() if one.system is not None}
        families = self.boots.contest(systems, start.family, start.system)
        judged = []
        for name, technique in self.techniques.items():
            if changed[name].system is None:
                judged.append(row(technique, changed[name].verdict, changed[name].detail))
            else:
                family, before = families[f"alone-{name}"]
                judged.append(judge(technique, before, family, wall=self.wall))
        return judged

    def _stacks(self, start: _Place, changing: Changing, alone: Sequence[Judged]) -> dict[StackName, _Place]:
        order = list(alone) if not self.plan.by_gain else sorted(alone, key=lambda item: -(item.saved_ns or 0))
        places: dict[StackName, _Place] = {}
        place = start
        for stack, wanted in (
            (StackName.RECOMMENDED, (Risk.NONE,)),
            (StackName.WITH_RISKS, (Risk.FUNCTION, Risk.SECURITY)),
        ):
            mine = [judged for judged in order if self.techniques[judged.technique].text.risk in wanted]
            helped = [judged.technique for judged in mine if judged.verdict is Verdict.FASTER]
            others = [judged.technique for judged in mine if judged.verdict is not Verdict.FASTER]
            if stack is StackName.WITH_RISKS:
                # The risky ones change the ground: what did nothing on the recommended stack gets another chance.
                safe = [
                    judged.technique for judged in order if self.techniques[judged.technique].text.risk is Risk.NONE
                ]
                others += [name for name in safe if name not in place.techniques]
            self.note(f"stack {stack}: {len(helped)} that helped, then {len(others)} tried again on it")
            place = self._climb(place, stack, helped, changing, start)
            place = self._try_again(place, stack, others, changing, start)
            places[stack] = place
        return places

    def _climb(
        self, place: _Place, stack: StackName, names: Sequence[str], changing: Changing, start: _Place
    ) -> _Place:
        for name in names:
            label = f"{_slug(stack)}-{len(place.techniques):02d}-{name}"
            judged, reached = self._one_step(place, label, name, changing)
            if judged is None:
                continue
            if judged.verdict is Verdict.FASTER:
                place = self._with_nulls(reached, label, 1)
            self.steps.append(step_of(judged, stack, start.family, place.family, retried=False))
        return place

    def _ladder(self, start: _Place, changing: Changing) -> dict[StackName, _Place]:
        self.note(f"ladder: {len(self.techniques)} steps, each kept whatever it saves")
        place = start
        for name, technique in self.techniques.items():
            label = f"{StackName.LADDER}-{len(place.techniques):02d}-{name}"
            judged, reached = self._one_step(place, label, name, changing, kept=True)
            if judged is None:
                judged = row(technique, Verdict.DOES_NOT_APPLY, "it changes nothing here")
            elif judged.ready_ns is not None:
                place = reached
            self.steps.append(step_of(judged, StackName.LADDER, start.family, place.family, retried=False))
        return {StackName.LADDER: place}

    def _one_step(
        self, place: _Place, label: str, name: str, changing: Changing, *, kept: bool = False
    ) -> tuple[Judged | None, _Place]:
        """Return the row of `name` on `place`, None if it changes nothing there, and where the stack would then be.

        `kept`: the next step stands on it whatever its verdict, so that every seed and its null change boot at once.
        """
        technique = self.techniques[name]
        changed = changing.one(technique, place.system, place.family)
        if changed.system is None:
            return row(technique, changed.verdict, changed.detail), place
        if changed.system == place.system:
            return None, place
        if kept and not self.wall:
            family, before = self.boots.family(label, changed.system, nulls=1), place.family
        else:
            family, before = self.boots.contest({label: changed.system}, place.family, place.system)[label]
        judged = judge(technique, before, family, wall=self.wall)
        return judged, _Place(changed.system, family, [*place.techniques, name])

    def _try_again(
        self, place: _Place, stack: StackName, names: Sequence[str], changing: Changing, start: _Place
    ) -> _Place:
        """Take what helps on top of `place`, the best first; a round of boots tries all at once, to find it."""
        if names:
            # Many are tried now and most do nothing: the spread must be known as well as the baseline's.
            place = self._with_nulls(place, f"{_slug(stack)}-{len(place.techniques):02d}", self.nulls)
        waiting = list(names)
        while waiting:
            made = changing.each([self.techniques[name] for name in waiting], place.system, place.family)
            changed = {
                name: one.system for name, one in made.items() if one.system is not None and one.system != place.system
            }
            labels = {name: f"{_slug(stack)}-{len(place.techniques):02d}-{name}" for name in changed}
            contests = self.boots.contest(
                {labels[name]: system for name, system in changed.items()}, place.family, place.system
            )
            results = {}
            for name in changed:
                family, before = contests[labels[name]]
                results[name] = judge(self.techniques[name], before, family, wall=self.wall)
            helped = [judged for judged in results.values() if judged.verdict is Verdict.FASTER]
            if not helped:
                break
            best = max(helped, key=lambda judged: judged.saved_ns or 0)
            name = best.technique
            reached = _Place(changed[name], contests[labels[name]][0], [*place.techniques, name])
            place = self._with_nulls(reached, labels[name], self.nulls)
            self.steps.append(step_of(best, stack, start.family, place.family, retried=True))
            # The next round keeps only those that might still help: the others were settled in this one.
            waiting = [judged.technique for judged in helped if judged is not best]
        return place

    def _ablation(
        self, start: _Place, changing: Changing, places: dict[StackName, _Place], alone: Sequence[Judged]
    ) -> list[Ablated]:
        rows: list[Ablated] = []
        done: list[list[str]] = [[]]
        by_name = {judged.technique: judged for judged in alone}
        for stack, place in places.items():
            if place.techniques in done:
                continue
            done.append(place.techniques)
            self.note(f"ablation of {stack}: {len(place.techniques)} techniques left out, one at a time")
            place = self._with_nulls(place, f"{_slug(stack)}-whole", self.nulls)
            rows += ablate(
                stack,
                [self.techniques[name] for name in place.techniques],
                (place.system, place.family),
                (start.system, start.family),
                by_name,
                boots=self.boots,
                changing=changing,
            )
        return rows

    def _with_nulls(self, place: _Place, label: str, nulls: int) -> _Place:
        family = self.boots.with_nulls(place.family, label, place.system, nulls)
        return _Place(place.system, family, place.techniques)

    def _finished(self, start: _Place, place: _Place) -> Finished:
        return finished_of(start.family, place.family, place.techniques)

    def _cost(self, began: float) -> TrialCost:
        engine, elapsed_s = self.engine, time.monotonic() - began
        return TrialCost(
            built=self.boots.built,
            build_s=round(self.boots.build_s, 1),
            boots=engine.boots,
            qemu_s=round(engine.qemu_s, 1),
            booting_s=round(engine.booting_s, 1),
            parallel=1 if self.wall else engine.parallel,
            elapsed_s=round(elapsed_s, 1),
            per_qemu=round((elapsed_s - self.boots.build_s) / engine.qemu_s, 3) if engine.qemu_s else None,
        )


def _bad_baseline(system: System, record: BootRecord) -> BootFailed:
    hint = f"its console is {record.run}/console.log"
    if record.outcome is Outcome.CHECK_FAILED:
        return BootFailed(
            f"{system.name}: the baseline boots, but already fails its check, with nothing changed: {record.detail}",
            hint=f"{hint}; mend the system or its [check] first: it decides what breaks a system",
        )
    return BootFailed(f"{system.name}: the baseline does not boot: {record.outcome.value}: {record.detail}", hint=hint)


def _slug(text: str) -> str:
    return text.replace(" ", "-")


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
