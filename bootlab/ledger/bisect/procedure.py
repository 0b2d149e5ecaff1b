"""A bisection, whole: both ends measured, the line between them searched, every step confirmed, the rest accounted for.

A state that turns out to be unusable is set aside, and the search is asked again: all that was measured is known, so
it goes on where it was, around that state.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from bootlab.errors import BootFailed
from bootlab.experiments.engine import Engine
from bootlab.experiments.family import Family
from bootlab.ledger.bisect.boots import Sampling, Scale, StatesBooted
from bootlab.ledger.bisect.result import BisectResult, BisectStep, MeasuredState, SkippedState
from bootlab.ledger.bisect.search import Searched, Stretch, search
from bootlab.ledger.bisect.state import BisectState, StateSource, Unusable
from bootlab.ledger.gate.figures import times_of
from bootlab.ledger.gate.judging import GateJudgement, GateVerdict
from bootlab.measure.price import judged_view
from bootlab.measure.statistics.series import median_ns

_DEEPEST = 8
"""Merges within merges that are looked into."""


@dataclass(frozen=True, slots=True)
class BisectQuestion:
    """What is bisected: a line of states, the first good and the last bad."""

    system: str
    repository: str
    line: Sequence[BisectState]
    asked: Sampling
    thorough: bool = False
    command: str | None = None
    of: Literal["commits", "packages"] = "commits"


class Bisection:
    """Finds where a figure changed. `keep`: is told every state that is set aside, so that a resumed run knows it."""

    def __init__(
        self,
        question: BisectQuestion,
        source: StateSource,
        booted: StatesBooted,
        *,
        skipped: Sequence[SkippedState] = (),
        keep: Callable[[Sequence[SkippedState]], None] = lambda skipped: None,
    ) -> None:
        self._question = question
        self._source = source
        self._booted = booted
        self._skipped = {one.state.name: one for one in skipped}
        self._keep = keep
        self._order: list[BisectState] = []

    def run(self, engine: Engine) -> BisectResult:
        """Return what was found. Raises BootFailed for an end that cannot be measured, and what stops any boot."""
        line, question = self._question.line, self._question
        good, bad = line[0], line[-1]
        scale, ends = self._ends(good, bad)
        searched, steps, doubtful = Searched(), list[BisectStep](), list[BisectStep]()
        if ends.verdict in (GateVerdict.LONGER, GateVerdict.SHORTER) or (
            question.thorough and ends.verdict is GateVerdict.UNCHANGED
        ):
            searched = self._search(line, scale, thorough=question.thorough)
            steps, doubtful = self._steps(line, searched, scale, ends.longer_ns, 0)
        elif ends.verdict is GateVerdict.UNCHANGED:
            searched.alike.append((0, len(line) - 1))
        before, after = (self._booted.family(state) for state in (good, bad))
        record = before.median
        return BisectResult(
            system=question.system,
            of=question.of,
            repository=question.repository,
            good=good,
            bad=bad,
            command=question.command,
            figure=question.asked.figure,
            clock=record.clock,
            ns_per_instruction=record.ns_per_instruction,
            cpu=record.cpu,
            accelerator=record.accelerator,
            seeds=list(question.asked.seeds),
            verdict=ends.verdict,
            why=ends.why,
            good_ns=self._median(before),
            bad_ns=self._median(after),
            longer_ns=ends.longer_ns,
            limit_ns=scale.limit_ns,
            smallest_ns=scale.smallest_ns,
            spread_ns=scale.spread_ns,
            steps=steps,
            unexplained_ns=ends.longer_ns - sum(step.longer_ns for step in steps),
            doubtful=doubtful,
            states=len(line),
            thorough=question.thorough,
            not_looked_into=searched.not_looked_into,
            measured=self._measured(),
            skipped=list(self._skipped.values()),
            builds=self._source.builds + self._booted.kernels_built,
            build_s=self._source.build_s + self._booted.kernels_build_s,
            boots=len(engine.run.records()),
            hashes=record.hashes,
            host=record.host,
            run=str(engine.run.path),
        )

    def _ends(self, good: BisectState, bad: BisectState) -> tuple[Scale, GateJudgement]:
        try:
            for state in (good, bad):
                self._order.append(state)
                self._booted.first(state)
            return self._booted.scale(good, bad), self._booted.judged(good, bad)
        except Unusable as error:
            which = "good" if error.state.name == good.name else "bad"
            more = f"; see {error.log}" if error.log else ""
            raise BootFailed(
                f"--{which} {error.state.short}: cannot be measured: {error.reason}{more}",
                hint="both ends have to build, to boot and to pass their check: name a neighbour of it",
            ) from error

    def _search(self, line: Sequence[BisectState], scale: Scale, *, thorough: bool = False) -> Searched:
        while True:
            try:
                return search(_Measured(self, line, scale), len(line) - 1, thorough=thorough)
            except Unusable as error:
                self._set_aside(error, line)

    def _steps(
        self, line: Sequence[BisectState], searched: Searched, scale: Scale, whole_ns: int | None, depth: int
    ) -> tuple[list[BisectStep], list[BisectStep]]:
        """Return the steps that whole families confirm, and those that they do not."""
        while True:
            sure, doubtful = list[BisectStep](), list[BisectStep]()
            try:
                for stretch in searched.changed:
                    step = self._step(line, stretch, scale, whole_ns, depth)
                    said = step.verdict in (GateVerdict.LONGER, GateVerdict.SHORTER)
                    (sure if said else doubtful).append(step)
                return sure, doubtful
            except Unusable as error:
                self._set_aside(error, line)
                searched.changed[:] = self._search(line, scale, thorough=self._question.thorough and depth == 0).changed

    def _step(
        self, line: Sequence[BisectState], stretch: Stretch, scale: Scale, whole_ns: int | None, depth: int
    ) -> BisectStep:
        before, after = line[stretch.before], line[stretch.after]
        judged = self._booted.judged(before, after)
        between = list(line[stretch.before + 1 : stretch.after + 1])
        alone = len(between) == 1
        one, other = (self._booted.family(state).median for state in (before, after))
        views = [judged_view(record) for record in (one, other)]
        phases = [{phase.name: phase.duration_ns for phase in view.phases} for view in views]
        names = dict.fromkeys([*phases[0], *phases[1]])
        step = BisectStep(
            before=before,
            after=after,
            kind="gradual" if stretch.blurred else "commit" if alone else "range",
            longer_ns=judged.longer_ns,
            share=judged.longer_ns / whole_ns if whole_ns else None,
            verdict=judged.verdict,
            why=judged.why,
            spread_ns=judged.spread_ns,
            phases={name: phases[1].get(name, 0) - phases[0].get(name, 0) for name in names},
            changed=[
                name
                for name in dict.fromkeys([*one.hashes, *other.hashes])
                if one.hashes.get(name) != other.hashes.get(name)
            ],
            between=[] if alone else between,
        )
        if not alone or judged.verdict not in (GateVerdict.LONGER, GateVerdict.SHORTER):
            return step
        inside, whole = self._inside(before, after, scale, depth)
        return step.model_copy(update={"inside": inside, "whole_merge": whole})

    def _inside(
        self, before: BisectState, merge: BisectState, scale: Scale, depth: int
    ) -> tuple[list[BisectStep], str]:
        """Return the steps in what a merge brought, and why there is none."""
        if len(merge.parents) < 2:
            return [], ""
        if depth >= _DEEPEST:
            return [], f"merges within {_DEEPEST} merges are not looked into"
        lines = self._source.inside(before, merge)
        if not lines:
            return [], "its branches are not looked into"
        found, why = list[BisectStep](), ""
        for line in lines:
            try:
                for state in (line[0], line[-1]):
                    self._expect_usable(state)
                searched = self._search(line, scale)
                steps, _ = self._steps(line, searched, scale, None, depth + 1)
                found += steps
            except Unusable as error:
                self._note_skipped(error)
                why = f"an end of its branch, {error.state.short}, cannot be measured"
        if not found and not why:
            why = "what it brought changes nothing by itself: the change is in the two together"
        return found, why

    def _expect_usable(self, state: BisectState) -> None:
        if (known := self._skipped.get(state.name)) is not None:
            raise Unusable(state, known.reason, known.log)
        if state not in self._order:
            self._order.append(state)
        self._booted.first(state)

    def is_usable(self, state: BisectState) -> bool:
        """Return whether a state can be measured, which measures it with one boot."""
        try:
            self._expect_usable(state)
        except Unusable as error:
            self._note_skipped(error)
            return False
        return True

    def differ(self, before: BisectState, after: BisectState, scale: Scale) -> bool:
        """Return whether two states differ. Raises Unusable."""
        return self._booted.differ(before, after, scale)

    def _set_aside(self, error: Unusable, line: Sequence[BisectState]) -> None:
        if error.state.name in self._skipped or error.state.name in (line[0].name, line[-1].name):
            # An end of the line: there is nothing to go on with.
            self._note_skipped(error)
            if line is self._question.line:
                raise BootFailed(
                    f"{error.state.short}: was well, and is not any more: {error.reason}",
                    hint="name a neighbour of it as --good or --bad",
                ) from error
            raise error
        self._note_skipped(error)

    def _note_skipped(self, error: Unusable) -> None:
        if error.state.name not in self._skipped:
            one = SkippedState(state=error.state, reason=error.reason, log=error.log)
            self._skipped[error.state.name] = one
            self._keep(list(self._skipped.values()))

    def _measured(self) -> list[MeasuredState]:
        place = {state.name: number for number, state in enumerate(self._question.line)}
        found = []
        for state in self._order:
            family = self._booted.known(state)
            if family is None or state.name in self._skipped:
                continue
            found.append(
                MeasuredState(
                    state=state,
                    position=place.get(state.name),
                    time_ns=self._median(family),
                    boots=len(family.boots),
                )
            )
        return sorted(found, key=lambda one: (one.position is None, one.position or 0))

    def _median(self, family: Family) -> int:
        return median_ns(times_of(family, self._question.asked.figure).seeds)


class _Measured:
    """A line of states by number, as the search asks for it."""

    def __init__(self, bisection: Bisection, line: Sequence[BisectState], scale: Scale) -> None:
        self._line = line
        self.usable = lambda index: bisection.is_usable(line[index])
        self.differ = lambda before, after: bisection.differ(line[before], line[after], scale)
