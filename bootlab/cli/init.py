"""`bootlab init`: what bootlab-init would make of a system, without booting it; its units from others' files."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bootlab.build.units.convert import read_and_convert, write_units
from bootlab.build.units.plan import InitPlan, read_plan
from bootlab.cli.options.arguments import Json, open_cache
from bootlab.cli.terminal.speech import out, print_json
from bootlab.errors import InputError
from bootlab.report.parts.figures import visible

SCHEMA = "bootlab.init-check/1"
CONVERT_SCHEMA = "bootlab.init-convert/1"
_MOST_GOALS = 16
"""MAX_GOALS of guest/init/units/config.h."""

app = typer.Typer(
    name="init",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="The services of a system with the eyes of bootlab-init, and units made of others' (docs/init.md).",
)


@app.callback()
def _init() -> None:
    """The services of a system with the eyes of bootlab-init, and units made of others' (docs/init.md)."""


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
    document = _document(root, plan)
    if json:
        print_json(document)
    else:
        _print(document)
    return 1 if plan.problems else 0


def parse_goals(text: str) -> list[str]:
    """Return the names of `--goal`. Raises InputError for none, or more than bootlab-init takes."""
    names = [name.strip() for name in text.split(",")]
    if not all(names) or len(names) > _MOST_GOALS:
        raise InputError(
            f"--goal {text}: not 1 to {_MOST_GOALS} names of units with commas between", hint="--goal ssh,nginx"
        )
    return names


def _document(root: Path, plan: InitPlan) -> dict[str, Any]:
    chain, _ = plan.longest_chain()
    work = [unit for unit in plan.units if unit.is_work]
    return {
        "schema": SCHEMA,
        "root": str(root),
        "units": [
            {
                "name": unit.name,
                "path": unit.path,
                "origin": unit.origin,
                "started": unit.wanted and not unit.broken,
                "goal": unit.goal,
                "broken": unit.broken,
            }
            for unit in work
        ],
        "built_in": sorted(unit.name for unit in plan.units if unit.origin == "builtin"),
        "not_started": sorted(unit.name for unit in work if not unit.wanted),
        "longest_chain": chain,
        "problems": [{"path": one.path, "line": one.line, "message": one.message} for one in plan.problems],
    }


def _print(document: dict[str, Any]) -> None:
    for problem in document["problems"]:
        place = problem["path"] if problem["line"] == 0 else f"{problem['path']}:{problem['line']}"
        out.print(visible(f"{place}: {problem['message']}"), soft_wrap=True)
    started = [unit for unit in document["units"] if unit["started"]]
    goal = [unit["name"] for unit in started if unit["goal"]]
    lines = [f"{len(started)} units are started" + (f", {len(goal)} of them for the goal" if goal else "")]
    if goal:
        lines.append(f"for the goal: {', '.join(sorted(goal))}")
    lines.append(f"built in: {', '.join(document['built_in']) or 'nothing'}")
    if document["not_started"]:
        lines.append(f"not started: {', '.join(document['not_started'])}")
    lines.append(f"longest chain, {len(document['longest_chain'])}: {' -> '.join(document['longest_chain']) or 'none'}")
    lines.append(f"problems: {len(document['problems'])}")
    for line in lines:
        out.print(visible(line), soft_wrap=True)


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
    written = write_units(converted, to)
    document = {
        "schema": CONVERT_SCHEMA,
        "units": [
            {
                "source": unit.path,
                "name": unit.name,
                "file": str(written[unit.name]) if unit.text is not None else None,
                "problems": [{"line": problem.line, "message": problem.message} for problem in unit.problems],
            }
            for unit in converted
        ],
    }
    if json:
        print_json(document)
    else:
        for unit in converted:
            for problem in unit.problems:
                place = f"{unit.path}:{problem.line}" if problem.line else unit.path
                out.print(visible(f"{place}: {problem.message}"), soft_wrap=True)
        whole = sum(unit.text is not None and not unit.problems for unit in converted)
        out.print(
            visible(f"{len(written)} of {len(converted)} written to {to}, {whole} of them with nothing left out"),
            soft_wrap=True,
        )
    return 1 if any(unit.problems for unit in converted) else 0
