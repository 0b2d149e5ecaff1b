"""A key of a system file set on the command line, `rootfs.model=hdd,ssd`: one value for each system that is booted.

`kernel.cmdline+=quiet,` adds to what the file has: words to a text, entries to a list.
"""

import os
import re
import tomllib
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field, ValidationError

from bootlab.document import Document
from bootlab.errors import InputError
from bootlab.system.complaint import complaints
from bootlab.system.file import resolve_paths
from bootlab.system.part import brief
from bootlab.system.value import System

_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[\[{]|[\]}]|,|[^"\',\[\]{}]+|.', re.S)
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


def parse_setting(option: str, typed: str) -> tuple[str, list[KeySetting]]:
    """Return the key that `KEY=VALUE[,VALUE...]`, or `KEY+=...`, names, and each of its values once.

    A comma within quotes, brackets or braces is part of a value. Raises InputError.
    """
    key, equals, values = typed.partition("=")
    adds = key.endswith("+")
    key = key.removesuffix("+").strip()
    if not equals or not key:
        raise InputError(
            f"{option} {brief(typed)}: expected KEY=VALUE[,VALUE...]", hint=f"{option} rootfs.model=hdd,ssd"
        )
    _words(option, key)
    pieces, depth = [""], 0
    for token in _PIECE.findall(values):
        if token == "," and depth <= 0:
            pieces.append("")
            continue
        depth += (token in ("[", "{")) - (token in ("]", "}"))
        pieces[-1] += token
    return key, [KeySetting(key=key, text=text, adds=adds) for text in dict.fromkeys(piece.strip() for piece in pieces)]


def with_setting(option: str, system: System, setting: KeySetting) -> System:
    """Return the system with the key set, checked like a file; a path is relative to the current directory.

    Raises InputError that names the option and the key.
    """
    words = _words(option, setting.key)
    named = f"{option} {setting.key}{'+' * setting.adds}={brief(setting.text)}"
    if setting.adds and not setting.text:
        return system
    try:
        value = _resolved(option, words, setting.value, named) if setting.text else None
        if setting.adds:
            value = _added(_found(system, words), setting.text, value, named)
        return System.model_validate(_changed(system, words, value, not setting.text, named))
    except ValidationError as error:
        raise InputError(
            "\n".join(f"{named}: {one}" for one in complaints(error)), hint="docs/systems.md describes every key"
        ) from error


def _words(option: str, key: str) -> list[str]:
    # As a TOML file spells keys, so that one with a slash in it may be quoted.
    try:
        found: Any = tomllib.loads(f"{key} = 0")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{option} {brief(key)}: not a key of TOML", hint='rootfs.texts."/etc/fstab"') from error
    words = []
    while isinstance(found, dict):
        if len(found) != 1:
            raise InputError(f"{option} {brief(key)}: not one key")
        word, found = next(iter(found.items()))
        words.append(word)
    return words


def _resolved(option: str, words: list[str], value: Any, named: str) -> Any:
    # The value as a document has it where it stands, for what holds a path is known by its place there.
    top: Any = value
    for word in reversed(words):
        top = [*({} for _ in range(int(word))), top] if re.fullmatch("[0-9]{1,2}", word) else {word: top}
    missing = resolve_paths(top, Path(os.path.abspath(option)), None)
    if missing:
        raise InputError("\n".join(f"{named}: {one}" for one in missing), hint=f"a path of {option} is as it is typed")
    for word in words:
        top = top[int(word)] if isinstance(top, list) else top[word]
    return top


def _found(holder: Any, words: list[str]) -> Any:
    for word in words:
        if isinstance(holder, list | tuple):
            holder = holder[int(word)] if word.isdecimal() and int(word) < len(holder) else None
        else:
            holder = holder.get(word) if isinstance(holder, dict) else getattr(holder, word, None)
    return holder


def _added(old: Any, text: str, value: Any, named: str) -> Any:
    if isinstance(old, str):
        return f"{old} {value if isinstance(value, str) else text}".strip()
    if isinstance(old, list | tuple):
        return [*old, *(value if isinstance(value, list) else [value])]
    raise InputError(f"{named}: only to a text or a list can be added", hint="without the +, a value is set")


def _changed(holder: Any, words: list[str], value: Any, unset: bool, named: str) -> Any:
    if not words:
        return value
    word = words[0]
    if isinstance(holder, list | tuple):
        if not word.isdecimal() or int(word) >= len(holder):
            raise InputError(f"{named}: {brief(word)} is none of its {len(holder)} entries, counted from 0")
        index = int(word)
        new = _changed(holder[index], words[1:], value, unset, named)
        return [*holder[:index], new, *holder[index + 1 :]]
    if isinstance(holder, BaseModel):
        holder = {name: one for name, one in dict(holder).items() if one is not None}
    elif holder is None:
        holder = {}
    elif not isinstance(holder, dict):
        raise InputError(f"{named}: no table, and nothing can be set in it: {brief(repr(holder))}")
    if unset and len(words) == 1:
        return {name: one for name, one in holder.items() if name != word}
    return {**holder, word: _changed(holder.get(word), words[1:], value, unset, named)}
