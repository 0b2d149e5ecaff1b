"""What an import keeps on record: which files were read, and what they said."""

import json
from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from bootlab.errors import StoreError
from bootlab.experiments.results import interrupted
from bootlab.experiments.store import Run
from bootlab.importers.merging import Placement
from bootlab.timeline.recording import Recording

SCHEMA: Final = "bootlab.import/1"


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """One file that was read. `format`: the importer's name."""

    name: str
    format: str
    size: int
    sha256: str


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
        document = json.loads(run.result.read_text(encoding="utf-8"))
        if document.pop("schema") != SCHEMA:
            raise ValueError("another schema")
        del document["run"]
        return _RESULT.validate_python(document)
    except FileNotFoundError as error:
        raise interrupted(run) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
        raise StoreError(f"{run.result}: damaged: {str(error).splitlines()[0]}") from error
