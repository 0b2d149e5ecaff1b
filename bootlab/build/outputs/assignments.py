"""Files of NAME=value lines, as Buildroot's and the kernel's .config and a shell's environment have them."""

import re
from pathlib import Path
from typing import Final

from bootlab.errors import InputError

_LINE: Final = re.compile(r"^([A-Za-z_][A-Za-z0-9_]*)=(.*)$", re.MULTILINE)
_LARGEST: Final = 16 << 20


def parse_assignments(text: str) -> dict[str, str]:
    """Return name -> value of each line, without the quotes around it; the last one counts."""
    return {found[1]: _unquoted(found[2].strip()) for found in _LINE.finditer(text)}


def read_small(path: Path) -> str:
    """Return a text file of at most 16 MiB; bytes that are no UTF-8 are replaced. Raises InputError."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    if len(data) > _LARGEST:
        raise InputError(f"{path}: more than {_LARGEST >> 20} MiB, expected a small text file")
    return data.decode("utf-8", errors="replace")


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        inner = value[1:-1]
        return inner.replace('\\"', '"').replace("\\\\", "\\") if value[0] == '"' else inner
    return value
