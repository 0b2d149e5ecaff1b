"""`--hyperfine FILE` of the verbs that boot series: their times in the form of hyperfine's `--export-json`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.terminal.files import expect_file, write_text
from bootlab.measure.record import BootRecord
from bootlab.report.boots.hyperfine import hyperfine_document

_OPTION = "--hyperfine"

Hyperfine = Annotated[
    Path | None,
    typer.Option(
        _OPTION,
        metavar="FILE",
        help="Write the times, from the VMM's start to ready, in the form of hyperfine's --export-json.",
    ),
]


def expect_hyperfine(output: Path | None, systems: Sequence[Path]) -> None:
    """Raise InputError unless the file can be written, and is none of the system files."""
    if output is not None:
        expect_file(_OPTION, output, [("the system file", path) for path in systems], example="boots.json")


def write_hyperfine(output: Path | None, series: Mapping[str, Sequence[BootRecord]]) -> None:
    """Write the file where one is asked for. Raises StoreError."""
    if output is not None:
        write_text(_OPTION, output, json.dumps(hyperfine_document(series), indent=1) + "\n")
