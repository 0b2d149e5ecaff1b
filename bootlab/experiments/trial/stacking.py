"""The stages of a trial after its baseline: each technique alone, the stacks or the ladder, and the ablation.

Two stacks are built, in the order of what each technique saved alone; one that learns from a boot comes behind those
that do not, since it learns of the system as it stands. `recommended` takes techniques without risk whose effect a boot
proves; `with risks` goes on from it with those that cost a function or a protection, by themselves or by what the
kernel loses with them here, and those that no boot proves. A technique that failed or did nothing alone is tried once
more on the finished stack, because techniques interact. A plan that keeps every step has one stack instead, the
`ladder`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bootlab.build.workshop import Tell
from bootlab.experiments.family import Family, expect_none_killed
from bootlab.experiments.family_boots import Contest, FamilyBoots
from bootlab.experiments.trial.ablation import Ablation
from bootlab.experiments.trial.applying import Changing, Ground
from bootlab.experiments.trial.judging import judge, row, step_of, unsteady
from bootlab.experiments.trial.result import Ablated, Judged, StackName, Step
from bootlab.experiments.trial.task import TrialTask
from bootlab.findings.technique_evidence import measured_of
from bootlab.measure.record import BootRecord
from bootlab.measure.statistics.series import spread_ns
from bootlab.system import System
from bootlab.techniques.model.evidence import Effect
from bootlab.techniques.model.technique import Risk, Technique
from bootlab.techniques.model.verdict import Verdict


class Stages:
    """What comes after the baseline, which is `base`. `steps` and `failed` are those of every stack so far."""

    def __init__(self, task: TrialTask, boots: FamilyBoots, base: Ground, tell: Tell) -> None:
        self.base = base
        self.steps: list[Step] = []
        self.failed: dict[tuple[str, ...], BootRecord] = {}
        """Techniques of a stack -> a boot of it that failed with a change that means nothing."""
        self._task = task
        self._techniques = task.by_name
        self._boots = boots
        self._tell = tell
        measured = measured_of(base.family.median, base.family.kernel_config)
        self._changing = Changing(boots, replace(measured, facts={**measured.facts, **task.facts}), tell)

    def all_alone(self) -> list[Judged]:
        """Return a row for each technique, put on the baseline by itself."""
        self._tell(f"each of {len(self._techniques)} techniques alone")
        changed = self._changing.each(list(self._techniques.values()), self.base)
        systems = {f"alone-{name}": one.system for name, one in changed.items() if one.system is not None}
        families = self._boots.contest(systems, self.base.family, self.base.system)
        judged = []
        for name, technique in self._techniques.items():
            if changed[name].system is None:
                judged.append(row(technique, changed[name].verdict, changed[name].detail))
            else:
                judged.append(self._judged(technique, self.base, families[f"alone-{name}"]))
        return judged

    def stacks(self, alone: Sequence[Judged]) -> dict[StackName, Ground]:
        """Return both finished stacks, given the rows of each technique alone."""
        order = list(alone) if not self._task.plan.by_gain else sorted(alone, key=self._turn)
        finished: dict[StackName, Ground] = {}
        ground = self.base
        for stack in (StackName.RECOMMENDED, StackName.WITH_RISKS):
            mine = [judged for judged in order if _safe(judged) is (stack is StackName.RECOMMENDED)]
            helped = [judged.technique for judged in mine if judged.verdict.saves]
            others = [judged.technique for judged in mine if not judged.verdict.saves]
            if stack is StackName.WITH_RISKS:
                # The risky ones change the ground: what did nothing on the recommended stack gets another chance.
                safe = [judged.technique for judged in order if _safe(judged)]
                others += [name for name in safe if name not in ground.techniques]
            self._tell(f"stack {stack}: {len(helped)} that helped, then {len(others)} tried again on it")
            ground = self._climb(ground, stack, helped)
            ground = self._try_again(ground, stack, others)
            finished[stack] = ground
        return finished

    def ladder(self) -> dict[StackName, Ground]:
        """Return the one stack of a plan that keeps every step."""
        self._tell(f"ladder: {len(self._techniques)} steps, each kept whatever it saves")
        ground = self.base
        for name, technique in self._techniques.items():
            judged, reached = self._one_step(ground, _label(StackName.LADDER, ground, name), name, kept=True)
            if judged is None:
                judged = row(technique, Verdict.DOES_NOT_APPLY, "it changes nothing here")
            elif judged.ready_ns is not None:
                ground = reached
            self._add_step(judged, StackName.LADDER, ground)
        return {StackName.LADDER: ground}

    def ablation(self, stacks: Mapping[StackName, Ground], alone: Sequence[Judged]) -> list[Ablated]:
        """Return what each technique contributes to each of the finished stacks, given its row alone."""
        ablation = Ablation(self._boots, self._changing, self.base, alone)
        rows: list[Ablated] = []
        done: list[tuple[str, ...]] = [()]
        for stack, whole in stacks.items():
            if whole.techniques in done:
                continue
            done.append(whole.techniques)
            self._tell(f"ablation of {stack}: {len(whole.techniques)} techniques left out, one at a time")
            whole = self._with_nulls(whole, f"{_slug(stack)}-whole", self._task.nulls)
            if whole.family.failed is not None:
                self.failed.setdefault(whole.techniques, whole.family.failed)
            rows += ablation.of(stack, [self._techniques[name] for name in whole.techniques], whole)
        return rows

    def _turn(self, judged: Judged) -> tuple[bool, bool, int]:
        # What a technique learned of the system holds until the next one changes it: those that learn come last.
        change = self._techniques[judged.technique].change
        return change.learns_places, change.learning is not None, -(judged.saved_ns or 0)

    def _climb(self, ground: Ground, stack: StackName, names: Sequence[str]) -> Ground:
        for name in names:
            label = _label(stack, ground, name)
            judged, reached = self._one_step(ground, label, name)
            if judged is None:
                continue
            if not _may_stand(judged, stack):
                judged = judged.model_copy(update={"detail": _why_not_here(judged)})
            elif judged.verdict.saves:
                reached = self._with_nulls(reached, label, 1)
                if reached.family.failed is None:
                    ground = reached
                else:
                    judged = unsteady(judged, reached.family.failed)
            self._add_step(judged, stack, ground)
        return ground

    def _one_step(self, ground: Ground, label: str, name: str, *, kept: bool = False) -> tuple[Judged | None, Ground]:
        """Return the row of `name` on `ground`, None if it changes nothing there, and where the stack would then be.

        `kept`: the next step stands on it whatever its verdict, so that every seed and its null change boot at once.
        """
        technique = self._techniques[name]
        changed = self._changing.one(technique, ground)
        if changed.system is None:
            return row(technique, changed.verdict, changed.detail), ground
        if changed.system == ground.system:
            return None, ground
        if kept and not self._boots.wall:
            family = self._boots.family(label, changed.system, nulls=1)
            booted = {label: (changed.system, family)}
            contest = self._boots.confirm(booted, ground.family, ground.system)[label]
        else:
            contest = self._boots.contest({label: changed.system}, ground.family, ground.system)[label]
        judged = self._judged(technique, ground, contest)
        return judged, self._ground(changed.system, contest[0], (*ground.techniques, name))

    def _try_again(self, ground: Ground, stack: StackName, names: Sequence[str]) -> Ground:
        """Take what helps on top of `ground`, the best first; a round of boots tries all at once, to find it."""
        if names:
            # Many are tried now and most do nothing: the spread must be known as well as the baseline's.
            ground = self._with_nulls(ground, f"{_slug(stack)}-{len(ground.techniques):02d}", self._task.nulls)
        waiting = list(names)
        while waiting:
            made = self._changing.each([self._techniques[name] for name in waiting], ground)
            changed = {
                name: one.system for name, one in made.items() if one.system is not None and one.system != ground.system
            }
            labels = {name: _label(stack, ground, name) for name in changed}
            contests = self._boots.contest(
                {labels[name]: system for name, system in changed.items()}, ground.family, ground.system
            )
            results = {name: self._judged(self._techniques[name], ground, contests[labels[name]]) for name in changed}
            helped = [one for one in results.values() if one.verdict.saves and _may_stand(one, stack)]
            if not helped:
                break
            best = max(helped, key=lambda judged: judged.saved_ns or 0)
            name = best.technique
            reached = self._ground(changed[name], contests[labels[name]][0], (*ground.techniques, name))
            reached = self._with_nulls(reached, labels[name], self._task.nulls)
            if reached.family.failed is None:
                ground, judged = reached, best
            else:
                judged = unsteady(best, reached.family.failed)
            self._add_step(judged, stack, ground, retried=True)
            # The next round keeps only those that might still help: the others were settled in this one.
            waiting = [judged.technique for judged in helped if judged is not best]
        return ground

    def _judged(self, technique: Technique, ground: Ground, contest: Contest) -> Judged:
        family, before = contest
        if before.failed is not None:
            self.failed.setdefault(ground.techniques, before.failed)
        return judge(technique, before, family, wall=self._boots.wall)

    def _ground(self, system: System, family: Family, techniques: tuple[str, ...]) -> Ground:
        # A stack is known by few boots: the baseline's noise is taken to be the least that it may have.
        base_ns = spread_ns(self.base.family.unchanged_ns)
        return Ground(system, replace(family, known_ns=base_ns), techniques)

    def _add_step(self, judged: Judged, stack: StackName, ground: Ground, *, retried: bool = False) -> None:
        self.steps.append(step_of(judged, stack, self.base.family, ground.family, retried=retried))

    def _with_nulls(self, ground: Ground, label: str, nulls: int) -> Ground:
        family = self._boots.with_nulls(ground.family, label, ground.system, nulls)
        expect_none_killed(family)
        return replace(ground, family=family)


def _safe(judged: Judged) -> bool:
    return judged.risk == Risk.NONE and judged.proof != Effect.NOT_SHOWN


def _may_stand(judged: Judged, stack: StackName) -> bool:
    # On this ground it may take more along than alone, and a proof may show on the baseline only.
    return stack is not StackName.RECOMMENDED or _safe(judged)


def _why_not_here(judged: Judged) -> str:
    if judged.risk == Risk.NONE or not judged.also_lost:
        return judged.detail
    return f"here the kernel loses {', '.join(judged.also_lost)} with it, which is no part of this stack"


def _label(stack: StackName, ground: Ground, name: str) -> str:
    return f"{_slug(stack)}-{len(ground.techniques):02d}-{name}"


def _slug(text: str) -> str:
    return text.replace(" ", "-")
