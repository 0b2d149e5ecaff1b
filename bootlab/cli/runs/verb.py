"""`bootlab runs`: the recorded runs as files: what may go, and how much room that gives."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from bootlab.cli.options.arguments import Json, Runs, open_store
from bootlab.cli.terminal.showing import answer
from bootlab.experiments.retention import Keeping, find_removable, remove
from bootlab.report.lists import retention_view

_DAYS, _NEWEST = 90, 10

app = typer.Typer(
    name="runs",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Recorded runs as files: what of them may go (docs/scale.md).",
)


@app.callback()
def _runs() -> None:
    """Recorded runs as files: what of them may go (docs/scale.md)."""


@app.command("gc")
def gc(
    older_than: Annotated[
        int, typer.Option("--older-than", min=0, max=36500, metavar="DAYS", help="Younger runs stay.")
    ] = _DAYS,
    keep: Annotated[
        int, typer.Option("--keep", min=0, max=100000, metavar="N", help="So many of each system and verb stay.")
    ] = _NEWEST,
    remove_them: Annotated[bool, typer.Option("--remove", help="Remove them. [default: list them]")] = False,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """List the runs that may go, oldest first, with their sizes; with --remove, remove them.

    A run goes that is older than --older-than and has --keep newer ones of its system and verb; so do boots that were
    moved aside. A run that some bootlab works on now stays whole, as does one that does not say when it was started.
    """
    found = find_removable(open_store(runs), Keeping(older_than, keep), datetime.now(UTC))
    return answer(retention_view(remove(found) if remove_them else found), json=json)
