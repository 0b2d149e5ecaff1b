"""What there is, as lists: the runs of a store, the tools of this host, the formats that are imported."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import Field
from rich.console import RenderableType
from rich.text import Text

from bootlab.document import Document
from bootlab.experiments.retention import Retention
from bootlab.experiments.store import Listed
from bootlab.importers.importer import Importer
from bootlab.measure.host.toolbox import ToolJob, ToolStatus
from bootlab.report.parts.figures import size_words, visible
from bootlab.report.parts.terminal_tables import keep_whole, plain_table
from bootlab.report.parts.view import View
from bootlab.sources import SET_UP, SET_UP_BUILD
from bootlab.system.examples import Example

RUNS_SCHEMA: Final = "bootlab.runs/1"
TOOLS_SCHEMA: Final = "bootlab.doctor/1"
FORMATS_SCHEMA: Final = "bootlab.import-formats/1"
EXAMPLES_SCHEMA: Final = "bootlab.examples/1"
_DAMAGED = "(damaged: bootlab report with its path says how)"


class RunRow(Document):
    """A run of a store."""

    run: str
    kind: str
    system: str
    started: str


class RunsDocument(Document):
    """The runs of a store, oldest first."""

    schema_: Literal["bootlab.runs/1"] = Field(default=RUNS_SCHEMA, alias="schema")
    runs: list[RunRow]


class ToolsDocument(Document):
    """Every tool and device that bootlab uses."""

    schema_: Literal["bootlab.doctor/1"] = Field(default=TOOLS_SCHEMA, alias="schema")
    tools: list[ToolStatus]


class FormatRow(Document):
    """A format: the name that --format takes, and what it is."""

    name: str
    title: str


class FormatsDocument(Document):
    """The formats that are imported."""

    schema_: Literal["bootlab.import-formats/1"] = Field(default=FORMATS_SCHEMA, alias="schema")
    formats: list[FormatRow]


class ExampleRow(Document):
    """A system that comes with bootlab, and where its system file is."""

    name: str
    description: str
    path: str


class ExamplesDocument(Document):
    """Systems that come with bootlab."""

    schema_: Literal["bootlab.examples/1"] = Field(default=EXAMPLES_SCHEMA, alias="schema")
    examples: list[ExampleRow]


def retention_view(found: Retention) -> View:
    """Return what of a store goes or has gone, and what stays."""
    lines = [visible(f"{size_words(one.bytes):>10}  {one.path}  {one.why}") for one in found.removable]
    total = size_words(sum(one.bytes for one in found.removable))
    said = "removed" if found.removed else "may go (--remove removes them)"
    lines.append(
        f"{len(found.removable)} folders, {total}, {said}; {found.kept_runs} runs stay, {size_words(found.kept_bytes)}"
    )
    lines += [visible(f"stays, a bootlab works on it: {path}") for path in found.at_work]
    lines += [visible(f"stays, it does not say when it was started: {path}") for path in found.undated]
    return View(found, tuple(lines))


def runs_view(runs: Sequence[Listed], root: Path) -> View:
    """Return the list of the runs in a store at `root`."""
    rows = [RunRow(run=str(run.path), kind=run.kind, system=run.system, started=run.started) for run in runs]
    lines = [visible(f"{run.path.name:<44} {run.started or _DAMAGED}{_state(run)}") for run in runs]
    return View(RunsDocument(runs=rows), tuple(lines) or (f"no runs in {root}",))


def _state(run: Listed) -> str:
    return "" if run.finished or not run.started else "  (unfinished)"


def tools_view(findings: Sequence[ToolStatus]) -> View:
    """Return the list of tools and devices, found or not; it is good when nothing is missing that is needed."""
    lines: list[RenderableType] = []
    width = max((len(finding.name) for finding in findings), default=0)
    for finding in findings:
        state = "found  " if finding.found else ("MISSING" if finding.needed else "absent ")
        lines.append(f"{state}  {finding.name:<{width}} {finding.version}".rstrip())
        lines.append(Text(f"         {finding.purpose}", style="dim"))
        if finding.hint:
            lines.append(f"         to get it: {finding.hint}")
    lines += ["", *_tools_in_all(findings)]
    missing = any(finding.needed and not finding.found for finding in findings)
    return View(ToolsDocument(tools=list(findings)), tuple(lines), good=not missing)


def _tools_in_all(findings: Sequence[ToolStatus]) -> list[str]:
    """Return a sentence for boots, and one for builds: all there, or what is not and the command that installs it."""
    said = []
    for job, title, command in ((ToolJob.BOOT, "every boot", SET_UP), (ToolJob.BUILD, "builds", SET_UP_BUILD)):
        absent = [finding.name for finding in findings if finding.job is job and not finding.found]
        words = f"{len(absent)} not here ({command} installs what apt has): {', '.join(absent)}"
        said.append(f"for {title}: {words if absent else 'all is here'}")
    return said


def formats_view(importers: Sequence[Importer]) -> View:
    """Return the list of the formats that are imported."""
    rows = plain_table("--format", "what it is")
    keep_whole(rows, rows.columns[:1])
    for one in importers:
        rows.add_row(one.name, one.title)
    return View(FormatsDocument(formats=[FormatRow(name=one.name, title=one.title) for one in importers]), (rows,))


def examples_view(examples: Sequence[Example], copied: Sequence[Path] | None) -> View:
    """Return the list of examples; `copied`: where each was copied to, in the same order."""
    paths = list(copied) if copied is not None else [example.path for example in examples]
    rows = [
        ExampleRow(name=example.name, description=example.description, path=str(path))
        for example, path in zip(examples, paths, strict=True)
    ]
    table = plain_table("example", "what it is")
    keep_whole(table, table.columns[:1])
    for row in rows:
        table.add_row(row.name, row.description)
    lines: list[RenderableType] = [table] if copied is None else []
    if copied is not None or len(rows) == 1:
        lines += [visible(row.path) for row in rows]
    else:
        lines.append("bootlab examples NAME says where one is; --copy DIR makes a copy to change")
    return View(ExamplesDocument(examples=rows), tuple(lines))
