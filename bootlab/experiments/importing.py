"""What an import keeps on record: which files were read, and what they said."""

from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter

from bootlab.experiments.read_result import interrupted
from bootlab.experiments.store import Run
from bootlab.importers.merging import Placement
from bootlab.kept_file import UNREADABLE, damaged, parse_kept, read_kept
from bootlab.timeline.line_account import LineAccount
from bootlab.timeline.recording import Recording

SCHEMA: Final = "bootlab.import/1"


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """One file that was read. `format`: the importer's name."""

    name: str
    format: str
    size: int
    sha256: str
    account: LineAccount | None = None
    """What became of its lines; None for a file that has none, and for one imported before this was kept."""


@dataclass(frozen=True, slots=True)
class Imported:
    """One recording, of one file or of several laid over each other."""

    name: str
    files: tuple[ImportedFile, ...]
    recording: Recording
    placements: tuple[Placement, ...] = ()
    """How each of several files lies on the common clock."""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What one call of `bootlab import` read: one recording, or with --compare two."""

    imported: tuple[Imported, ...]


_RESULT: Final = TypeAdapter(ImportResult)


def import_document(result: ImportResult, run: str) -> dict[str, Any]:
    """Return the result as a document fit for JSON."""
    document: dict[str, Any] = _RESULT.dump_python(result, mode="json")
    return {"schema": SCHEMA, **document, "run": run}


def read_import(run: Run) -> ImportResult:
    """Return the result of an import on record. Raises InputError when it was interrupted, StoreError when damaged."""
    try:
        document = parse_kept(read_kept(run.result))
        if document.pop("schema") != SCHEMA:
            raise ValueError(f"schema: is not {SCHEMA}")
        del document["run"]
        return _RESULT.validate_python(document)
    except FileNotFoundError as error:
        raise interrupted(run) from error
    except UNREADABLE as error:
        raise damaged(run.result, error) from error
