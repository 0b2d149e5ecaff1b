"""A key of a system file set on the command line, `--set rootfs.model=ssd`; a sweep takes several values, one each.

It is set in the document that the file is, before that is understood: what other keys fill in follows it. With
`kernel.cmdline+=quiet,` a value is added to what the file has: words to a text, entries to a list.
"""

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import Field

from bootlab.document import Document
from bootlab.errors import InputError
from bootlab.system.file import PATHS_HINT, parse_system, read_paths
from bootlab.system.part import brief
from bootlab.system.value import System

OPTION: Final = "--set"
"""How verbs call it."""
_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[\[{]|[\]}]|,|[^"\',\[\]{}]+|.', re.S)
_KEY: Final = re.compile(r'((?:"(?:[^"\\]|\\.)*"|\'[^\']*\'|[^"\'=+])*)(\+?)=(.*)', re.S)
_BARE: Final = re.compile("[A-Za-z0-9_-]+")
UNSET, UNCHANGED = "(not set)", "(as it is)"
"""What an empty value is called: one that leaves its key out, and one that adds nothing."""


class KeySetting(Document):
    """One key with one value, as it was typed. An empty `text` leaves the key out, whatever the file says.

    `adds`: the value is added to the file's, and an empty one adds nothing.
    """

    key: str
    text: str
    adds: bool = Field(default=False, exclude_if=lambda value: not value)

    @property
    def shown(self) -> str:
        """Return the value as tables name it."""
        if self.adds:
            return f"+ {self.text}" if self.text else UNCHANGED
        return self.text or UNSET

    @property
    def value(self) -> Any:
        """Return the value as TOML has it; what is no TOML is text, so that words need no quotes."""
        try:
            return tomllib.loads(f"v = {self.text}")["v"]
        except (tomllib.TOMLDecodeError, RecursionError, ValueError):
            return self.text


def parse_setting(typed: str) -> tuple[str, list[KeySetting]]:
    """Return the key that `KEY=VALUE[,VALUE...]`, or `KEY+=...`, names, and each of its values once.

    A key that is spelled in two ways is one key. A comma within quotes, brackets or braces is part of a value. Raises
    InputError.
    """
    found = _KEY.fullmatch(typed)
    if found is None or not found[1].strip():
        raise InputError(
            f"{OPTION} {brief(typed)}: expected KEY=VALUE[,VALUE...]", hint=f"{OPTION} rootfs.model=hdd,ssd"
        )
    key, adds = ".".join(map(_spelled, _words(found[1].strip()))), bool(found[2])
    pieces, depth = [""], 0
    for token in _PIECE.findall(found[3]):
        if token == "," and depth <= 0:
            pieces.append("")
            continue
        depth += (token in ("[", "{")) - (token in ("]", "}"))
        pieces[-1] += token
    texts = dict.fromkeys(piece.strip() for piece in pieces)
    return key, [KeySetting(key=key, text=text, adds=adds) for text in texts]


def parse_single(typed: Sequence[str]) -> list[KeySetting]:
    """Return what several `KEY=VALUE` and `KEY+=VALUE` set in one system: each has one value. Raises InputError."""
    settings: list[KeySetting] = []
    for one in typed:
        key, values = parse_setting(one)
        if len(values) > 1:
            raise InputError(
                f"{OPTION} {brief(one)}: {len(values)} values, and one system is booted",
                hint="bootlab sweep boots one after another; a value with a comma in it is written in quotes",
            )
        for other in settings:
            both_add = key == other.key and values[0].adds and other.adds
            if one_in_another(key, other.key) and not both_add:
                raise InputError(f"{OPTION} {other.key} and {key}: one is in the other, so only the last would count")
        settings += values
    return settings


def system_with(data: bytes, path: Path, settings: Sequence[KeySetting]) -> System:
    """Return the system that the bytes of a file describe, the file being at `path`, with keys set.

    A path that is set is relative to the current directory. Raises InputError as of a file that says so itself, without
    its name and with what is set.
    """

    def change(document: dict[str, Any]) -> None:
        for setting in settings:
            if setting.text or not setting.adds:
                _set(document, setting)

    try:
        return parse_system(data, path, changed=change)
    except InputError as error:
        said = ", ".join(f"{OPTION} {one.key}{'+' * one.adds}={brief(one.text)}" for one in settings)
        mistakes = [line.removeprefix(f"{path}:") for line in error.message.split("\n")]
        hint = error.hint
        if hint == PATHS_HINT:
            hint = f"paths in a system file are relative to the file itself, those of {OPTION} to the current directory"
        raise InputError("\n".join(f"{one}, with {said}" for one in mistakes), hint=hint) from error


def one_in_another(first: str, second: str) -> bool:
    """Return whether one of two keys, as `parse_setting` returns them, is the other or holds it."""
    short, long = sorted((_words(first), _words(second)), key=len)
    return long[: len(short)] == short


def _set(document: dict[str, Any], setting: KeySetting) -> None:
    named = f"{OPTION} {setting.key}{'+' * setting.adds}={brief(setting.text)}"
    *above, last = _words(setting.key)
    holder: Any = document
    for word in above:
        holder = _below(holder, word, named)
    if isinstance(holder, list):
        _below(holder, last, named)
        place: Any = int(last)
        old = holder[place]
    elif isinstance(holder, dict):
        place, old = last, holder.get(last)
    else:
        raise InputError(f"{named}: no table, and nothing can be set in it: {brief(repr(holder))}")
    if not setting.text:
        if isinstance(holder, list):
            holder.pop(place)
        else:
            holder.pop(place, None)
        return
    value = setting.value
    if setting.adds and isinstance(old, list):
        own = value if isinstance(value, list) else [value]
        holder[place] = own
        _make_absolute(document, own)
        holder[place] = [*old, *own]
        return
    if setting.adds and isinstance(old, str):
        value = f"{old} {value if isinstance(value, str) else setting.text}".strip()
    elif setting.adds and old is not None:
        raise InputError(f"{named}: only to a text or a list can be added", hint="without the +, a value is set")
    holder[place] = value
    _make_absolute(document, value, holder, place)


def _make_absolute(document: dict[str, Any], value: Any, holder: Any = None, place: Any = None) -> None:
    # What holds a path is known by its place: a relative one that was set is beside the user, not beside the file.
    for _, table, name in list(read_paths(document)):
        mine = table is value or (table is holder and name == place) or _holds(value, table)
        if mine and isinstance(table[name], str):
            table[name] = os.path.abspath(table[name])


def _holds(value: Any, part: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(one is part or _holds(one, part) for one in inner)


def _below(holder: Any, word: str, named: str) -> Any:
    if isinstance(holder, list):
        if not word.isdecimal() or int(word) >= len(holder):
            raise InputError(f"{named}: {brief(word)} is none of its {len(holder)} entries, counted from 0")
        return holder[int(word)]
    if not isinstance(holder, dict):
        raise InputError(f"{named}: no table, and nothing can be set in it: {brief(repr(holder))}")
    return holder.setdefault(word, {})


def _spelled(word: str) -> str:
    # JSON's strings are TOML's.
    return word if _BARE.fullmatch(word) else '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _words(key: str) -> list[str]:
    # As a TOML file spells keys, so that one with a slash in it may be quoted.
    try:
        found: Any = tomllib.loads(f"{key} = 0")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{OPTION} {brief(key)}: not a key of TOML", hint='rootfs.texts."/etc/fstab"') from error
    words = []
    while isinstance(found, dict):
        if len(found) != 1:
            raise InputError(f"{OPTION} {brief(key)}: not one key")
        word, found = next(iter(found.items()))
        words.append(word)
    return words
