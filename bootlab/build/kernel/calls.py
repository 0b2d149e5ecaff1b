"""Which functions of a linked kernel call which others by name, told from its code.

A call by name is a branch whose target stands in the instruction. What is called otherwise, through a table of
operations or a pointer in a register, had to be registered first: somebody offered it to whoever would ask.
"""

import bisect
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from bootlab.errors import InputError

CALLS_READ_OF: Final = ("x86_64", "aarch64", "armv7")
"""Architectures whose calls by name are read; riscv64's are pairs of instructions."""
_MOST: Final = 1 << 16
"""Bytes: no function is longer than that; what follows the last one of a section is none of it."""


class NamedCalls:
    """The calls by name of one kernel. `starts`: the link-time addresses at which its functions begin."""

    def __init__(self, vmlinux: Path, starts: Sequence[int]) -> None:
        try:
            with vmlinux.open("rb") as file:
                elf = ELFFile(file)
                self._find = _TARGETS.get(elf["e_machine"])
                self._parts = [
                    (int(part["p_vaddr"]), part.data()) for part in elf.iter_segments("PT_LOAD") if part["p_filesz"]
                ]
        except (OSError, ELFError) as error:
            raise InputError(f"{vmlinux}: not a linked kernel: {error}") from error
        if self._find is None:
            raise InputError(f"{vmlinux}: calls are read of x86-64, arm64 and arm kernels only")
        self._starts = sorted(set(starts))

    def has(self, caller: int, callee: int) -> bool:
        """Return whether the function at `caller` names the one at `callee` in a call, jump or branch."""
        return callee in self._targets(caller)

    @cache  # noqa: B019 - one lives as long as the kernel is looked at
    def _targets(self, caller: int) -> frozenset[int]:
        assert self._find is not None
        return self._find(caller, self._code(caller))

    def _code(self, start: int) -> bytes:
        place = bisect.bisect_right(self._starts, start)
        end = min(self._starts[place] if place < len(self._starts) else start + _MOST, start + _MOST)
        for address, data in self._parts:
            if address <= start < address + len(data):
                return data[start - address : end - address]
        return b""


def _x86_targets(start: int, code: bytes) -> frozenset[int]:
    # Instructions have no fixed length: every byte is looked at as if one began there. That a displacement in the
    # middle of another instruction should hit the very address of a function that was called is next to impossible.
    data = np.frombuffer(code, dtype=np.uint8)
    # call, jmp, and the conditional jumps; jmp and those once more with one byte.
    near = np.flatnonzero((data == 0xE8) | (data == 0xE9)) + 1
    two = np.flatnonzero((data[:-1] == 0x0F) & (data[1:] & 0xF0 == 0x80)) + 2
    short = np.flatnonzero((data == 0xEB) | (data & 0xF0 == 0x70)) + 1
    return frozenset(
        start + place + size + int.from_bytes(code[place : place + size], "little", signed=True)
        for places, size in (((*near.tolist(), *two.tolist()), 4), (short.tolist(), 1))
        for place in places
        if place + size <= len(code)
    )


def _arm64_targets(start: int, code: bytes) -> frozenset[int]:
    words = np.frombuffer(code[: len(code) // 4 * 4], dtype="<u4").astype(np.int64)
    # b and bl, 26 bits; b.cond, cbz and cbnz, 19 bits.
    far = np.flatnonzero(words & 0x7C000000 == 0x14000000)
    near = np.flatnonzero((words & 0xFF000010 == 0x54000000) | (words & 0x7E000000 == 0x34000000))
    return frozenset(
        start + 4 * (place + _signed(int(words[place]) >> shift & ((1 << bits) - 1), bits))
        for places, shift, bits in ((far.tolist(), 0, 26), (near.tolist(), 5, 19))
        for place in places
    )


def _arm_targets(start: int, code: bytes) -> frozenset[int]:
    # A function is in ARM or in Thumb code, and which is not told: it is read as both. That what is an instruction of
    # the other should hit the very address of a function that was called is next to impossible.
    return frozenset((*_a32_targets(start, code), *_t32_targets(start, code)))


def _a32_targets(start: int, code: bytes) -> Iterator[int]:
    words = np.frombuffer(code[: len(code) // 4 * 4], dtype="<u4").astype(np.int64)
    # b and bl of any condition, 24 bits; blx, which goes over to Thumb code, has one bit more for half a word.
    for place in np.flatnonzero(words & 0x0E000000 == 0x0A000000).tolist():
        word = int(words[place])
        half = (word >> 24 & 1) * 2 if word >> 28 == 0xF else 0
        yield start + 4 * place + 8 + 4 * _signed(word & 0xFFFFFF, 24) + half


def _t32_targets(start: int, code: bytes) -> Iterator[int]:
    halves = np.frombuffer(code[: len(code) // 2 * 2], dtype="<u2").astype(np.int64)
    first, second = halves[:-1], halves[1:]
    # bl, blx and b.w, 25 bits; b<condition>.w, 21 bits (conditions 14 and 15 are other instructions).
    wide = (first & 0xF800 == 0xF000) & (second & 0x8000 == 0x8000)
    for place in np.flatnonzero(wide).tolist():
        high, low = int(first[place]), int(second[place])
        here, sign, j1, j2 = start + 2 * place + 4, high >> 10 & 1, low >> 13 & 1, low >> 11 & 1
        if low & 0x5000:
            i1, i2 = 1 - (j1 ^ sign), 1 - (j2 ^ sign)
            offset = _signed(sign << 24 | i1 << 23 | i2 << 22 | (high & 0x3FF) << 12 | (low & 0x7FF) << 1, 25)
            # blx comes to ARM code, whose words begin at multiples of four.
            yield (here if low & 0x1000 else here & ~3) + offset
        elif high >> 7 & 7 != 7:
            yield here + _signed(sign << 20 | j2 << 19 | j1 << 18 | (high & 0x3F) << 12 | (low & 0x7FF) << 1, 21)
    # b and b<condition> of half a word, cbz and cbnz.
    for place in np.flatnonzero(halves & 0xF800 == 0xE000).tolist():
        yield start + 2 * place + 4 + _signed((int(halves[place]) & 0x7FF) << 1, 12)
    for place in np.flatnonzero((halves & 0xF000 == 0xD000) & (halves & 0x0E00 != 0x0E00)).tolist():
        yield start + 2 * place + 4 + _signed((int(halves[place]) & 0xFF) << 1, 9)
    for place in np.flatnonzero(halves & 0xF500 == 0xB100).tolist():
        half = int(halves[place])
        yield start + 2 * place + 4 + (half >> 9 & 1) * 64 + (half >> 3 & 0x1F) * 2


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


_TARGETS = {"EM_X86_64": _x86_targets, "EM_AARCH64": _arm64_targets, "EM_ARM": _arm_targets}
