"""Takes a profile's chunks (plugin/profile_format.h) apart by kind; reader.py says what they mean.

A full boot is 20 MB of records in a few thousand chunks, so chunks are walked in Python and records never are.
"""

import struct
from typing import Any, Final

import numpy as np

from bootlab.errors import InputError
from bootlab.profile.recorded.record_types import (
    MAGIC,
    RECORD,
    WITH_TEXT,
    Call,
    ChunkKind,
    Integers,
    ProfileEvent,
    Records,
    Space,
)

_HEADER: Final = struct.Struct("<II")
_KINDS: Final = {int(kind): kind for kind in ChunkKind}
_SPACES: Final = frozenset({int(space) for space in Space} - {Space.KERNEL, Space.LEAF})
_CODES: Final = {"<u2": "H", "<u4": "I", "<i8": "q", "<u8": "Q"}


def _as_struct(record: np.dtype[Any]) -> struct.Struct:
    return struct.Struct("<" + "".join(_CODES[record[field].str] for field in record.names or ()))


_STRUCT: Final = {kind: _as_struct(RECORD[kind]) for kind in (*WITH_TEXT, ChunkKind.END)}


class ProfileChunks:
    """All chunks of a file up to where it ends or was cut off.

    `names`: (space, address, name) of the functions beyond the functions file. `cuts`: (ns, instructions, name).
    `end`: (ns, instructions, idle ns); None when the file was cut off.
    """

    def __init__(self, data: bytes, functions: int, name: str) -> None:
        """Take apart `data`, of a plugin that was given `functions` lines; messages call it `name`.

        Raises InputError when it is not a profile or is damaged.
        """
        self.name = name
        self.names: list[tuple[int, int, str]] = []
        self.cuts: list[tuple[int, int, str]] = []
        self.calls: list[Call] = []
        self.events: list[ProfileEvent] = []
        self.end: tuple[int, int, int] | None = None
        self._data = data
        self._functions = functions
        self._arrays: dict[ChunkKind, list[Records]] = {kind: [] for kind in ChunkKind}
        # How many cuts came before each chunk.
        self._cuts_before: dict[ChunkKind, list[int]] = {kind: [] for kind in ChunkKind}
        self._check_magic()
        self._walk()

    def records(self, kind: ChunkKind) -> Records:
        """Return all records of a kind, in the order they were written."""
        chunks = self._arrays[kind]
        return np.concatenate(chunks) if chunks else np.zeros(0, dtype=RECORD[kind])

    def slices(self, kind: ChunkKind) -> Integers:
        """Return for each record of a kind how many cuts came before it: the index of its slice."""
        sizes = [len(chunk) for chunk in self._arrays[kind]]
        return np.repeat(np.array(self._cuts_before[kind], dtype=np.int64), sizes)

    def damage(self, what: str, at: int | None = None, hint: str | None = None) -> InputError:
        """Return the error that says what is wrong, and at which byte."""
        where = "" if at is None else f" at byte {at}"
        return InputError(f"{self.name}: damaged{where}: {what}", hint=hint)

    def _check_magic(self) -> None:
        begin = self._data[: len(MAGIC)]
        if not begin:
            raise InputError(f"{self.name}: empty: the boot ended before the plugin wrote anything")
        if begin != MAGIC and begin.startswith(MAGIC[:-1]) and len(begin) == len(MAGIC):
            raise InputError(
                f"{self.name}: profile version {chr(begin[-1])!r}, this bootlab reads {chr(MAGIC[-1])!r}",
                hint="build the plugin from the same checkout: make setup",
            )
        if begin != MAGIC:
            raise InputError(f"{self.name}: not a profile of the plugin")

    def _walk(self) -> None:
        data, at = self._data, len(MAGIC)
        while at + _HEADER.size <= len(data):
            number, length = _HEADER.unpack_from(data, at)
            if number == 0 and not data[at:].strip(b"\0"):
                return  # A file system that lost the end of a file fills it with zeros.
            if number not in _KINDS or length % 8:
                raise self.damage(f"no chunk begins like this: kind {number}, {length} bytes", at)
            if self.end is not None:
                raise self.damage("a chunk after the end", at)
            behind = at + _HEADER.size + length
            if behind > len(data):
                return
            kind = _KINDS[number]
            take = self._take_text if kind in WITH_TEXT else self._take_records
            take(kind, at, length)
            at = behind

    def _take_records(self, kind: ChunkKind, at: int, length: int) -> None:
        size, begin = RECORD[kind].itemsize, at + _HEADER.size
        if length % size or (kind is ChunkKind.END and length != size):
            raise self.damage(f"{kind.name.lower()} records of {size} bytes in {length} bytes", at)
        if kind is ChunkKind.END:
            t_ns, instructions, idle_ns = _STRUCT[kind].unpack_from(self._data, begin)
            self.end = (t_ns, instructions, idle_ns)
            return
        self._arrays[kind].append(np.frombuffer(self._data, RECORD[kind], length // size, begin))
        self._cuts_before[kind].append(len(self.cuts))

    def _take_text(self, kind: ChunkKind, at: int, length: int) -> None:
        size, begin = RECORD[kind].itemsize, at + _HEADER.size
        if length < size:
            raise self.damage(f"a {kind.name.lower()} of {length} bytes instead of {size}", at)
        fields = _STRUCT[kind].unpack_from(self._data, begin)
        text_size = fields[2] if kind is ChunkKind.NAME else fields[-1]
        if length != size + (text_size + 7) // 8 * 8:
            raise self.damage(f"a {kind.name.lower()} with a text of {text_size} bytes in {length} bytes", at)
        text = self._data[begin + size : begin + size + text_size].decode(errors="backslashreplace")
        if kind is ChunkKind.CUT:
            self.cuts.append((fields[0], fields[1], text))
        elif kind is ChunkKind.CALL:
            self.calls.append(Call._make((*fields[:-1], text)))
        elif kind is ChunkKind.EVENT:
            self.events.append(ProfileEvent._make((*fields[:-1], text)))
        else:
            self._take_name(fields, text, at)

    def _take_name(self, fields: tuple[int, ...], text: str, at: int) -> None:
        function, space, _, address = fields
        following = self._functions + len(self.names)
        if function != following:
            raise self.damage(
                f"function {function} is named where {following} comes next",
                at,
                hint="unless it is damaged, the plugin was given another functions file than this one",
            )
        if space not in _SPACES:
            raise self.damage(f"{text!r} is in space {space}", at)
        self.names.append((space, address, text))
