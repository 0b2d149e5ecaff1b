"""`bootlab report RUN`: show a recorded run again, on the terminal and as a page."""

from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.options.arguments import Json, Runs, open_store
from bootlab.cli.terminal.showing import answer, print_markdown, show
from bootlab.errors import InputError
from bootlab.report.kinds import KINDS
from bootlab.report.lists import runs_view


def report(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="A run: its path, directory name, number, or last.")
    ] = "last",
    list_: Annotated[bool, typer.Option("--list", help="List the runs there are instead.")] = False,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Where to write the page. [default: into the run]")
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print its tables in Markdown instead, with what they were measured on.")
    ] = False,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Show a recorded run again and write its page anew.

    Where the run cannot be written to, its figures are shown all the same; --to writes the page elsewhere.
    """
    others = [("--list", list_), ("--json", json), ("--to", to is not None)]
    if markdown and (beside := [name for name, given in others if given]):
        raise InputError(f"--markdown: prints tables and nothing else, but {', '.join(beside)} asks for something else")
    store = open_store(runs)
    if list_:
        return answer(runs_view(store.runs(), store.root), json=json)
    found = store.find(run)
    view = KINDS[found.kind](found)
    if markdown:
        return print_markdown(found, view)
    return show(found, view, json=json, to=to)
