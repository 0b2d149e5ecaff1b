"""Fits a kernel to its job: boots it with coverage, cuts, builds, boots, checks, and again until nothing more goes.

Every kernel on the way is built once and kept, every boot on record is used again: a run that was interrupted goes on
by doing the same again. What a boot or its check fails without is found by halving, and stays with the reason.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from pydantic import TypeAdapter

from bootlab.build.kernel.calls import CALLS_READ_OF
from bootlab.build.source.config_text import parse_config
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.experiments.engine import Engine
from bootlab.experiments.family_boots import FamilyBoots
from bootlab.experiments.store import Run
from bootlab.experiments.tailor.attempts import Attempt, Attempts, find_attempts
from bootlab.experiments.tailor.grown_code import GrownCode, find_grown, find_suspects, uncompiled_words
from bootlab.experiments.tailor.ifdef_use import find_guarded
from bootlab.experiments.tailor.kept_searches import Searches
from bootlab.experiments.tailor.kernel_trials import KernelTrials
from bootlab.experiments.tailor.kernels import Kernels
from bootlab.experiments.tailor.look import KernelState
from bootlab.experiments.tailor.protected import Policy
from bootlab.experiments.tailor.reasons import Needed, every_followed, every_kept
from bootlab.experiments.tailor.tailored import Tailored
from bootlab.experiments.tailor.unused_options import Cut, Drop, KernelEvidence, find_cut
from bootlab.experiments.tailor.values import TriedValue, Value, find_change
from bootlab.measure.place import BootPlace
from bootlab.system import ClockKind, KernelBuild, System

SEEDS: Final = (1, 2, 3)
_FOUND: Final = TypeAdapter(tuple[Cut, Attempts])
_GROWN: Final = TypeAdapter(tuple[GrownCode, ...])


def expect_tailorable(system: System) -> KernelBuild:
    """Return how the system's kernel is built. Raises InputError for a system that cannot be tailored."""
    if system.kernel.build is None:
        raise InputError(
            "kernel.build: tailoring builds kernels, and this one comes as it is",
            hint=(
                "[kernel.build] with config_package names a Debian kernel's configuration: docs/building.md; of what "
                "Buildroot or Yocto have built `bootlab boot DIR --write-system mine.toml` has them: docs/outputs.md"
            ),
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
        self._cuts = 0
        self._given = set[tuple[str, str]]()
        self._grown = list[GrownCode]()
        self._as_were = dict[tuple[object, str], str]()
        self._untried = list[str]()

    def tailor(self, values: Sequence[Value] = (), *, accepted: Callable[[], None] = lambda: None) -> Tailored:
        """Return the tailored system. `values`: those to be tried in the end; `accepted` is called once they may be.

        Raises InputError for a system that cannot be tailored, or whose check is flaky, and for a value that its option
        never has; BootFailed when a machine was killed from outside.
        """
        build = expect_tailorable(self._system)
        self._kernels = Kernels(self._shop, self._system, build, values)
        accepted()
        self._trials = KernelTrials(self._shop, self._run, self._kernels, self._boots, self._policy, self._builds)
        rich = self._kernels.with_options({})
        before = self._trials.steady(rich)
        state = self._trials.first(rich)
        first = self._kernels.tree(state.config)
        state, cut, trials = self._cut(state)
        while (better := self._ungrown(state)) is not state:
            state, cut, trials = self._cut(better)
        self._untried += [drop.option for drop in _suspects(cut, trials) if drop.given not in self._given]
        state = self._alone(state, trials.alone)
        state, tried = self._valued(state, values)
        on_after = self._kernels.tree(state.config).on
        return Tailored(
            system=state.system,
            rich=rich,
            drops=state.drops,
            followed=every_followed(first, on_after, state.drops),
            kept=every_kept(on_after, cut.kept, self._trials.needed, state.drops, {one.option for one in values}),
            trials=(*trials.at_once, *trials.alone),
            grown=tuple(self._grown),
            steps=tuple(self._trials.steps),
            needed=tuple(self._trials.needed),
            untried=tuple(dict.fromkeys(self._untried)),
            values=tried,
            kernel=state.kernel,
            on_before=first.on,
            on_after=on_after,
            comparison=self._trials.judged(rich, before, state),
        )

    def _cut(self, state: KernelState) -> tuple[KernelState, Cut, Attempts]:
        """Return the state from which nothing more goes, or can be tried, and what a look at it finds."""
        cut, trials = self._looked(state)
        # What was given once, and undone by something else since, is no news: two members of a choice would take turns.
        while (suspects := [one for one in _suspects(cut, trials) if one.given not in self._given]) and (
            not self._trials.spent
        ):
            self._cuts += 1
            label = f"cut {self._cuts}"
            settled = self._settle(state, suspects, label)
            given = {drop.given for drop in settled.drops} - self._given
            if not given:
                break
            self._given |= given
            self._grown += self._grown_in(state, settled, label)
            state = settled
            cut, trials = self._looked(state)
        return state, cut, trials

    def _grown_in(self, before: KernelState, after: KernelState, label: str) -> tuple[GrownCode, ...]:
        """Return the code that executes more since a cut, with the options that may be to blame."""
        decides = [label, *before.key, *after.key]
        return self._searches.find(_GROWN, decides, lambda: tuple(self._find_grown(before, after, label)))

    def _find_grown(self, before: KernelState, after: KernelState, label: str) -> Iterator[GrownCode]:
        earlier = {one.option for one in before.drops}
        drops = [one for one in after.drops if one.option not in earlier]
        reads = {one.path: one.reads for one in after.look.use.objects.objects}
        was, now = parse_config(before.config), parse_config(after.config)
        # What an option brings along is also its numbers, which mean nothing while it is off.
        compiled = {**{option: value for option, value in was.items() if value not in ("y", "m")}, **now}
        found = find_grown(before.look.costs.executed(), after.look.costs.executed(), label)
        if not found:
            return
        with self._kernels.compiling_again(after.config) as lengths:
            for one in found:
                more = f"{one.function} in {one.object}, {one.after - one.before:,} instructions more"
                self._shop.tell(f"{label}: grew: {more}; looking for the option to blame")
                length = lengths.of(one.object, one.function, compiled)
                if length is None:
                    yield replace(one, detail="its object cannot be made by itself, so no option can be blamed")
                else:
                    yield find_suspects(one, drops, was, reads[one.object], length)

    def _ungrown(self, state: KernelState) -> KernelState:
        """Return the state with one option as it was again, because that is shorter; itself where none is."""
        for number, one in enumerate(self._grown):
            if not one.is_open:
                continue
            words = [uncompiled_words(one)] * bool(one.uncompiled)
            for option in one.suspects:
                better, said = self._as_it_was(state, option)
                words.append(f"{option}: {said}")
                if better is not None:
                    more = f"{one.after - one.before:,} instructions more"
                    self._trials.needed.append(
                        Needed(option, f"longer: {one.function} in {one.object} executed {more}")
                    )
                    self._grown[number] = replace(one, again=option, detail="; ".join(words))
                    self._close_shrunk(better, option)
                    return better
            self._grown[number] = replace(one, detail="; ".join(words))
        return state

    def _as_it_was(self, state: KernelState, option: str) -> tuple[KernelState | None, str]:
        """Return the state without the drop of one option if that is shorter, and what was found out."""
        drops = [drop for drop in state.drops if drop.option != option]
        if len(drops) == len(state.drops):
            return None, "it is as it was already"
        tried = (state.key, option)
        if tried in self._as_were:
            return None, self._as_were[tried]
        if self._trials.spent:
            return None, "not tried for want of builds"
        outcome = self._trials.compared(state, drops, f"{option} again")
        if isinstance(outcome, str):
            self._as_were[tried] = outcome
            return None, outcome
        better, comparison = outcome
        self._as_were[tried] = comparison.detail
        return (better if comparison.verdict.saves else None), comparison.detail

    def _close_shrunk(self, state: KernelState, option: str) -> None:
        """Try no more for what has shrunk by itself since an option is as it was."""
        executed = state.look.costs.executed()
        for number, one in enumerate(self._grown):
            if one.is_open and one.has_shrunk(executed):
                self._grown[number] = replace(one, again=option, detail=f"shrank when {option} was as it was again")

    def _looked(self, state: KernelState) -> tuple[Cut, Attempts]:
        """Return what can go at once, and what could on top of that."""
        needed = [one.option for one in self._trials.needed]
        # What the run was asked is the same when it goes on; so is a kernel and its record, if nothing has changed.
        decides = [*state.key, needed, bool(state.drops)]
        return self._searches.find(_FOUND, decides, lambda: self._look(state, needed))

    def _look(self, state: KernelState, needed: Sequence[str]) -> tuple[Cut, Attempts]:
        self._shop.tell("looking for what can go")
        use, costs = state.look.use, state.look.costs
        guarded = find_guarded(use, self._kernels.source.tree)
        evidence = KernelEvidence(self._kernels.makefiles, use, guarded, self._policy, needed=needed)
        tree = self._kernels.tree(state.config)
        cut = find_cut(tree, evidence, ways=costs.ways)
        if cut.drops and not state.drops:
            # What runs for nobody hides what the rest is worth: the first cut takes only what the job did not use.
            return cut, Attempts((), ())
        return cut, find_attempts(tree, evidence, costs)

    def _settle(self, state: KernelState, suspects: Sequence[Drop], label: str) -> KernelState:
        """Return the state without those of `suspects` that can go, found by halving where all cannot go at once."""
        if self._trials.spent:
            self._untried += [drop.option for drop in suspects]
            return state
        outcome = self._trials.attempt((*state.drops, *suspects), label, state.ready_ns)
        if isinstance(outcome, KernelState):
            return outcome
        if len(suspects) == 1:
            self._trials.needed.append(Needed(suspects[0].option, outcome))
            return state
        if named := _named(outcome, suspects):
            self._trials.needed += [Needed(option, outcome) for option in sorted(named)]
            left = [drop for drop in suspects if not named & {drop.option, *drop.lost}]
            return self._settle(state, left, f"{label}, {' '.join(sorted(named))} kept")
        # What ran latest is the likeliest culprit: it comes last, and the half before it most likely goes at once.
        ordered = sorted(suspects, key=lambda drop: (drop.use, drop.option))
        middle = len(ordered) // 2
        state = self._settle(state, ordered[:middle], f"{label}.1")
        return self._settle(state, ordered[middle:], f"{label}.2")

    def _alone(self, state: KernelState, candidates: Sequence[Attempt]) -> KernelState:
        """Try options that change code inside of objects that stay, one by one, most instructions first."""
        for candidate in candidates:
            option = candidate.option
            if self._trials.spent:
                self._untried.append(option)
                continue
            if self._kernels.tree(state.config).value(option) == candidate.value:
                continue  # it went along with an earlier one
            label = f"{'with' if candidate.value == 'y' else 'without'} {option}"
            outcome = self._trials.compared(state, (*state.drops, candidate.drop), label, wanted=candidate.drop)
            if isinstance(outcome, str):
                self._trials.needed.append(Needed(option, outcome))
            elif outcome[1].verdict.saves:
                state = outcome[0]
        return state

    def _valued(self, state: KernelState, values: Sequence[Value]) -> tuple[KernelState, tuple[TriedValue, ...]]:
        """Try values one by one in their order; a value that saves stays."""
        tried = []
        for value in values:
            tree = self._kernels.tree(state.config)
            said = partial(TriedValue, value.option, value.value, tree.value(value.option))
            change = find_change(tree, value, self._policy)
            if isinstance(change, str):
                tried.append(said("not tried", None, change))
                continue
            if self._trials.spent:
                tried.append(said("not tried", None, "no build was left (--builds)"))
                continue
            outcome = self._trials.compared(state, (*state.drops, change), f"with {value}", wanted=change)
            if isinstance(outcome, str):
                tried.append(said("goes", None, outcome))
                continue
            after, comparison = outcome
            tried.append(said("stays" if comparison.verdict.saves else "goes", comparison.saved_ns, comparison.detail))
            if comparison.verdict.saves:
                state = after
        return state, tuple(tried)


def _suspects(cut: Cut, trials: Attempts) -> tuple[Drop, ...]:
    return (*cut.drops, *(trial.drop for trial in trials.at_once))


def _named(detail: str, suspects: Sequence[Drop]) -> set[str]:
    """Return which dropped options the cause of a failure names: some failures are known (measure.causes)."""
    gone = {option for drop in suspects for option in (drop.option, *drop.lost)}
    return gone & set(re.findall(r"CONFIG_(\w+)", detail))
