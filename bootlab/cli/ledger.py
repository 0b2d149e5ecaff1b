"""`bootlab ledger`: what a system took at each commit, kept in files of its own repository."""

from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.options.arguments import Json, Runs, open_store
from bootlab.cli.options.ledger import Ledger, LedgerSystem, ledger_folder
from bootlab.cli.publishing import publish
from bootlab.cli.terminal.showing import answer
from bootlab.cli.terminal.speech import err, out
from bootlab.errors import BootlabError, InputError
from bootlab.kept_file import read_kept
from bootlab.ledger.commit import Commit, find_commit
from bootlab.ledger.file import History, append_entry, choose, list_systems, read_history
from bootlab.ledger.issue_costs import issue_rows
from bootlab.ledger.known_issues import NAME, add_issues, issues_of, read_dated_list, read_issues
from bootlab.ledger.making import make_entry
from bootlab.ledger.steps import step, steps_of
from bootlab.report.ledger.view import diff_view, issues_view, log_view, standings_view

app = typer.Typer(
    name="ledger",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="What a system took at each commit, kept in files that a repository merges (docs/ledger.md).",
)


@app.callback()
def _ledger() -> None:
    """What a system took at each commit, kept in files that a repository merges (docs/ledger.md)."""


_LONGEST_LABEL = 60


@app.command("add")
def add(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="A run of boot, measure, try, profile or import; as report takes it.")
    ] = "last",
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="RUN", help="A profile of the same system: what the known issues cost."),
    ] = None,
    commit: Annotated[
        str | None, typer.Option("--commit", metavar="REV", help="The commit it is of. [default: the one checked out]")
    ] = None,
    repo: Annotated[
        Path,
        typer.Option(
            "--repo", metavar="DIR", help="Repository of that commit. [default: the folder here]", show_default=False
        ),
    ] = Path(),
    label: Annotated[
        str | None, typer.Option("--label", metavar="WORDS", help="Name of a state that is no commit.")
    ] = None,
    system: Annotated[
        str, typer.Option("--system", metavar="NAME", help="What to call the system. [default: the run's own name]")
    ] = "",
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Words for a reader.")] = "",
    ledger: Ledger = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Add an entry: what a run measured, the commit it is of, and hashes of all that it booted from.

    Exit code 0: added; the step to it from the entry before is shown.
    """
    if label is not None and commit is not None:
        raise InputError("--label: goes without --commit", hint="a commit has a name already")
    if label is not None and (not label.strip() or label.startswith("last") or len(label) > _LONGEST_LABEL):
        raise InputError(f"--label {label[:40]!r}: needs a name of its own, of at most {_LONGEST_LABEL} letters")
    folder, store = ledger_folder(ledger), open_store(runs)
    found = Commit(label) if label is not None else find_commit(repo, commit, folder)
    made = make_entry(
        store.find(run),
        found,
        read_issues(folder),
        profile=store.find(profile) if profile is not None else None,
        system=system,
        note=note,
    )
    entry = made.entry
    for caution in made.cautions:
        err.print(f"bootlab: warning: {caution}", soft_wrap=True, markup=False)
    if not entry.commit:
        err.print("bootlab: warning: no repository here: the entry has no commit")
        err.print("  hint: --repo names one, --label names the state otherwise")
    path = append_entry(folder, entry)
    history = read_history(folder, entry.system)
    steps = [one for one in steps_of(history.entries) if one.entry.key == entry.key]
    code = answer(log_view(History(entry.system, (entry,), history.remarks), steps), json=json)
    if not json:
        out.print(f"ledger: {path}", soft_wrap=True)
    return code


@app.command("show")
def show(ledger: Ledger = None, json: Json = False) -> int:
    """Show where each system stands: its last entry, and the step to it.

    The columns: how many entries there are; of the last one its day, its commit (+: files differed from it) and its
    time to ready; what it saved against the entry before it, positive for shorter; the verdict on that. Exit code 0:
    each was ready; 1: one was not.
    """
    folder, histories = ledger_folder(ledger), []
    for name in list_systems(folder):
        try:
            histories.append(read_history(folder, name))
        except BootlabError as error:
            # One file that cannot be read takes no other along.
            histories.append(History(name, (), (error.message,)))
    return answer(standings_view(histories), json=json)


@app.command("log")
def log(
    system: LedgerSystem,
    most: Annotated[
        int | None, typer.Option("-n", min=1, metavar="N", help="The last N entries alone. [default: all]")
    ] = None,
    ledger: Ledger = None,
    json: Json = False,
) -> int:
    """Show the history of a system, the latest first: what each commit saved or cost, and which inputs changed.

    The columns: the day and commit of an entry (+: files differed from it), its time to ready, what it saved against
    the entry before it, positive for shorter, the verdict on that, the inputs that changed, and the entry's note.
    """
    history = read_history(ledger_folder(ledger), system)
    steps = steps_of(history.entries)
    return answer(log_view(history, steps[-most:] if most is not None else steps), json=json)


@app.command("diff")
def diff(
    system: LedgerSystem,
    before: Annotated[str, typer.Argument(metavar="[A]", help="A commit, last, or last~N.")] = "last~1",
    after: Annotated[str, typer.Argument(metavar="[B]", help="The same.")] = "last",
    ledger: Ledger = None,
    json: Json = False,
) -> int:
    """Show two entries of a system side by side: phases, inputs, sizes, and the verdict on the step."""
    history = read_history(ledger_folder(ledger), system)
    _warn(history)
    first, second = choose(history, before), choose(history, after)
    return answer(diff_view(first, step(first, second)), json=json)


@app.command("issues")
def issues(system: LedgerSystem, ledger: Ledger = None, json: Json = False) -> int:
    """Show the known issues of a system: what each costs by the last profile and by the first, and what was mended.

    The columns: what the issue costs by the last entry that has a profile, in ms and in percent of that boot; what it
    cost by the first; since when it is known, and what mended it.
    """
    folder = ledger_folder(ledger)
    history = read_history(folder, system)
    _warn(history)
    rows = issue_rows(system, history.entries, read_issues(folder))
    if not rows:
        raise InputError(f"{folder / NAME}: no known issue of {system}", hint="docs/ledger.md says how one is written")
    return answer(issues_view(system, rows), json=json)


@app.command("import")
def import_dated(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A list with lines `DATE (COMMIT, by WHO): what`.")],
    system: Annotated[str, typer.Option("--system", metavar="NAME", help="The system that it is of.")],
    ledger: Ledger = None,
) -> int:
    """Add the mended issues of a dated list, as FreeBSD keeps one, to the known issues.

    What another tool has recorded of a boot is added by `bootlab import FILE`, then `bootlab ledger add --system NAME`.
    Exit code 0: every line was read; 1: some were left out, which are said.
    """
    folder = ledger_folder(ledger)
    try:
        text = read_kept(file)
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read as text: {error}") from error
    found, left = read_dated_list(text, system)
    if not found:
        raise InputError(f"{file}: no line of the form DATE (COMMIT, by WHO): what", hint="docs/ledger.md has one")
    taken = {one.title for one in issues_of(system, read_issues(folder))}
    new = [one for one in {one.title: one for one in found}.values() if one.title not in taken]
    add_issues(folder, new)
    out.print(
        f"{len(new)} mended issues added to {folder / NAME}, {len(found) - len(new)} known already", soft_wrap=True
    )
    for line in left:
        out.print(f"left out: {line[:100]}", soft_wrap=True)
    return 1 if left else 0


def _warn(history: History) -> None:
    for remark in history.remarks:
        err.print(f"bootlab: warning: {remark}", soft_wrap=True)


app.command("publish")(publish)
