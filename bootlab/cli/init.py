"""`bootlab init`: what bootlab-init would make of a system, without booting it; its units from others' files."""

from pathlib import Path
from typing import Annotated

import typer

from bootlab.build.units.convert import read_and_convert, write_units
from bootlab.build.units.plan import read_plan
from bootlab.cli.options.arguments import Json, open_cache
from bootlab.cli.terminal.showing import answer
from bootlab.errors import InputError
from bootlab.report.build.units import check_view, convert_view

_MOST_GOALS = 16
"""MAX_GOALS of guest/init/units/config.h."""

app = typer.Typer(
    name="init",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check services as bootlab-init would start them, or convert those of systemd and of scripts (docs/init.md).",
)


@app.callback()
def _init() -> None:
    """Check services as bootlab-init would start them, or convert those of systemd and of scripts (docs/init.md)."""


@app.command("check")
def check(
    root: Annotated[Path, typer.Argument(metavar="DIR", help="Root of a system: the folder that holds etc/.")],
    goal: Annotated[
        str | None,
        typer.Option("--goal", metavar="UNIT[,UNIT...]", help="What is to come first. [default: as init.conf has it]"),
    ] = None,
    json: Json = False,
) -> int:
    """Read a system's units as bootlab-init would, and say what is wrong with them.

    Cycles, missing providers, unknown keys, scripts without a header, each as file:line; units that nothing starts; the
    longest chain to the goal, and what the goal needs, which is started first. Exit code 0: nothing wrong; 1: something
    is.
    """
    plan = read_plan(root, open_cache(), parse_goals(goal) if goal is not None else ())
    return answer(check_view(root, plan), json=json)


def parse_goals(text: str) -> list[str]:
    """Return the names of `--goal`. Raises InputError for none, or more than bootlab-init takes."""
    names = [name.strip() for name in text.split(",")]
    if not all(names) or len(names) > _MOST_GOALS:
        raise InputError(
            f"--goal {text}: not 1 to {_MOST_GOALS} names of units with commas between", hint="--goal ssh,nginx"
        )
    return names


@app.command("convert")
def convert(
    sources: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="systemd .service files and LSB init scripts.")
    ],
    to: Annotated[
        Path, typer.Option("--to", metavar="DIR", help="Folder for the units, such as root/etc/bootlab/units.")
    ],
    json: Json = False,
) -> int:
    """Write units of bootlab-init that do what systemd services and init scripts do.

    A script's unit runs the script, in the order that its header asks for; a service's runs its commands. What has no
    counterpart is said as file:line and left out. Exit code 0: everything was converted; 1: something was left out.
    """
    converted = [read_and_convert(source) for source in sources]
    return answer(convert_view(converted, write_units(converted, to), to), json=json)
