"""Fits a kernel to its job: boots it with coverage, cuts, builds, boots, checks, and again until nothing more goes.

Every kernel on the way is built once and kept, every boot on record is used again: a run that was interrupted goes on
by doing the same again. What a boot or its check fails without is found by halving, and stays with the reason.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from bootlab.build.kernel.build import BuiltKernel
from bootlab.build.kernel.calls import CALLS_READ_OF, NamedCalls
from bootlab.build.kernel.objects import MAP_OPTION, KernelObjects, read_objects
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.experiments.comparing import Comparison, compare_series
from bootlab.experiments.engine import Engine, find_finished_boot
from bootlab.experiments.family import Family, expect_none_killed, expect_not_killed
from bootlab.experiments.family_boots import FamilyBoots
from bootlab.experiments.store import Run
from bootlab.experiments.tailor.attempts import Attempt, Attempts, find_attempts
from bootlab.experiments.tailor.code_cost import CodeCosts
from bootlab.experiments.tailor.ifdef_use import find_guarded
from bootlab.experiments.tailor.kept_searches import Searches
from bootlab.experiments.tailor.kernel_use import KernelUse, find_use
from bootlab.experiments.tailor.kernels import Kernels
from bootlab.experiments.tailor.protected import Policy
from bootlab.experiments.tailor.reasons import Needed, every_followed, every_kept
from bootlab.experiments.tailor.tailored import Tailored, TailorStep
from bootlab.experiments.tailor.unused_options import Cut, Drop, KernelEvidence, find_cut
from bootlab.experiments.tailor.values import TriedValue, Value, find_change
from bootlab.experiments.verdict import exceeds_spread
from bootlab.findings.analysis import read_recorded
from bootlab.measure import boot as one_boot
from bootlab.measure.place import BootPlace
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.statistics.series import spread_ns
from bootlab.profile.asked.request import ProfileRequest
from bootlab.profile.recorded.profile import Profile
from bootlab.system import ClockKind, KernelBuild, System

AS_IT_IS: Final = "as it is"
SEEDS: Final = (1, 2, 3)
NULLS: Final = 3
_PATIENCE: Final = 4.0
"""A profiled boot takes longer than a plain one."""


def expect_tailorable(system: System) -> KernelBuild:
    """Return how the system's kernel is built. Raises InputError for a system that cannot be tailored."""
    if system.kernel.build is None:
        raise InputError(
            "kernel.build: tailoring builds kernels, and this one comes as it is",
            hint="[kernel.build] with config_package names a Debian kernel's configuration: docs/building.md",
        )
    if system.machine.arch not in CALLS_READ_OF:
        raise InputError(
            f"machine: a kernel for {system.machine.arch} cannot be tailored: its calls cannot be read",
            hint=f"known here: {', '.join(CALLS_READ_OF)}",
        )
    if system.check is None:
        raise InputError(
            "check: without one, everything would look unused",
            hint="[check] with what the system is for: docs/tailoring.md",
        )
    if system.clock.kind is not ClockKind.VIRTUAL:
        raise InputError(
            "clock.kind: coverage is exact on the virtual clock only", hint='clock.kind = "virtual" in the system file'
        )
    return system.kernel.build


@dataclass(frozen=True)
class _KernelState:
    """A kernel that does its job, and what its record used of it."""

    drops: tuple[Drop, ...]
    system: System
    kernel: BuiltKernel
    look: "_Look"
    ready_ns: int


class _Look:
    """A profiled boot, with the parts of the kernel that it used and their cost, read when asked for."""

    def __init__(self, kernel: BuiltKernel, objects: Path, record: BootRecord, directory: Path) -> None:
        self._kernel = kernel
        self._objects = objects
        self._directory = directory
        self.record = record

    @cached_property
    def use(self) -> KernelUse:
        return find_use(self._profile, self._addresses, self._parts)

    @cached_property
    def costs(self) -> CodeCosts:
        named_calls = NamedCalls(self._kernel.vmlinux, self._addresses)
        return CodeCosts(self._profile, self._addresses, self._parts, named_calls)

    @cached_property
    def _recorded(self) -> tuple[Profile, list[tuple[int, str, str]]]:
        return read_recorded(self.record, self._directory)

    @property
    def _profile(self) -> Profile:
        return self._recorded[0]

    @cached_property
    def _addresses(self) -> list[int]:
        return [address for address, _, _ in self._recorded[1]]

    @cached_property
    def _parts(self) -> KernelObjects:
        return read_objects(self._objects)


class Tailoring:
    """One tailoring, in one run. `builds`: how many kernels may be built, with the first; `place`: where they boot."""

    def __init__(
        self, shop: Workshop, system: System, run: Run, policy: Policy, *, builds: int, place: BootPlace | None = None
    ) -> None:
        engine = Engine(run, place=place, reuse=True)
        self._shop = engine.furnish(shop)
        self._system = system
        self._run = run
        self._policy = policy
        self._builds = builds
        self._boots = FamilyBoots(engine, shop, SEEDS, wall=False)
        self._searches = Searches(run.path / "searches")
        self._steps = list[TailorStep]()
        self._needed = list[Needed]()
        self._untried = list[str]()
        self._spread_ns = 0
        self._before: tuple[_KernelState, Family] | None = None

    def tailor(self, values: Sequence[Value] = ()) -> Tailored:
        """Return the tailored system. `values`: those to be tried in the end, one by one.

        Raises InputError for a system that cannot be tailored, or whose check is flaky, and for a value that its option
        never has; BootFailed when a machine was killed from outside.
        """
        build = expect_tailorable(self._system)
        self._kernels = Kernels(self._shop, self._system, build, values)
        rich = self._kernels.with_options({})
        self._kernels.first(rich, AS_IT_IS)
        before = self._steady(rich)
        self._spread_ns = spread_ns(before.unchanged_ns)
        state = self._first(rich)
        first = self._kernels.tree(_config(state.kernel))
        cut, trials = self._looked(state)
        number = 0
        while (suspects := _suspects(cut, trials)) and not self._spent:
            number += 1
            settled = self._settle(state, suspects, f"cut {number}")
            if settled.drops == state.drops:
                break
            state = settled
            cut, trials = self._looked(state)
        self._untried += [drop.option for drop in _suspects(cut, trials)]
        state = self._alone(state, trials.alone)
        state, tried = self._valued(state, values)
        after = self._boots.family("tailored", state.system, nulls=0)
        expect_none_killed(after)
        if after.failed is None:
            after, before = self._boots.confirm({"tailored": (state.system, after)}, before, rich)["tailored"]
            expect_none_killed(after)
            expect_none_killed(before)
        on_after = self._kernels.tree(_config(state.kernel)).on
        return Tailored(
            system=state.system,
            rich=rich,
            drops=state.drops,
            followed=every_followed(first, on_after, state.drops),
            kept=every_kept(on_after, cut.kept, self._needed, state.drops),
            trials=(*trials.at_once, *trials.alone),
            steps=tuple(self._steps),
            needed=tuple(self._needed),
            untried=tuple(dict.fromkeys(self._untried)),
            values=tried,
            kernel=state.kernel,
            on_before=first.on,
            on_after=on_after,
            comparison=compare_series(before, after),
        )

    @property
    def _spent(self) -> bool:
        return self._kernels.count >= self._builds

    def _steady(self, system: System) -> Family:
        """Return the boots of the system as it is. Raises InputError when its check fails, always or now and then."""
        family = self._boots.family("steady", system, nulls=NULLS)
        expect_none_killed(family)
        boots = family.boots
        failed = [record for record in boots if record.outcome is not Outcome.READY]
        if len(failed) == len(boots):
            raise InputError(
                f"check: fails before anything was dropped: {_words(failed[0])}",
                hint="bootlab boot shows the console; the check must pass on the kernel as it is",
            )
        if failed:
            raise InputError(
                f"check: flaky: {len(failed)} of {len(boots)} boots that differ in nothing that matters failed: "
                f"{_words(failed[0])}",
                hint="a check that fails by itself would blame whatever was dropped last",
            )
        return family

    def _first(self, rich: System) -> _KernelState:
        kernel = self._kernels.first(rich, AS_IT_IS)
        record, look = self._profiled(rich, kernel, AS_IT_IS)
        self._note(AS_IT_IS, 0, kernel, record)
        if record.outcome is not Outcome.READY:
            raise InputError(f"the profiled boot failed where a plain one did not: {_words(record)}")
        self._rich_config = _config(kernel)
        return _KernelState((), rich, kernel, look, record.judged_ns or 0)

    def _profiled(self, system: System, kernel: BuiltKernel, label: str) -> tuple[BootRecord, _Look]:
        if kernel.objects is None:
            raise InputError(f"kernel.build: its linker wrote no map: {MAP_OPTION} must stay on")
        prepared = prepare(self._shop, system, profile=ProfileRequest())
        directory = self._run.path / "boots" / f"profiled-{label.replace(' ', '-')}"
        record = find_finished_boot(directory, prepared)
        if record is None:
            self._shop.tell(f"{label}: booting with the profile on")
            record = one_boot.boot(prepared, self._run.boot_directory(directory.name), patience=_PATIENCE)
            expect_not_killed(record)
        return record, _Look(kernel, kernel.objects, record, directory)

    def _looked(self, state: _KernelState) -> tuple[Cut, Attempts]:
        """Return what can go at once, and what could on top of that."""
        needed = [one.option for one in self._needed]
        # What the run was asked is the same when it goes on; so is a kernel and its record, if nothing has changed.
        decides = [state.kernel.vmlinux.parent.name, state.look.record.key, needed, bool(state.drops)]
        return self._searches.find(decides, lambda: self._look(state, needed))

    def _look(self, state: _KernelState, needed: Sequence[str]) -> tuple[Cut, Attempts]:
        self._shop.tell("looking for what can go")
        use, costs = state.look.use, state.look.costs
        guarded = find_guarded(use, self._kernels.source.tree)
        evidence = KernelEvidence(self._kernels.makefiles, use, guarded, self._policy, needed=needed)
        tree = self._kernels.tree(_config(state.kernel))
        cut = find_cut(tree, evidence, ways=costs.ways)
        if cut.drops and not state.drops:
            # What runs for nobody hides what the rest is worth: the first cut takes only what the job did not use.
            return cut, Attempts((), ())
        return cut, find_attempts(tree, evidence, costs)

    def _settle(self, state: _KernelState, suspects: Sequence[Drop], label: str) -> _KernelState:
        """Return the state without those of `suspects` that can go, found by halving where all cannot go at once."""
        if self._spent:
            self._untried += [drop.option for drop in suspects]
            return state
        outcome = self._try((*state.drops, *suspects), label, state.ready_ns)
        if isinstance(outcome, _KernelState):
            return outcome
        if len(suspects) == 1:
            self._needed.append(Needed(suspects[0].option, outcome))
            return state
        if named := _named(outcome, suspects):
            self._needed += [Needed(option, outcome) for option in sorted(named)]
            left = [drop for drop in suspects if not named & {drop.option, *drop.lost}]
            return self._settle(state, left, f"{label}, {' '.join(sorted(named))} kept")
        # What ran latest is the likeliest culprit: it comes last, and the half before it most likely goes at once.
        ordered = sorted(suspects, key=lambda drop: (drop.use, drop.option))
        middle = len(ordered) // 2
        state = self._settle(state, ordered[:middle], f"{label}.1")
        return self._settle(state, ordered[middle:], f"{label}.2")

    def _try(self, drops: tuple[Drop, ...], label: str, before_ns: int) -> _KernelState | str:
        """Return the state without `drops`, or why a kernel without them does not do."""
        granted = self._kernels.granted(self._rich_config, drops)
        system = self._kernels.with_options({drop.option: drop.value for drop in granted})
        kernel = self._kernels.build(system, label)
        if isinstance(kernel, str):
            self._steps.append(TailorStep(label, len(granted), 0, False, kernel, None, 0, 0.0, False))
            return kernel
        record, look = self._profiled(system, kernel, label)
        self._note(label, len(granted), kernel, record)
        if record.outcome is not Outcome.READY:
            return _words(record)
        took_ns = record.judged_ns or 0
        if exceeds_spread(took_ns - before_ns, self._spread_ns):
            # What came on in the place of something else may cost more than that did.
            return f"longer: {_ready_words(record)}, {before_ns / 1e6:.2f} before"
        return _KernelState(granted, system, kernel, look, took_ns)

    def _alone(self, state: _KernelState, candidates: Sequence[Attempt]) -> _KernelState:
        """Try options that change code inside of objects that stay, one by one, most instructions first."""
        for candidate in candidates:
            option = candidate.option
            if self._spent:
                self._untried.append(option)
                continue
            label = f"{'with' if candidate.value == 'y' else 'without'} {option}"
            outcome = self._compared(state, candidate.drop, label)
            if isinstance(outcome, str):
                self._needed.append(Needed(option, outcome))
            elif outcome[1].verdict.saves:
                state = outcome[0]
        return state

    def _valued(self, state: _KernelState, values: Sequence[Value]) -> tuple[_KernelState, tuple[TriedValue, ...]]:
        """Try values one by one in their order; a value that saves stays."""
        tried = []
        for value in values:
            tree = self._kernels.tree(_config(state.kernel))
            before = tree.value(value.option)
            change = find_change(tree, value, self._policy)
            if isinstance(change, str):
                tried.append(TriedValue(value.option, value.value, before, False, None, change))
                continue
            if self._spent:
                self._untried.append(str(value))
                continue
            outcome = self._compared(state, change, f"with {value}")
            if isinstance(outcome, str):
                tried.append(TriedValue(value.option, value.value, before, False, None, outcome))
                continue
            after, comparison = outcome
            stays = comparison.verdict.saves
            if stays:
                state = after
            tried.append(TriedValue(value.option, value.value, before, stays, comparison.saved_ns, comparison.detail))
        return state, tuple(tried)

    def _compared(self, state: _KernelState, drop: Drop, label: str) -> tuple[_KernelState, Comparison] | str:
        """Return the state with one more change, and what plain boots of both say; or why there is no such state."""
        outcome = self._try((*state.drops, drop), label, state.ready_ns)
        if isinstance(outcome, str):
            return outcome
        if self._before is None or self._before[0] is not state:
            # Boots on record are found by what they are of, and one state has one configuration.
            before = self._boots.family(f"before-{drop.option}", state.system, nulls=NULLS)
            expect_none_killed(before)
            self._before = state, before
        slug = label.replace(" ", "-")
        after = self._boots.family(slug, outcome.system, nulls=0)
        expect_none_killed(after)
        booted = {slug: (outcome.system, after)}
        # Null builds of each kernel on the way would take longer than the tailoring itself.
        after, against = self._boots.confirm(booted, self._before[1], state.system, null_builds=False)[slug]
        expect_none_killed(after)
        expect_none_killed(against)
        if after.failed is not None:
            return _words(after.failed)
        if against.failed is not None:
            return f"the kernel before it failed: {_words(against.failed)}"
        return outcome, compare_series(against, after)

    def _note(self, label: str, dropped: int, kernel: BuiltKernel, record: BootRecord) -> None:
        on = sum(value in ("y", "m") for value in kernel.options.values())
        ready = record.outcome is Outcome.READY
        size = record.sizes.get("kernel", 0)
        detail = "" if ready else _words(record)
        price_ns = None if record.price is None else record.price.total_ns
        step = TailorStep(
            label, dropped, on, ready, detail, record.ready_ns, size, kernel.seconds, kernel.from_cache, price_ns
        )
        self._steps.append(step)
        self._shop.tell(f"{label}: {on} options on, {size:,} bytes, {detail or _ready_words(record)}")


def _ready_words(record: BootRecord) -> str:
    if record.price is not None:
        return f"ready, {record.price.total_ns / 1e6:.2f} ms price under {record.price.model}"
    return f"ready at {(record.ready_ns or 0) / 1e6:.2f} ms"


def _suspects(cut: Cut, trials: Attempts) -> tuple[Drop, ...]:
    return (*cut.drops, *(trial.drop for trial in trials.at_once))


def _named(detail: str, suspects: Sequence[Drop]) -> set[str]:
    """Return which dropped options the cause of a failure names: some failures are known (measure.causes)."""
    gone = {option for drop in suspects for option in (drop.option, *drop.lost)}
    return gone & set(re.findall(r"CONFIG_(\w+)", detail))


def _words(record: BootRecord) -> str:
    return f"{record.outcome.value}: {record.detail}"


def _config(kernel: BuiltKernel) -> str:
    return kernel.config.read_text(encoding="utf-8")
