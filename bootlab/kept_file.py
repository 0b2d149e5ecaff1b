"""Files that a run has kept, read whole, and what is wrong with one that is damaged, in one line that names the key.

Only regular files are read: a pipe or a device that somebody put in the place of one might never end.
"""

import json
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from bootlab.errors import StoreError
from bootlab.plain_file import open_plain

UNREADABLE: Final = (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError)
"""What reading a kept document raises where it is damaged: its bytes, its JSON, or what is in that."""


def is_kept(path: Path) -> bool:
    """Return whether a file was kept there, damaged or not: one that leads nowhere is damage, which has to be told."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # It is there, and nobody may look at it: whoever reads it says so.
        return True
    return True


def read_kept_bytes(path: Path) -> bytes:
    """Return the content of a regular file. Raises OSError, for anything else, too."""
    with open_plain(path) as file:
        return file.read()


def read_kept(path: Path) -> str:
    """Return the text of a regular file. Raises OSError, for anything else, too, and ValueError for no UTF-8."""
    return read_kept_bytes(path).decode()


def parse_kept(data: str | bytes) -> Any:
    """Return the JSON document in `data`. Raises ValueError, for NaN and infinities, too, RecursionError."""
    return json.loads(data, parse_constant=_refuse)


def read_kept_json(path: Path) -> bytes:
    """Return a JSON document for a form that reads it itself. Raises what `parse_kept` raises, and OSError."""
    data = read_kept_bytes(path)
    if b"NaN" in data or b"Infinity" in data:
        parse_kept(data)
    return data


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def damaged(path: Path, error: Exception) -> StoreError:
    """Return the user's error for a kept file that cannot be read, or is not what it should be."""
    if isinstance(error, PermissionError):
        return StoreError(f"{path}: cannot be read: {error.strerror}", hint="read it as its owner, or have it readable")
    return StoreError(
        f"{path}: damaged: {why_damaged(error)}",
        hint="put a copy of it there, or make the run anew; bootlab report --list shows the other runs",
    )


def why_damaged(error: Exception) -> str:
    """Return why a document cannot be read, in one line: `KEY: what` where it is about a key."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        message = first["msg"].removeprefix("Value error, ")
        return f"{key}: {message}" if key else message
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not {'ASCII' if error.encoding == 'ascii' else 'UTF-8'}"
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error}"
    if str(error).startswith("Exceeds the limit"):
        return "a number with more digits than any can have"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, KeyError):
        return f"{error.args[0]}: missing"
    return next(iter(str(error).splitlines()), type(error).__name__)
