"""What pydantic finds wrong with a system, in bootlab's words: the key, what it is, and what was given."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from bootlab.system.part import EXPLAINED, brief

_TABLE: Final = "expected a table of keys"
_EXPECTED: Final[Mapping[str, str]] = {
    "model_type": _TABLE,
    "dict_type": _TABLE,
    "tuple_type": "expected a list",
    "path_type": "expected a path, which is text",
}
"""What pydantic says in words of Python's, by its name of the mistake."""


def complaints(error: ValidationError) -> list[str]:
    """Return what pydantic found wrong, one `key: what` for each."""
    return [_complaint(item) for item in error.errors()]


def _complaint(item: Any) -> str:
    # A key that is wrong itself, not what it holds, ends in [key].
    loc, kind, got = item["loc"], item["type"], item["input"]
    if loc[:1] == ("target",):
        # Its second word is the kind, which the file does not say as a key.
        loc = (*loc[:1], *loc[2:])
    key = brief(".".join(str(part) for part in loc if part != "[key]")) or "(whole file)"
    if kind == "union_tag_not_found":
        return f"{key}.kind: missing"
    if kind == "union_tag_invalid":
        kinds, given = item["ctx"]["expected_tags"].replace(", ", " or "), item["ctx"]["tag"]
        return f"{key}.kind: input should be {kinds}, got {brief(repr(given))}"
    if kind == "extra_forbidden":
        return f"{key}: unknown key"
    if kind == "missing":
        return f"{key}: missing"
    message = _EXPECTED.get(kind) or brief(item["msg"].removeprefix("Value error, "), EXPLAINED)
    message = message[0].lower() + message[1:]
    if isinstance(got, str):
        return f"{key}: {message}, got {brief(repr(got))}"
    if isinstance(got, int | float | bool):
        return f"{key}: {message}, got {brief(got)}"
    return f"{key}: {message}"
