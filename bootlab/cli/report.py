"""`bootlab report RUN`: show a recorded run again, on the terminal and as a page."""

from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.options.arguments import Json, Runs, open_store
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import out, print_json
from bootlab.experiments.store import Store
from bootlab.report.kinds import KINDS


def report(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="A run: its path, directory name, number, or last.")
    ] = "last",
    list_: Annotated[bool, typer.Option("--list", help="List the runs there are instead.")] = False,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Where to write the page. [default: into the run]")
    ] = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Show a recorded run again and write its page anew.

    Where the run cannot be written to, its figures are shown all the same; --to writes the page elsewhere.
    """
    store = open_store(runs)
    if list_:
        return _list(store, json)
    found = store.find(run)
    return show(found, KINDS[found.kind](found), json=json, to=to)


def _list(store: Store, json: bool) -> int:
    found = store.runs()
    if json:
        rows = [{"run": str(run.path), "kind": run.kind, "system": run.system, "started": run.started} for run in found]
        print_json({"schema": "bootlab.runs/1", "runs": rows})
        return 0
    for run in found:
        state = "" if run.finished else "  (unfinished)"
        out.print(f"{run.path.name:<44} {run.started}{state}", soft_wrap=True)
    if not found:
        out.print(f"no runs in {store.root}", soft_wrap=True)
    return 0
