"""`bootlab bisect SYSTEM --good A --bad B`: which commits, or versions of a package, changed the boot time?"""

from pathlib import Path
from typing import Annotated

import typer

from bootlab.build.workshop import Workshop
from bootlab.cli.bisect.states import BisectRequest, OfCommits, OfPackages, StatesAsked, find_states
from bootlab.cli.options.arguments import Json, Parallel, Runs, SystemFile, open_cache, open_store
from bootlab.cli.options.commits import Build, Repo, complete_revision, forget_hook
from bootlab.cli.options.places import ChosenPlace, Cluster, choose_place
from bootlab.cli.profile.boots import Subject, profile_both
from bootlab.cli.resuming import Resume, digest, kept, settle
from bootlab.cli.terminal.showing import answer, show
from bootlab.cli.terminal.speech import boot_progress, err
from bootlab.errors import BootlabError, InputError, Interrupted
from bootlab.experiments.engine import Engine
from bootlab.experiments.family import DEFAULT_NULLS
from bootlab.experiments.family_boots import wall_clock
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.experiments.verdict import FEWEST_NULLS, FEWEST_SEEDS
from bootlab.ledger.bisect.boots import Sampling, StatesBooted
from bootlab.ledger.bisect.commit_systems import CommitSystems
from bootlab.ledger.bisect.explaining import grown_functions
from bootlab.ledger.bisect.kept_skips import SKIPS, keep_skips, read_skips
from bootlab.ledger.bisect.procedure import Bisection, BisectQuestion
from bootlab.ledger.bisect.result import BisectResult, BisectStep
from bootlab.ledger.bisect.search import most_measured
from bootlab.ledger.bisect.state import BisectState, StateSource, Unusable
from bootlab.ledger.gate.figures import READY, expect_timings, parse_figures
from bootlab.ledger.gate.judging import Limit, parse_limit
from bootlab.measure.record_files import write_json
from bootlab.profile.asked.request import ProfileRequest
from bootlab.report.bisect.view import bisect_view, plan_view
from bootlab.system.file import read_text


def bisect(
    system: SystemFile,
    good: Annotated[
        str | None,
        typer.Option(
            "--good",
            metavar="COMMIT",
            help="The older end: a commit, tag or branch; or a version.",
            autocompletion=complete_revision,
        ),
    ] = None,
    bad: Annotated[
        str | None,
        typer.Option(
            "--bad", metavar="COMMIT", help="The newer end. [default: HEAD]", autocompletion=complete_revision
        ),
    ] = None,
    repo: Repo = None,
    build: Build = None,
    packages: Annotated[
        bool,
        typer.Option("--packages", help="Not commits: versions of its kernel package that this machine's apt has."),
    ] = False,
    on: Annotated[
        str | None,
        typer.Option("--on", metavar="FIGURE", help="Which figure: ready, phase:NAME, timing:NAME. [default: ready]"),
    ] = None,
    limit: Annotated[
        str | None,
        typer.Option(
            "--limit", metavar="TIME|SHARE", help="The smallest change: 2ms, 1%. [default: the smallest that is seen]"
        ),
    ] = None,
    first_parent: Annotated[
        bool, typer.Option("--first-parent", help="Name a merge, and do not look into what it merged.")
    ] = False,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Measure every commit: finds changes that cancel each other, too.")
    ] = False,
    system_from_commit: Annotated[
        bool,
        typer.Option("--system-from-commit", help="Read SYSTEM as each commit has it. [default: as it is now]"),
    ] = False,
    incremental: Annotated[
        bool, typer.Option("--incremental", help="Build on what the last commit left. [default: on the commit alone]")
    ] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Build what the cache has as well.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Say how many builds it may take, and do nothing.")] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds",
            metavar="N",
            min=FEWEST_SEEDS,
            max=999,
            help="Seeds that each commit is booted with. [default: 3]",
        ),
    ] = None,
    nulls: Annotated[
        int | None,
        typer.Option(
            "--nulls",
            metavar="N",
            min=FEWEST_NULLS,
            max=20,
            help=f"Boots of one with a word that means nothing. [default: {DEFAULT_NULLS}]",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain/--no-explain", help="Profile both sides of a step: which functions grew.")
    ] = True,
    resume: Resume = None,
    parallel: Parallel = None,
    cluster: Cluster = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Find every commit, or version of its kernel package, between two that changed the boot time.

    Both ends are measured; where the ends of a stretch differ its middle is, and both halves that still differ are
    searched on. Commits that do not build, boot or pass their check are passed over. Nothing of the repository's own
    working tree is used or changed. Exit code 0: each change has its commit; 1: some of it has not.
    """
    forget_hook()
    store, text, chosen = open_store(runs), read_text(system), choose_place(cluster, parallel)
    if resume is None and good is None and not packages:
        raise InputError("--good: missing", hint="the older end, for example --good v1.0 --bad HEAD")
    if limit is not None:
        parse_limit(limit)
    if build is not None and not build.strip():
        raise InputError("--build: empty", hint="leave it out where a commit's own files boot as they are")
    states = find_states(StatesAsked(system, text, repo, good, bad, packages), store, resume, silent=json)
    value = states.value
    if wall_clock(value):
        raise InputError(
            f"{system}: clock.kind: a bisection needs boots that repeat: the virtual clock",
            hint="on this clock bootlab gate SYSTEM --against OTHER holds two states against each other",
        )
    now = BisectRequest(
        system=str(system),
        digest=digest(value),
        repository=states.repository,
        good=states.good,
        bad=states.bad,
        packages=states.line if isinstance(states, OfPackages) else [],
        command=build,
        figure=_figure(on),
        limit=limit,
        seeds=list(range(value.seed, value.seed + (seeds or FEWEST_SEEDS))),
        nulls=nulls or DEFAULT_NULLS,
        first_parent=first_parent,
        thorough=thorough,
        from_commit=system_from_commit,
        incremental=incremental,
        rebuild=rebuild,
    )
    of_commits = [repo, build, *[one or None for one in (first_parent, system_from_commit, incremental, rebuild)]]
    if packages and any(one is not None for one in of_commits):
        raise InputError(
            "--packages: nothing is checked out or built: it goes without --repo, --build, --first-parent, "
            "--system-from-commit, --incremental and --rebuild",
            hint="leave them out",
        )
    given = [good, bad, on, limit, seeds, nulls, *of_commits]
    asking = settle(
        store, resume, RunKind.BISECT, value.name, now, [*given, *[one or None for one in (thorough, plan, packages)]]
    )
    asking.expect_unchanged(asking.asked.digest, now.digest)
    if not asking.asked.from_commit:
        expect_timings([asking.asked.figure], value, str(system))
    call = _Call(system, asking.asked, states, chosen, silent=json)
    line = states.between(asking.asked)
    if plan:
        return answer(plan_view(line), json=json)
    run = asking.begin(store, asking.asked, file=str(system))
    with kept(run, system):
        result = call.bisect(run, line, store if explain else None)
    return show(run, bisect_view(run, result), json=json)


class _Call:
    """One call of the verb, once it is settled what is asked."""

    def __init__(
        self,
        system: Path,
        asked: BisectRequest,
        states: OfCommits | OfPackages,
        chosen: ChosenPlace,
        *,
        silent: bool,
    ) -> None:
        self._system = system
        self._asked = asked
        self._states = states
        self._chosen = chosen
        self._silent = silent
        self._cache = open_cache()

    def bisect(self, run: Run, line: list[BisectState], store: Store | None) -> BisectResult:
        """Return what the search found, on record; explained by profiles where there is a store for them."""
        source = self._states.source(self._asked, run.path)
        if remark := self._states.remark():
            self._warn(remark)
        with self._states.at_work(lambda: self._tell("waiting: another bisection of this repository is at work")):
            with (
                boot_progress(None, silent=self._silent) as progress,
                self._chosen.open(progress.note) as place,
            ):
                engine = Engine(
                    run,
                    place=place,
                    reuse=True,
                    watcher=lambda done: progress.count_boot(done.job.label),
                )
                if isinstance(source, CommitSystems):
                    source.tell = progress.note
                booted = StatesBooted(engine, Workshop(self._cache, tell=progress.note), source, self._figures())
                booted.note = progress.note
                of = self._asked.of
                what = "commits" if of == "commits" else "versions"
                progress.note(f"{len(line)} {what}, {most_measured(len(line) - 1, 1)} of them to find one change")
                question = BisectQuestion(
                    system=run.system,
                    repository=self._asked.repository,
                    line=line,
                    asked=self._figures(),
                    thorough=self._asked.thorough,
                    command=self._asked.command,
                    of=of,
                )
                kept_skips = run.path / SKIPS
                bisection = Bisection(
                    question,
                    source,
                    booted,
                    skipped=read_skips(kept_skips),
                    keep=lambda skipped: keep_skips(kept_skips, skipped),
                )
                result = bisection.run(engine)
            # What was found stands, whatever becomes of its explanation.
            _write(run, result)
            if store is not None and result.steps:
                steps = [self._explained(step, store, source, booted) for step in result.steps]
                result = result.model_copy(update={"steps": steps})
                _write(run, result)
        return result

    def _figures(self) -> Sampling:
        asked = self._asked
        limit = parse_limit(asked.limit) if asked.limit is not None else Limit()
        return Sampling(asked.figure, limit, tuple(asked.seeds), asked.nulls)

    def _explained(self, step: BisectStep, store: Store, source: StateSource, booted: StatesBooted) -> BisectStep:
        inside = [self._explained(one, store, source, booted) for one in step.inside]
        step = step.model_copy(update={"inside": inside})
        states = (step.before, step.after)
        one, other = (Subject(booted.system(state), self._system, ProfileRequest()) for state in states)
        self._tell(f"profiling {step.before.short} and {step.after.short}")
        try:
            found = profile_both(
                store,
                one,
                other,
                silent=True,
                ready=lambda subject: source.bring_back(step.before if subject is one else step.after),
            )
        except Interrupted:
            raise
        except (BootlabError, Unusable) as error:
            self._warn(f"no profile says why: {error}")
            return step
        assert found.before is not None
        functions = grown_functions(found.before, found.analysis)
        profile = str(Path(found.analysis.record.run).parents[1])
        return step.model_copy(update={"functions": functions, "profile": profile})

    def _tell(self, line: str) -> None:
        if not self._silent:
            err.print(f"  {line}", soft_wrap=True)

    def _warn(self, line: str) -> None:
        err.print(f"bootlab: warning: {line}", soft_wrap=True)


def _figure(on: str | None) -> str:
    figures = parse_figures(on or READY)
    if len(figures) > 1:
        raise InputError(f"--on {on}: one figure at a time", hint="--on ready, or --on phase:initcalls")
    return figures[0]


def _write(run: Run, result: BisectResult) -> None:
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
