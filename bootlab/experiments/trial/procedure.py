"""Try techniques on a system: each alone against the baseline, then stacked, every step measured again and checked."""

import time
from collections.abc import Sequence

from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed
from bootlab.experiments.chance import find_chances
from bootlab.experiments.engine import Engine
from bootlab.experiments.family import expect_none_killed
from bootlab.experiments.family_boots import FamilyBoots, wall_clock
from bootlab.experiments.trial.applying import Ground
from bootlab.experiments.trial.judging import baseline_of, finished_of
from bootlab.experiments.trial.result import StackName, TrialCost, TryResult
from bootlab.experiments.trial.stacking import Stages
from bootlab.experiments.trial.task import TrialTask
from bootlab.experiments.verdict import WRONG
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System


class Trial:
    """One `bootlab try`. The workshop tells when a stage begins, or a kernel is built."""

    def __init__(self, shop: Workshop, system: System, task: TrialTask, engine: Engine) -> None:
        self._system = system
        self._task = task
        self.engine = engine
        self._tell = shop.tell
        self._boots = FamilyBoots(engine, shop, task.seeds, wall=wall_clock(system), watch=task.watch)
        self.reached: dict[StackName, System] = {}
        """After `run`: the system that each finished stack makes."""

    def run(self) -> TryResult:
        """Measure everything and return the result.

        Raises BootFailed when the baseline itself does not boot, or a machine was killed from outside.
        """
        began = time.monotonic()
        system, task = self._system, self._task
        stages = Stages(task, self._boots, self._baseline(), self._tell)
        alone = stages.all_alone() if task.alone else []
        stacks: dict[StackName, Ground] = {}
        if task.stack:
            stacks = stages.ladder() if task.plan.keep_all else stages.stacks(alone)
        ablation = stages.ablation(stacks, alone) if task.ablation else []
        self.reached = {name: stack.system for name, stack in stacks.items()}
        base = stages.base.family
        return TryResult(
            system=system.name,
            clock=system.clock.kind.value,
            ns_per_instruction=base.median.ns_per_instruction,
            cpu=system.machine.cpu,
            seeds=self._boots.seeds,
            plan=task.plan.name,
            baseline=baseline_of(base),
            alone=alone,
            stack=stages.steps,
            final={
                name: finished_of(base, stack.family, stack.techniques, stages.failed.get(stack.techniques))
                for name, stack in stacks.items()
            },
            ablation=ablation,
            storage=system.storage,
            price=base.median.price,
            board_model=system.board_model,
            cost=self._cost(began),
            from_mark=None if self.engine.from_mark is None else self.engine.from_mark.result(),
            chances=[] if self._boots.wall else find_chances(base.members),
            wrong=WRONG["wall" if self._boots.wall else "virtual"],
            hashes=base.median.hashes,
            host=base.median.host,
            baseline_run=base.median.run,
            run=str(self.engine.run.path),
        )

    def _baseline(self) -> Ground:
        nulls = self._task.nulls
        self._tell(f"baseline: seeds {_list(self._boots.seeds)} and {nulls} null changes")
        prepared = self._boots.prepare(self._system, "baseline")
        if self.engine.from_mark is not None:
            # Before any boot: what cannot be kept is a mistake of the file, or of the option.
            prepared.expect_beginning(self.engine.from_mark.mark)
        family = self._boots.family("baseline", self._system, nulls=nulls, keeps=True)
        expect_none_killed(family)
        if family.failed is not None:
            raise _bad_baseline(self._system, family.failed)
        return Ground(self._system, family)

    def _cost(self, began: float) -> TrialCost:
        engine, boots, elapsed_s = self.engine, self._boots, time.monotonic() - began
        building_s = boots.build_s - boots.overlap_s
        return TrialCost(
            built=boots.built,
            build_s=round(boots.build_s, 1),
            boots=engine.boots,
            qemu_s=round(engine.qemu_s, 1),
            booting_s=round(engine.booting_s, 1),
            parallel=1 if boots.wall else engine.parallel,
            elapsed_s=round(elapsed_s, 1),
            per_qemu=round((elapsed_s - building_s) / engine.qemu_s, 3) if engine.qemu_s else None,
        )


def _bad_baseline(system: System, record: BootRecord) -> BootFailed:
    hint = f"its console is {record.run}/console.log"
    if record.outcome is Outcome.CHECK_FAILED:
        return BootFailed(
            f"{system.name}: the baseline boots, but already fails its check, with nothing changed: {record.detail}",
            hint=f"{hint}; mend the system or its [check] first: it decides what breaks a system",
        )
    return BootFailed(f"{system.name}: the baseline does not boot: {record.outcome.value}: {record.detail}", hint=hint)


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
