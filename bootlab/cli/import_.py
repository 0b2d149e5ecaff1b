"""`bootlab import FILE`: what another tool has recorded of a boot, in our own views."""

import io
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from bootlab.cli.options.arguments import Extensions, Json, RecordingExport, Runs, extension_folders, open_store
from bootlab.cli.terminal.showing import answer, show
from bootlab.cli.terminal.speech import err
from bootlab.errors import InputError, MissingTool
from bootlab.experiments.importing import (
    Imported,
    ImportedFile,
    ImportResult,
    import_document,
)
from bootlab.experiments.store import RunKind
from bootlab.importers.bootchart.loose import pack_folder
from bootlab.importers.explaining import Explanation, explain
from bootlab.importers.importer import Options
from bootlab.importers.merging import merge
from bootlab.importers.reading.source import Source, Watcher, open_source
from bootlab.importers.registry import all_importers, read_recording
from bootlab.importers.tool_files import LONGEST_MAGIC, ToolFile, tool_file
from bootlab.measure.record_files import write_json
from bootlab.process import run
from bootlab.report.exports.recording import export_recording
from bootlab.report.lists import formats_view
from bootlab.report.recording.explanation import explanation_view
from bootlab.report.recording.view import import_view

_SAID_EVERY_S = 10.0
_STDIN = "-"
_TOOL_S = 600.0
"""How long a tool may take to make text of its own file."""


Files = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILE...", help="What a tool has written, plain or compressed; - is standard input."),
]
FormatName = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="Read it as this format. [default: what it looks like]"),
]
Formats = Annotated[bool, typer.Option("--formats", help="List the formats there are instead.")]
Tsc = Annotated[
    int | None,
    typer.Option(
        "--tsc-frequency",
        min=1,
        max=1_000_000_000_000,
        metavar="HZ",
        help="How fast the time stamp counter ran, where a recording counts cycles. [default: none, times are cycles]",
    ),
]
Exports = Annotated[
    list[RecordingExport] | None, typer.Option("--export", help="Write the recording in this form, too. Repeatable.")
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain", help="Say how each file would be read, and what of it became what, instead of importing it."
    ),
]
Compare = Annotated[
    bool, typer.Option("--compare", help="Two files are two boots: what changed from the first to the second.")
]
ExportTo = Annotated[
    Path | None, typer.Option("--to", metavar="DIR", help="Write exports here. [default: the run's directory]")
]


def import_(
    files: Files = None,
    format_name: FormatName = None,
    formats: Formats = False,
    tsc_frequency: Tsc = None,
    export: Exports = None,
    to: ExportTo = None,
    compare: Compare = False,
    explain_: Explain = False,
    extensions: Extensions = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Read what another tool has recorded of a boot, and show it as our own boots are shown.

    The format is recognised by its content. Several files are of one boot and are laid onto one clock, with the
    uncertainty stated; with --compare two files are two boots, before and after. The run is kept, and bootlab report
    shows it again; the files are not copied.
    """
    folders = extension_folders(extensions)
    if formats:
        return answer(formats_view(all_importers(folders)), json=json)
    if not files:
        raise InputError("import: which file?", hint="bootlab import FILE; bootlab import --formats lists what is read")
    options = Options(tsc_hz=tsc_frequency, extensions=folders)
    if explain_:
        if compare or export or to is not None:
            raise InputError("--explain: imports nothing, so it goes without --compare, --export and --to")
        return answer(explanation_view([_explained(name, options, format_name) for name in files]), json=json)
    if to is not None and not export:
        raise InputError("--to: says where exports go, and there is none", hint="name a form with --export")
    if compare and (len(files) != 2 or export):
        raise InputError("--compare: takes two files, before and after, and goes without --export")
    if files.count(_STDIN) > 1:
        raise InputError("-: there is one standard input", hint="name files")
    imported = tuple(_read(name, options, format_name, silent=json) for name in files)
    if not compare and len(imported) > 1:
        imported = (_merged(imported),)
    store = open_store(runs)
    started = store.start(RunKind.IMPORT, _run_name(imported[0].name), {"files": files, "format": format_name})
    with started.locked():
        result = ImportResult(imported)
        write_json(started.result, import_document(result, str(started.path)))
        written: dict[str, Path] = {}
        for form in dict.fromkeys(export or []):
            written |= export_recording(imported[0].recording, imported[0].name, form.value, to or started.path)
        return show(started, import_view(started, result, written), json=json)


def _merged(imported: tuple[Imported, ...]) -> Imported:
    merged = merge([(one.name, one.recording) for one in imported])
    return Imported(
        " + ".join(one.name for one in imported),
        tuple(file for one in imported for file in one.files),
        merged.recording,
        merged.placements,
    )


def _explained(name: str, options: Options, format_name: str | None) -> Explanation:
    if (kind := _tool_file(name)) is not None:
        text = run([*kind.argv, name], deadline_s=_TOOL_S, package=kind.package).stdout
        return explain(Source(name, io.BytesIO(text)), options, format_name)
    with open_source(name, None, pack_folder) as source:
        return explain(source, options, format_name)


def _read(name: str, options: Options, format_name: str | None, *, silent: bool) -> Imported:
    if (kind := _tool_file(name)) is not None:
        return _read_by_tool(name, kind, options, format_name)
    with _progress(name, silent=silent) as watcher, open_source(name, watcher, pack_folder) as source:
        recording = read_recording(source, options, format_name)
        source.drain()
        file = ImportedFile(source.name, recording.format, source.size, source.sha256, source.account())
    return Imported(source.name if name == _STDIN else Path(name).name, (file,), recording)


def _tool_file(name: str) -> ToolFile | None:
    # What is read from a pipe, such as `<(dmesg)`, is gone for the reader behind.
    if not os.path.isfile(name):
        return None
    try:
        with open(name, "rb") as stream:
            return tool_file(stream.read(LONGEST_MAGIC))
    except OSError:
        # open_source says why it cannot be read.
        return None


def _read_by_tool(name: str, kind: ToolFile, options: Options, format_name: str | None) -> Imported:
    try:
        text = run([*kind.argv, name], deadline_s=_TOOL_S, package=kind.package).stdout
    except MissingTool as error:
        raise MissingTool(
            f"{name}: it is {kind.title}, and {kind.argv[0]} is not here to read it",
            hint=f"{error.hint}; or, where it is: {kind.command(name)} > trace.txt",
        ) from error
    source = Source(name, io.BytesIO(text))
    recording = read_recording(source, options, format_name)
    recording = replace(recording, facts={**recording.facts, "made text by": kind.command(name)})
    with open_source(name) as original:
        original.drain()
        file = ImportedFile(name, recording.format, original.size, original.sha256, source.account())
    return Imported(Path(name).name, (file,), recording)


@contextmanager
def _progress(name: str, *, silent: bool) -> Iterator[Watcher]:
    """Show how much of a file was read: a bar on a terminal, elsewhere a line every ten seconds."""
    size = os.path.getsize(name) if os.path.isfile(name) else None
    bar = Progress(
        TextColumn("reading"), BarColumn(bar_width=24), DownloadColumn(), TransferSpeedColumn(),
        console=err, transient=True, disable=silent or not err.is_terminal,
    )  # fmt: skip
    said = time.monotonic()

    def told(done: int) -> None:
        nonlocal said
        bar.update(task, completed=done)
        if not silent and not err.is_terminal and time.monotonic() - said > _SAID_EVERY_S:
            said = time.monotonic()
            of = f" of {size / 1e6:.0f}" if size else ""
            err.print(f"  {done / 1e6:.0f}{of} MB read")

    with bar:
        task = bar.add_task("reading", total=size)
        yield told


def _run_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:40] or "recording"
