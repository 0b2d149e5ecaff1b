"""`bootlab examples`: the systems that come with bootlab, and a copy of them to change."""

from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.options.arguments import Json
from bootlab.cli.terminal.showing import answer
from bootlab.report.lists import examples_view
from bootlab.system.examples import copy_examples, find_example, list_examples


def _complete(incomplete: str) -> list[str]:
    return [example.name for example in list_examples() if example.name.startswith(incomplete)]


def examples(
    name: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="These. [default: all]", autocompletion=_complete),
    ] = None,
    copy: Annotated[
        Path | None,
        typer.Option(
            "--copy",
            metavar="DIR",
            help="Copy their system files into DIR, with what those and the commands in their comments name; "
            "nothing is overwritten.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """List the systems that come with bootlab, or copy them to a place of your own.

    Any verb takes the path that is shown. To change one, copy it: `bootlab examples debian-cloud --copy .`
    """
    chosen = [find_example(one) for one in name] if name else list_examples()
    copied = copy_examples(chosen, copy, whole=not name) if copy is not None else None
    return answer(examples_view(chosen, copied), json=json)
