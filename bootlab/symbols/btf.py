"""Struct layouts that a kernel carries for itself (CONFIG_DEBUG_INFO_BTF): where a member is, how large a type is.

The BTF blob is the ELF section .BTF; in a stripped kernel or a bare Image it is found by its header, which is
accepted only when everything that follows agrees with it. Format: Documentation/bpf/btf.rst of Linux 6.12.
"""

import mmap
import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bootlab.errors import InputError

Image = bytes | mmap.mmap

_HEADER = struct.Struct("<HBBIIIII")
_MAGIC = struct.pack("<HBB", 0xEB9F, 1, 0)
_HEADER_SIZE_MIN = 24
_HEADER_SIZE_MAX = 256
_MOST_CANDIDATES = 1024

_ARRAY, _STRUCT, _UNION, _ENUM, _ENUM64 = 3, 4, 5, 6, 19
_TYPEDEF, _VOLATILE, _CONST, _RESTRICT, _TYPE_TAG = 8, 9, 10, 11, 18
_TRANSPARENT = frozenset({_TYPEDEF, _VOLATILE, _CONST, _RESTRICT, _TYPE_TAG})
# 32-bit words behind the three of struct btf_type: fixed ones, and those for each of vlen, by kind (0 is void, which
# is never in the section).
_FIXED_WORDS = (0, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0)
_MEMBER_WORDS = (0, 0, 0, 0, 3, 3, 2, 0, 0, 0, 0, 0, 0, 2, 0, 3, 0, 0, 0, 3)
_NAMED = frozenset({_STRUCT, _UNION, _ENUM, _ENUM64})
_KIND_FLAG = 1 << 31
_MOST_NAMES_OF_ONE_TYPE = 32


@dataclass(frozen=True)
class _Member:
    name: int
    type: int
    offset: int
    """In bytes; -1 for a bit field that does not begin at a byte."""


class Btf:
    """The types of one kernel. A name that several types have means the first of them that can answer."""

    def __init__(self, types: "array[int]", strings: bytes, places: "array[int]", named: dict[int, list[int]]) -> None:
        self._types = types
        self._strings = strings
        self._places = places
        self._named = named

    def offset(self, path: str) -> int | None:
        """Return the offset in bytes of a member, `STRUCT.MEMBER[.MEMBER...]`; None when this kernel has none there.

        Members of anonymous structs and unions count as their parent's, as in C. Every part but the last must be a
        struct or union itself, not a pointer to one. A bit field that begins inside a byte has no offset.
        """
        first, *members = path.split(".")
        for number in self._find(first):
            found = self._member_offset(number, members)
            if found is not None:
                return found
        return None

    def size(self, name: str) -> int | None:
        """Return the size in bytes of the struct or union `name`; None when this kernel has none."""
        for number in self._find(name):
            place = self._places[number]
            if self._kind(place) in (_STRUCT, _UNION):
                return self._types[place + 2]
        return None

    def enumerator(self, enum: str, name: str) -> int | None:
        """Return the value of `name` in an enum; None when this kernel has no such enum or name."""
        wanted = self._string_offsets(name)
        for number in self._find(enum):
            place = self._places[number]
            kind, count = self._kind(place), self._types[place + 1] & 0xFFFF
            if kind not in (_ENUM, _ENUM64):
                continue
            words = _MEMBER_WORDS[kind]
            for at in range(place + 3, place + 3 + words * count, words):
                if self._types[at] in wanted:
                    return self._types[at + 1]
        return None

    def _find(self, name: str) -> list[int]:
        return sorted(number for at in self._string_offsets(name) for number in self._named.get(at, ()))

    def _string_offsets(self, name: str) -> set[int]:
        # libbpf writes every string once, the compiler (gcc -gbtf) once for each use of it.
        wanted, found = b"\0" + name.encode() + b"\0", set()
        at = self._strings.find(wanted) if name else -1
        while at >= 0:
            found.add(at + 1)
            at = self._strings.find(wanted, at + 1)
        return found

    def _kind(self, place: int) -> int:
        return self._types[place + 1] >> 24 & 0x1F

    def _member_offset(self, number: int, members: list[str]) -> int | None:
        total = 0
        for member in members:
            found = self._find_member(number, self._string_offsets(member))
            if found is None or found.offset < 0:
                return None
            total += found.offset
            number = found.type
        return total if members else None

    def _find_member(self, number: int, names: set[int]) -> _Member | None:
        # Breadth first through anonymous members; a damaged struct may hold itself.
        inside = [(number, 0)]
        seen = set()
        for number, start in inside:
            if number in seen:
                continue
            seen.add(number)
            for member in self._members(number):
                if member.name in names:
                    return _Member(member.name, member.type, start + member.offset if member.offset >= 0 else -1)
                if member.name == 0 and member.offset >= 0:
                    inside.append((member.type, start + member.offset))
        return None

    def _members(self, number: int) -> Iterator[_Member]:
        types = self._types
        for _ in range(_MOST_NAMES_OF_ONE_TYPE):
            if not 0 < number < len(self._places):
                return
            place = self._places[number]
            if self._kind(place) not in _TRANSPARENT:
                break
            number = types[place + 2]
        if self._kind(place) not in (_STRUCT, _UNION):
            return
        info = types[place + 1]
        for at in range(place + 3, place + 3 + 3 * (info & 0xFFFF), 3):
            bits = types[at + 2]
            if info & _KIND_FLAG:
                bits &= 0xFFFFFF
            yield _Member(types[at], types[at + 1], bits >> 3 if bits % 8 == 0 else -1)


def read_btf(path: Path) -> Btf | None:
    """Return the types in an uncompressed kernel, ELF or Image; None when it was built without BTF.

    Raises InputError when the file cannot be read.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
            return find_btf(image)
    except ValueError as error:
        raise InputError(f"{path}: empty file, expected a kernel") from error
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}, expected a kernel") from error


def find_btf(image: Image) -> Btf | None:
    """Return the types in the bytes of a kernel, wherever in it they are; None without any."""
    at = image.find(_MAGIC)
    for _ in range(_MOST_CANDIDATES):
        if at < 0:
            return None
        found = _decode(image, at)
        if found is not None:
            return found
        at = image.find(_MAGIC, at + 1)
    return None


def _decode(image: Image, start: int) -> Btf | None:
    if start + _HEADER.size > len(image):
        return None
    _, _, _, header, type_at, type_size, string_at, string_size = _HEADER.unpack_from(image, start)
    if not _HEADER_SIZE_MIN <= header <= _HEADER_SIZE_MAX or type_at % 4 or type_size % 4 or not type_size:
        return None
    types_start, strings_start = start + header + type_at, start + header + string_at
    if string_size < 2 or max(types_start + type_size, strings_start + string_size) > len(image):
        return None
    strings = bytes(image[strings_start : strings_start + string_size])
    if strings[0] or strings[-1]:
        return None
    types = array("I", image[types_start : types_start + type_size])
    walked = _walk(types)
    return None if walked is None else Btf(types, strings, *walked)


def _walk(types: "array[int]") -> tuple["array[int]", dict[int, list[int]]] | None:
    # Where each type is, numbered from 1, and the named structs, unions and enums by the offset of their name.
    places = array("I", [0])
    named: dict[int, list[int]] = {}
    at, end = 0, len(types)
    fixed, each = _FIXED_WORDS, _MEMBER_WORDS
    while at + 3 <= end:
        info = types[at + 1]
        kind = info >> 24 & 0x1F
        if not 0 < kind < len(fixed):
            return None
        if kind in _NAMED and types[at]:
            named.setdefault(types[at], []).append(len(places))
        places.append(at)
        at += 3 + fixed[kind] + each[kind] * (info & 0xFFFF)
    return (places, named) if at == end else None
