"""The states that a bisection has set aside, kept in its run: one that goes on does not build them again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bootlab.document import Document
from bootlab.kept_file import UNREADABLE, damaged, read_kept_json
from bootlab.ledger.bisect.result import SkippedState
from bootlab.measure.record_files import write_json

SKIPS: Final = "skipped.json"


class _Skips(Document):
    """The file."""

    skipped: list[SkippedState]


def keep_skips(path: Path, skipped: Sequence[SkippedState]) -> None:
    """Write the states that were set aside into a file of the run. Raises StoreError."""
    write_json(path, _Skips(skipped=list(skipped)).model_dump(mode="json"))


def read_skips(path: Path) -> list[SkippedState]:
    """Return those of a run; none where it has none yet. Raises StoreError for a damaged file."""
    try:
        return _Skips.model_validate_json(read_kept_json(path)).skipped
    except FileNotFoundError:
        return []
    except UNREADABLE as error:
        raise damaged(path, error) from error
