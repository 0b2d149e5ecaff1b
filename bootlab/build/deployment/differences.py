"""What differs between two systems, key by key, as a system file spells it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from bootlab.system import System

_NO_CHANGE: Final = ("name", "description", "seed")
"""What a system is called and which random numbers it gets is no part of it."""


@dataclass(frozen=True, slots=True)
class KeyDifference:
    """A key whose value is another; None where the key is not there."""

    before: Any
    after: Any

    @property
    def words(self) -> str:
        """Both values, in one line."""
        return f"{_word(self.before)} -> {_word(self.after)}"


def differences(before: System, after: System) -> dict[str, KeyDifference]:
    """Return the keys of which two systems have other values, in the order of a system file.

    A table is looked into, but where one of the systems lacks it.
    """
    old, new = before.model_dump(mode="json"), after.model_dump(mode="json")
    return dict(_walk(old, new, ()))


def _walk(old: dict[str, Any], new: dict[str, Any], above: tuple[str, ...]) -> Iterator[tuple[str, KeyDifference]]:
    for key in dict.fromkeys([*old, *new]):
        if not above and key in _NO_CHANGE:
            continue
        one, other = old.get(key), new.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _walk(one, other, (*above, key))
        elif one != other:
            yield ".".join((*above, key)), KeyDifference(one, other)


def _word(value: Any) -> str:
    if value is None or value in ({}, [], ""):
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "a whole part" if isinstance(value, dict) else str(value)
