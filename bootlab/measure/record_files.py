"""A boot's record and other JSON documents as files: written whole or not at all, and read back."""

import errno
import json
import os
from pathlib import Path

from bootlab.errors import StoreError
from bootlab.kept_file import UNREADABLE, damaged, read_kept_json
from bootlab.measure.record import BootRecord, Outcome
from bootlab.timeline.event import LONGEST_NS


def store_error(path: Path, error: OSError) -> StoreError:
    """Return the user's error for a failed write below `path`."""
    elsewhere = "put runs elsewhere with --runs DIR; boots already recorded are kept"
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return StoreError(
        f"{path}: cannot write the run: {error.strerror or error}",
        hint=f"free some space, or {elsewhere}" if full else elsewhere,
    )


def write_whole(path: Path, text: str) -> None:
    """Replace a file in one piece, on disk before it has its name. Raises OSError."""
    temporary = path.with_suffix(".new")
    with temporary.open("w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    temporary.rename(path)


def read_record(directory: Path) -> BootRecord:
    """Return the record of a finished boot, which is where it was found now. Raises StoreError for none, or damage."""
    path = directory / "record.json"
    try:
        record = BootRecord.model_validate_json(read_kept_json(path))
        _expect_time(record)
    except FileNotFoundError as error:
        raise StoreError(
            f"{directory}: no record.json: not a finished boot", hint="bootlab report --list shows the runs there are"
        ) from error
    except UNREADABLE as error:
        raise damaged(path, error) from error
    return record.model_copy(update={"run": str(directory)})


def _expect_time(record: BootRecord) -> None:
    """Raise ValueError for a boot that was ready, and whose time to ready is none, or less than nothing."""
    if record.outcome is Outcome.READY and record.total_ns is None:
        raise ValueError("marks.ready: missing, and outcome is ready")
    if record.total_ns is not None and not 0 <= record.total_ns <= LONGEST_NS:
        raise ValueError(f"marks.ready: it was ready after {record.total_ns} ns, load included")


def write_json(path: Path, value: object) -> None:
    """Write a JSON document in one piece. Raises StoreError."""
    try:
        write_whole(path, json.dumps(value, indent=1) + "\n")
    except OSError as error:
        raise store_error(path, error) from error
