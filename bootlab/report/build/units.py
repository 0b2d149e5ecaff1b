"""A system's units as bootlab-init reads them, and units made of others' files: their JSON and their words."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from bootlab.build.units.plan import InitPlan, Problem
from bootlab.build.units.unit_text import Converted
from bootlab.document import Document
from bootlab.report.parts.figures import visible
from bootlab.report.parts.view import View

CHECK_SCHEMA: Final = "bootlab.init-check/1"
CONVERT_SCHEMA: Final = "bootlab.init-convert/1"


class CheckedUnit(Document):
    """A unit that does something."""

    name: str
    path: str
    origin: str
    started: bool
    goal: bool
    """Whether it is a goal, or on the way to one."""
    broken: bool
    """Whether it cannot start."""


class CheckDocument(Document):
    """What bootlab-init would make of a system's units."""

    schema_: Literal["bootlab.init-check/1"] = Field(default=CHECK_SCHEMA, alias="schema")
    root: str
    units: list[CheckedUnit]
    built_in: list[str]
    not_started: list[str]
    longest_chain: list[str]
    problems: list[Problem]


class SourceProblem(Document):
    """What of a service or script has no counterpart. `line`: 0 for the whole file."""

    line: int
    message: str


class ConvertedUnit(Document):
    """A service or script, and the unit made of it. `file`: None when it can be none."""

    source: str
    name: str
    file: str | None
    problems: list[SourceProblem]


class ConvertDocument(Document):
    """Units made of services and scripts."""

    schema_: Literal["bootlab.init-convert/1"] = Field(default=CONVERT_SCHEMA, alias="schema")
    units: list[ConvertedUnit]


def check_view(root: Path, plan: InitPlan) -> View:
    """Return the view of a system's units; it is good when nothing is wrong with them."""
    chain, _ = plan.longest_chain()
    work = [unit for unit in plan.units if unit.is_work]
    document = CheckDocument(
        root=str(root),
        units=[
            CheckedUnit(
                name=unit.name,
                path=unit.path,
                origin=unit.origin,
                started=unit.wanted and not unit.broken,
                goal=unit.goal,
                broken=unit.broken,
            )
            for unit in work
        ],
        built_in=sorted(unit.name for unit in plan.units if unit.origin == "builtin"),
        not_started=sorted(unit.name for unit in work if not unit.wanted),
        longest_chain=chain,
        problems=list(plan.problems),
    )
    return View(document, tuple(visible(line) for line in _checked(document)), good=not plan.problems)


def convert_view(converted: Sequence[Converted], written: Mapping[str, Path], to: Path) -> View:
    """Return the view of units that were written into the folder `to`; it is good when nothing was left out."""
    document = ConvertDocument(
        units=[
            ConvertedUnit(
                source=unit.path,
                name=unit.name,
                file=str(written[unit.name]) if unit.text is not None else None,
                problems=[SourceProblem(line=one.line, message=one.message) for one in unit.problems],
            )
            for unit in converted
        ]
    )
    lines = [_at(unit.source, one.line, one.message) for unit in document.units for one in unit.problems]
    whole = sum(unit.file is not None and not unit.problems for unit in document.units)
    lines.append(f"{len(written)} of {len(converted)} written to {to}, {whole} of them with nothing left out")
    nothing_left_out = not any(unit.problems for unit in document.units)
    return View(document, tuple(visible(line) for line in lines), good=nothing_left_out)


def _checked(document: CheckDocument) -> list[str]:
    lines = [_at(one.path, one.line, one.message) for one in document.problems]
    started = [unit for unit in document.units if unit.started]
    goal = [unit.name for unit in started if unit.goal]
    lines.append(f"{len(started)} units are started" + (f", {len(goal)} of them for the goal" if goal else ""))
    if goal:
        lines.append(f"for the goal: {', '.join(sorted(goal))}")
    lines.append(f"built in: {', '.join(document.built_in) or 'nothing'}")
    if document.not_started:
        lines.append(f"not started: {', '.join(document.not_started)}")
    chain = document.longest_chain
    lines.append(f"longest chain, {len(chain)}: {' -> '.join(chain) or 'none'}")
    return [*lines, f"problems: {len(document.problems)}"]


def _at(path: str, line: int, message: str) -> str:
    return f"{path}: {message}" if line == 0 else f"{path}:{line}: {message}"
