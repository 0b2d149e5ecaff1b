"""Decode the symbol table that a stock kernel carries for itself (CONFIG_KALLSYMS), from the bytes of its image.

A stripped image has no symbol that says where the tables are, so they are found by their own structure and accepted
only when all parts agree: the token index must describe the token table, every marker must be the place of its name,
and addresses must be in order. Tables follow scripts/kallsyms.c of Linux 4.20 and later, in the order that each
version writes them:

    until 6.3:  offsets  relative_base  num_syms  names  markers  [seqs_of_names]  token_table  token_index
    since 6.4:  num_syms  names  markers  token_table  token_index  offsets  relative_base  seqs_of_names
"""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bootlab.errors import InputError

Image = bytes | mmap.mmap

_TOKENS = 256
_DIGITS = b"".join(bytes([digit, 0]) for digit in b"0123456789")
"""Every digit occurs in some symbol, so each stands for itself in the token table."""
_LONGEST_TOKEN_TABLE = 1 << 16
_NAMES_PER_MARKER = 256
_MOST_SYMBOLS = 1 << 22
_LONGEST_NAME = 2 + 512
_WINDOW = 256 << 20
_NAME_END = "\n"
_OUTSIDE_LATIN_1 = "\u0100"
_HINT = "its vmlinux or System.map serves too: kernel.symbols in the system file, or --symbols FILE"
KERNEL_HALF = 0xFFFF << 48
# Bounds on the search, so that no input can keep it busy: a real image needs the first or second of each.
_MOST_TOKEN_TABLES = 4096
_MOST_CANDIDATES = 4096


@dataclass(frozen=True)
class Kallsyms:
    """The decoded tables, in the kernel's own order: by address, preferred alias first."""

    names: list[str]
    kinds: str
    """One letter of nm(1) for each name."""
    offsets: NDArray[np.uint32]
    absolute_percpu: bool
    """CONFIG_KALLSYMS_ABSOLUTE_PERCPU: a non-negative offset is an absolute address (a per-CPU variable), a negative
    one -1 - (distance from the base)."""
    base_at: int
    """Where in the image the word relative_base is."""
    base: int
    """The word itself: a link address, or 0 when a relocation fills it in at boot."""

    def addresses(self, base: int) -> NDArray[np.uint64]:
        """Return the link address of every symbol, given the link address that relative_base stands for."""
        if not self.absolute_percpu:
            return self.offsets.astype(np.uint64) + np.uint64(base)
        distances = (~self.offsets).astype(np.uint64) + np.uint64(base)
        return np.where(self.offsets.view(np.int32) >= 0, self.offsets.astype(np.uint64), distances)

    def distance(self, name: str) -> int | None:
        """Return how far behind relative_base the first symbol called `name` is; None without one."""
        try:
            offset = int(self.offsets[self.names.index(name)])
        except ValueError:
            return None
        return ~offset & 0xFFFFFFFF if self.absolute_percpu else offset


def decode(image: Image, source: Path) -> Kallsyms:
    """Return the kallsyms tables in `image`, the bytes of an uncompressed 64-bit little-endian kernel.

    Raises InputError, naming `source`, when there are none, they are cut off, or they have an order not known here.
    """
    tables = 0
    for start, tokens, index_end in _token_tables(image):
        tables += 1
        for count_at, names in _name_tables(image, start):
            symbols = _expand(names, tokens)
            if symbols is None:
                continue
            found = _offset_tables(image, count_at, index_end, symbols)
            if found is None:
                raise InputError(
                    f"{source}: the addresses of its {len(names)} kernel symbols are not in a layout known here",
                    hint="bootlab reads kernels built with CONFIG_KALLSYMS_BASE_RELATIVE (Linux 4.20 and later)",
                )
            return found
    if tables:
        raise InputError(
            f"{source}: kernel symbols are damaged or cut off: a token table, but no names in front of it", hint=_HINT
        )
    raise InputError(
        f"{source}: no kernel symbols found: not a kernel, truncated, or built without CONFIG_KALLSYMS",
        hint=_HINT,
    )


def _token_tables(image: Image) -> Iterator[tuple[int, list[str], int]]:
    # Start of the table, its tokens, end of the index behind it.
    at = image.find(_DIGITS)
    for _ in range(_MOST_TOKEN_TABLES):
        if at < 0:
            return
        end = at
        for _ in range(_TOKENS - ord("0")):
            end = image.find(b"\0", end, at + _LONGEST_TOKEN_TABLE) + 1
            if not end:
                break
        index_at = _aligned(end)
        if end and index_at + 2 * _TOKENS <= len(image):
            index = struct.unpack_from(f"<{_TOKENS}H", image, index_at)
            start = at - index[ord("0")]
            tokens = image[start : end - 1].split(b"\0") if start >= 0 else []
            if len(tokens) == _TOKENS and tuple(accumulate((len(t) + 1 for t in tokens[:-1]), initial=0)) == index:
                yield start, [token.decode("latin-1") for token in tokens], index_at + 2 * _TOKENS
        at = image.find(_DIGITS, at + 1)


def _name_tables(image: Image, end: int) -> Iterator[tuple[int, list[str]]]:
    # Where num_syms is, and the compressed names behind it. num_syms is an unsigned int padded with zeros to 8 bytes.
    start = max(0, end - _WINDOW) & ~7
    words = np.frombuffer(image, "<u8", (end - start) // 8, start)
    small = np.flatnonzero((words > 0) & (words < _MOST_SYMBOLS))
    counts, places = words[small].astype(np.int64), small * 8 + start
    room = end - (places + 8)
    # A byte of length and at least one token each; and at most the longest name, with 8 bytes for the other tables.
    fits = (counts * 2 <= room) & ((counts + 1) * (_LONGEST_NAME + 8) >= room)
    nearest_first = np.flatnonzero(fits)[::-1][:_MOST_CANDIDATES]
    for candidate in nearest_first.tolist():
        place = int(places[candidate])
        names = _names_at(image, place + 8, int(counts[candidate]), end)
        if names is not None:
            yield place, names


def _names_at(image: Image, start: int, count: int, end: int) -> list[str] | None:
    # Each name is a length (one byte, or since 6.1 two in ULEB128), then that many token numbers.
    text = image[start : min(end, start + _NAMES_PER_MARKER * _LONGEST_NAME)].decode("latin-1")
    limit = len(text)
    names: list[str] = []
    markers: list[int] = []
    at = 0
    for number in range(count):
        if number % _NAMES_PER_MARKER == 0:
            if number == _NAMES_PER_MARKER:
                # The second marker tells a false start cheaply, before the long walk.
                if image.find(struct.pack("<II", 0, at), start + at, end) < 0:
                    return None
                text = image[start:end].decode("latin-1")
                limit = len(text)
            markers.append(at)
        if at + 2 > limit:
            return None
        length = ord(text[at])
        at += 1
        if length & 0x80:
            length = length & 0x7F | ord(text[at]) << 7
            at += 1
        stop = at + length
        if length == 0 or stop > limit:
            return None
        names.append(text[at:stop])
        at = stop
    expected = struct.pack(f"<{len(markers)}I", *markers)
    markers_at = _aligned(start + at)
    return names if image[markers_at : markers_at + len(expected)] == expected else None


def _expand(names: list[str], tokens: list[str]) -> list[str] | None:
    # One translation of all names joined is ten times faster than one of each.
    joined = _OUTSIDE_LATIN_1.join(names).translate({**dict(enumerate(tokens)), ord(_OUTSIDE_LATIN_1): _NAME_END})
    symbols = joined.split(_NAME_END)
    if len(symbols) != len(names) or not all(symbol[:1].isalpha() for symbol in symbols):
        return None
    return symbols


def _offset_tables(image: Image, count_at: int, index_end: int, symbols: list[str]) -> Kallsyms | None:
    size = 4 * len(symbols)
    before = count_at - 8 - _aligned(size)
    for offsets_at, base_at in ((before, count_at - 8), (index_end, _aligned(index_end + size))):
        if offsets_at < 0 or max(base_at + 8, offsets_at + size) > len(image):
            continue
        offsets = np.frombuffer(image, "<u4", len(symbols), offsets_at).copy()
        absolute_percpu = _is_absolute_percpu(offsets)
        (base,) = struct.unpack_from("<Q", image, base_at)
        if absolute_percpu is not None and (base == 0 or base >= KERNEL_HALF):
            names, kinds = [symbol[1:] for symbol in symbols], "".join(symbol[0] for symbol in symbols)
            return Kallsyms(names, kinds, offsets, absolute_percpu, base_at, base)
    return None


def _is_absolute_percpu(offsets: NDArray[np.uint32]) -> bool | None:
    # Which meaning of the offsets puts the symbols in order; None when neither does.
    if offsets[-1] > offsets[0] and bool(np.all(offsets[1:] >= offsets[:-1])):
        return False
    signed = offsets.view(np.int32)
    absolute = int(np.count_nonzero(signed >= 0))
    low, high = signed[:absolute], signed[absolute:]
    ordered = np.all(low >= 0) and np.all(low[1:] >= low[:-1]) and np.all(high[1:] <= high[:-1])
    return True if ordered and len(high) and high[-1] < high[0] else None


def _aligned(at: int) -> int:
    return at + 7 & ~7
