"""`bootlab gate SYSTEM --against BASE`: has a system become longer by more than it may?"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.gate.commit import AskedCommit
from bootlab.cli.gate.growth import GateSides, find_growth, with_growth
from bootlab.cli.options.arguments import (
    Json,
    Parallel,
    Runs,
    SystemFile,
    complete_system,
    names_system,
    naming,
    open_shop,
    open_store,
    open_system,
)
from bootlab.cli.options.commits import Build, Repo, complete_revision, forget_hook
from bootlab.cli.options.ledger import Ledger, ledger_folder
from bootlab.cli.options.places import ChosenPlace, Cluster, choose_place
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import boot_progress, err, print_text
from bootlab.errors import BootlabError, InputError
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.family import DEFAULT_NULLS, Family
from bootlab.experiments.family_boots import FamilyBoots, wall_clock
from bootlab.experiments.series import recorded_boots
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.experiments.verdict import FEWEST_NULLS, FEWEST_SEEDS, FEWEST_WALL
from bootlab.ledger.commit import find_commit
from bootlab.ledger.entry import LedgerEntry
from bootlab.ledger.file import History, choose, read_history
from bootlab.ledger.gate.boots import AFTER, BEFORE, Held, hold_exact, hold_noisy
from bootlab.ledger.gate.figures import GateBaseline, changed_timings, expect_timings, parse_figures
from bootlab.ledger.gate.judging import GateVerdict, Limit, parse_limit
from bootlab.ledger.gate.making import make_result
from bootlab.ledger.gate.result import GateResult
from bootlab.measure.prepare import prepare
from bootlab.measure.record_files import write_json
from bootlab.report.gate.forms import FORMS
from bootlab.report.gate.view import CODES, gate_view
from bootlab.system import System
from bootlab.targets.target import WARM_UP


class GateForm(StrEnum):
    """What --format takes: words for people, the document that --json prints, or one of `FORMS`."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"
    OPENMETRICS = "openmetrics"
    BENCHER = "bencher"
    REFERENCE = "reference"


_LEDGER = "ledger"
_WALL_BOOTS = 15
_MOST_SEEDS = 999


def complete_against(incomplete: str) -> list[str]:
    """Return the system files and folders, branches and tags here that begin with what was typed."""
    return [*complete_system(incomplete), *complete_revision(incomplete)]


def gate(
    system: SystemFile,
    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="BASE",
            help="A system file, or a commit, tag or branch, which is booted as well; a run; `ledger`, its last entry; "
            "or `ledger:COMMIT`.",
            autocompletion=complete_against,
        ),
    ],
    limit: Annotated[
        str | None,
        typer.Option(
            "--limit", metavar="TIME|SHARE", help="How much longer it may be: 2ms, 1%. [default: what can be seen]"
        ),
    ] = None,
    on: Annotated[
        str,
        typer.Option(
            "--on",
            metavar="FIGURE[,FIGURE...]",
            help="Which figures: ready; phase:NAME, a phase as bootlab boot names it; timing:NAME, of [timings].",
        ),
    ] = "ready",
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds",
            metavar="N",
            min=FEWEST_SEEDS,
            max=_MOST_SEEDS,
            help="Boots a side. [default: 3 virtual, 15 wall]",
        ),
    ] = None,
    nulls: Annotated[
        int,
        typer.Option(
            "--nulls",
            metavar="N",
            min=FEWEST_NULLS,
            max=20,
            help="Boots a side with a word that means nothing (virtual clock).",
        ),
    ] = DEFAULT_NULLS,
    explain: Annotated[
        bool | None,
        typer.Option(
            "--explain/--no-explain",
            help="What is new or grew, however little: by profiles of both sides and their files. [default: if longer]",
        ),
    ] = None,
    form: Annotated[GateForm, typer.Option("--format", help="How the answer is printed.")] = GateForm.TEXT,
    ledger: Ledger = None,
    repo: Repo = None,
    build: Build = None,
    parallel: Parallel = None,
    cluster: Cluster = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Boot a system, hold it against what it was (the baseline), and stop what is longer by more than it may be.

    A limit below the smallest change that can be seen on this system is refused with that figure: "cannot say". Near
    the limit fresh boots of both sides decide. What is longer is followed by what is new or grew: functions, initcalls,
    modules, waits, processes, units, files.

    The columns, in ms of the clock: baseline, the median of BASE's boots; now, that of SYSTEM's; change, positive for
    longer; limit, by how much it may be longer; detectable, the smallest change that is seen for certain.

    Exit code 0: unchanged or shorter; 1: longer; 2: cannot say; 3: broken, a boot was not ready and well.
    """
    if json and form not in (GateForm.TEXT, GateForm.JSON):
        raise InputError(f"--json: goes without --format {form.value}", hint="--json is the whole answer")
    figures = {what: parse_limit(limit) if limit is not None else Limit() for what in parse_figures(on)}
    with _an_answer_of_its_own():
        asked = _AskedGate(figures, seeds, nulls, choose_place(cluster, parallel))
        records = _Records(open_store(runs), ledger)
        shown = _Shown(form, json, explain)
        commit = _commit(records.store, AskedCommit(against, repo, build))
        if commit is None:
            before = open_system(Path(against)) if names_system(against) else None
            return _gate(system, _Against(against, before), asked, records, shown)
        with commit.opened(system, silent=shown.quiet) as before:
            return _gate(system, _Against(against, before, commit.whole()), asked, records, shown)


@dataclass(frozen=True, slots=True)
class _AskedGate:
    """Which figures are held against what they were, by how many boots, and where these run."""

    figures: dict[str, Limit]
    seeds: int | None
    """Boots a side; None is the clock's own number."""
    nulls: int
    place: ChosenPlace


@dataclass(frozen=True, slots=True)
class _Against:
    """What --against names. `system`: None for what is on record; `commit`: the whole hash of its commit, or empty."""

    name: str
    system: System | None
    commit: str = ""


@dataclass(frozen=True, slots=True)
class _Records:
    """What is on record: runs, and the ledger's folder if one was named."""

    store: Store
    ledger: Path | None


@dataclass(frozen=True, slots=True)
class _Shown:
    """How the answer is shown."""

    form: GateForm
    json: bool
    explain: bool | None
    """None: where it is longer."""

    @property
    def quiet(self) -> bool:
        """Whether a program reads the answer, and nothing else is said."""
        return self.json or self.form is not GateForm.TEXT


@contextmanager
def _an_answer_of_its_own() -> Iterator[None]:
    # 1 is "longer" here: what keeps a gate from an answer must not be read as one.
    try:
        yield
    except BootlabError as error:
        if error.exit_code != 1:
            raise
        raise InputError(error.message, hint=error.hint) from error


def _commit(store: Store, asked: AskedCommit) -> AskedCommit | None:
    """Return the commit that --against names; None where it is a system, a ledger or a run.

    Of a name that is both the run is meant, unless an option says what goes with a commit only.
    """
    said = asked.repo is not None or asked.build is not None
    name = asked.revision
    if names_system(name) or name.partition(":")[0] == _LEDGER:
        if said:
            raise InputError(f"--against {name}: is no commit", hint="--repo and --build go with a commit")
        return None
    if asked.build is not None and not asked.build.strip():
        raise InputError("--build: empty", hint="leave it out where a commit's own files boot as they are")
    forget_hook()
    if not said:
        try:
            store.find(name)
        except InputError as error:
            if not asked.is_one:
                raise InputError(f"--against {error.message}, and no such commit here", hint=error.hint) from error
        else:
            return None
    return asked


def _gate(system: Path, base: _Against, asked: _AskedGate, records: _Records, shown: _Shown) -> int:
    after, against, quiet = open_system(system), base.name, shown.quiet
    before = base.system or _recorded(records, against, after)
    _expect_one_clock(after, before, against)
    expect_timings(asked.figures, after, str(system))
    if isinstance(before, GateBaseline):
        for what in asked.figures:
            before.times(what)
    else:
        expect_timings(asked.figures, before, against)
        for line in changed_timings(asked.figures, before, after):
            err.print(f"bootlab: warning: {line}", soft_wrap=True)
    with naming(system):
        prepare(asked.place.furnish(open_shop(silent=quiet)), after)
    if isinstance(before, System):
        with naming(Path(against) if not base.commit else system):
            prepare(asked.place.furnish(open_shop(silent=quiet)), before)
    run = records.store.start(RunKind.GATE, after.name, {"against": against, "on": list(asked.figures)})
    with run.locked():
        held = _held(run, after, before, asked, silent=quiet)
        result = make_result(held, str(run.path)).model_copy(update={"file": _from_here(system)})
        if base.commit:
            result = result.model_copy(update={"against": against, "against_commit": base.commit})
        _write(run, result)
        if _wants_growth(result, shown):
            sides = GateSides(before, Path(against) if not base.commit else system, after, system)
            found = find_growth(records.store, sides, held, silent=quiet)
            result = with_growth(result, found)
            _write(run, result)
    if shown.form.value in FORMS:
        for line in result.not_looked_at:
            err.print(f"bootlab: warning: not looked at: {line}", soft_wrap=True)
        print_text(FORMS[shown.form.value](result))
    else:
        show(run, gate_view(run, result), json=shown.json or shown.form is GateForm.JSON)
    return CODES[result.verdict]


def _wants_growth(result: GateResult, shown: _Shown) -> bool:
    if result.verdict is GateVerdict.BROKEN:
        return False
    return result.verdict is GateVerdict.LONGER if shown.explain is None else shown.explain


def _write(run: Run, result: GateResult) -> None:
    write_json(run.result, result.model_dump(mode="json", by_alias=True))


def _from_here(path: Path) -> str:
    """Return a path from this folder if it is below: a job works in a repository's topmost one, and names files so."""
    whole, here = path.absolute(), Path.cwd()
    return (whole.relative_to(here) if whole.is_relative_to(here) else path).as_posix()


def _recorded(records: _Records, against: str, system: System) -> GateBaseline:
    name, _, commit = against.partition(":")
    if name != _LEDGER:
        return GateBaseline(against, recorded_boots(records.store.find(against)))
    history = read_history(ledger_folder(records.ledger), system.name)
    for remark in history.remarks:
        err.print(f"bootlab: warning: {remark}", soft_wrap=True)
    ready = [one for one in history.entries if one.ready_ns is not None and one.clock == system.clock.kind.value]
    if not ready:
        clock = system.clock.kind.value
        raise InputError(f"--against {against}: no entry of {system.name} on the {clock} clock was ready")
    if not commit and ready[-1] is not history.entries[-1]:
        last = history.entries[-1]
        words = f"{last.outcome} ({last.clock} clock)"
        err.print(f"bootlab: warning: the last entry of {system.name} is {words}: held against the last that does")
    return GateBaseline(against, entry=_entry_of(history, commit) if commit else ready[-1])


def _entry_of(history: History, words: str) -> LedgerEntry:
    try:
        return choose(history, words)
    except InputError:
        # A branch or a tag: of which commit it is, the repository here knows.
        try:
            commit = find_commit(Path(), words).name
        except BootlabError:
            commit = ""
        if not commit:
            raise
        return choose(history, commit)


def _expect_one_clock(after: System, before: System | GateBaseline, against: str) -> None:
    if isinstance(before, System):
        clock = before.clock.kind.value
    elif before.entry is not None:
        clock = before.entry.clock
    else:
        assert before.family is not None
        clock = before.family.members[0].clock
    if clock != after.clock.kind.value:
        raise InputError(
            f"--against {against}: is on the {clock} clock, {after.name} on the {after.clock.kind.value} clock",
            hint="both need the same clock.kind",
        )
    if wall_clock(after) and not isinstance(before, System):
        raise InputError(
            f"--against {against}: on a noisy clock both sides are booted in turn, so what is on record does not do",
            hint="--against a system file",
        )


def _held(run: Run, after: System, before: System | GateBaseline, asked: _AskedGate, *, silent: bool) -> Held:
    with boot_progress(None, silent=silent) as progress, asked.place.open(progress.note) as place:
        engine = Engine(run, place=place, reuse=True, watcher=lambda done: progress.count_boot(done.job.label))
        if isinstance(before, System) and wall_clock(after):
            number = asked.seeds or _WALL_BOOTS
            if number < FEWEST_WALL:
                raise InputError(f"--seeds {number}: a noisy clock needs at least {FEWEST_WALL} boots a side")
            progress.note(f"{number} boots a side on the wall clock, in turn")
            sides = _in_turn(engine, before, after, number)
            return hold_noisy(GateBaseline(before.name, sides[0]), sides[1], asked.figures)
        boots = FamilyBoots(engine, open_shop(silent=True), _seeds(before, after, asked.seeds), wall=False)
        progress.note(f"{len(boots.seeds)} seeds and {asked.nulls} null changes on the virtual clock")
        return hold_exact(boots, after, before, asked.figures, asked.nulls, progress.note)


def _seeds(before: System | GateBaseline, after: System, number: int | None) -> list[int]:
    if isinstance(before, GateBaseline):
        recorded = before.entry.seeds if before.entry is not None else []
        if before.family is not None:
            recorded = [one.seed for one in before.family.members]
        if number is not None and number != len(recorded):
            raise InputError(f"--seeds {number}: what is on record has {len(recorded)}", hint="leave it out")
        if len(set(recorded)) != len(recorded) or len(recorded) > _MOST_SEEDS:
            raise InputError(
                f"--against {before.name}: has {len(recorded)} boots with {len(set(recorded))} seeds, and a gate boots "
                f"each seed once, {_MOST_SEEDS} at most",
                hint="bootlab try records what a gate is held against",
            )
        return recorded
    return list(range(after.seed, after.seed + (number or FEWEST_SEEDS)))


def _in_turn(engine: Engine, before: System, after: System, number: int) -> tuple[Family, Family]:
    shop = engine.furnish(open_shop(silent=True))
    prepared = {BEFORE: prepare(shop, before), AFTER: prepare(shop, after)}
    engine.boot_all([Job(f"{side}-{WARM_UP}", one) for side, one in prepared.items()])
    turns = [(side, index) for index in range(1, number + 1) for side in prepared]
    records = engine.boot_all([Job(f"{side}-{index}", prepared[side].with_seed(index)) for side, index in turns])
    return Family(tuple(records[::2]), label=BEFORE), Family(tuple(records[1::2]), label=AFTER)
