"""Small but real kernels for the symbol tests: kallsyms tables written by an encoder of their own.

Written from the description of the format, not from the decoder: pairs of tokens are merged by frequency, as
scripts/kallsyms.c does, so names come out compressed with one-, two- and more-letter tokens.
"""

import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

X86_BASE = 0xFFFFFFFF81000000
ARM_BASE = 0xFFFF800080000000

Row = tuple[int, str, str]


def align(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def compress(texts: list[str], merges: int) -> tuple[list[list[int]], list[bytes]]:
    """Return each text as slot numbers, and the 256 tokens: letters keep their own slot, pairs take free ones."""
    coded = [list(text.encode("latin-1")) for text in texts]
    tokens = [b""] * 256
    for slot in {slot for each in coded for slot in each}:
        tokens[slot] = bytes([slot])
    free = [slot for slot in range(256) if not tokens[slot]]
    for slot in free[:merges]:
        pairs = Counter(pair for each in coded for pair in zip(each, each[1:], strict=False))
        if not pairs:
            break
        pair = max(pairs, key=lambda each: (pairs[each], each))
        tokens[slot] = tokens[pair[0]] + tokens[pair[1]]
        for number, each in enumerate(coded):
            merged, at = [], 0
            while at < len(each):
                hit = tuple(each[at : at + 2]) == pair
                merged.append(slot if hit else each[at])
                at += 2 if hit else 1
            coded[number] = merged
    return coded, tokens


@dataclass
class Tables:
    """The encoded tables of some symbols."""

    symbols: list[Row]
    order: str
    """`6.1`, `6.2` (seqs_of_names between markers and token table) or `6.12`."""
    base: int
    """What relative_base means."""
    word: int | None = None
    """The word relative_base in the image, when a relocation is to fill it in."""
    absolute_percpu: bool = False
    merges: int = 60
    data: bytes = b""
    base_at: int = 0
    parts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        coded, tokens = compress([kind + name for _, kind, name in self.symbols], self.merges)
        names, markers = b"", []
        for number, each in enumerate(coded):
            if number % 256 == 0:
                markers.append(len(names))
            size = len(each)
            names += bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
            names += bytes(each)
        starts, total = [], 0
        for token in tokens:
            starts.append(total)
            total += len(token) + 1
        made = {
            "num_syms": struct.pack("<I", len(self.symbols)),
            "names": names,
            "markers": struct.pack(f"<{len(markers)}I", *markers),
            "token_table": b"".join(token + b"\0" for token in tokens),
            "token_index": struct.pack("<256H", *starts),
            "offsets": b"".join(struct.pack("<I", self.offset(address) % (1 << 32)) for address, _, _ in self.symbols),
            "relative_base": struct.pack("<Q", self.base if self.word is None else self.word),
            "seqs_of_names": bytes(range(1, 250)) * 3,
        }
        orders = {
            "6.1": "offsets relative_base num_syms names markers token_table token_index",
            "6.2": "offsets relative_base num_syms names markers seqs_of_names token_table token_index",
            "6.12": "num_syms names markers token_table token_index offsets relative_base seqs_of_names",
        }
        for part in orders[self.order].split():
            self.parts[part] = len(self.data)
            self.data = align(self.data + made[part])
        self.base_at = self.parts["relative_base"]

    def offset(self, address: int) -> int:
        if not self.absolute_percpu:
            return address - self.base
        return address if address < self.base else self.base - address - 1


def some_symbols(base: int, count: int = 600, *, percpu: bool = False) -> list[Row]:
    """Return `count` symbols and more by address: functions, data, duplicated statics, aliases, a very long name."""
    rows: list[Row] = [(0x1000 * n, "A", f"cpu_{n}_state") for n in range(3)] if percpu else []
    rows.append((base, "T", "_text"))
    for number in range(count):
        kind, name = ("Tt"[number % 2], f"do_{number % 7}_thing_{number}")
        rows.append((base + 0x100 + 32 * number, kind, "type_show" if number % 50 == 49 else name))
    last = base + 0x100 + 32 * count
    rows += [
        (last, "T", "start_kernel"),
        (last, "W", "start_kernel_alias"),
        (last + 64, "t", "rust_" + "q7Zx_9KwJ2" * 40),
        (last + 128, "T", "_etext"),
        (last + 256, "D", "init_task"),
        (last + 320, "b", "counter"),
    ]
    return rows


def x86_elf(content: bytes, base: int = X86_BASE) -> bytes:
    """Return a stripped ELF64 kernel with one segment, `content`, at `base`, and a per-CPU segment at 0."""
    percpu = b"percpu!!" * 4
    header = (
        b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    )
    first = struct.pack("<IIQQQQQQ", 1, 5, 0x1000, base, 0x1000000, len(content), len(content), 0x1000)
    second = struct.pack("<IIQQQQQQ", 1, 6, 0x1000 + len(content), 0, 0, len(percpu), len(percpu), 0x1000)
    return (header + first + second).ljust(0x1000, b"\0") + content + percpu


@pytest.fixture(scope="session")
def make_tables() -> Callable[..., Tables]:
    return Tables


@pytest.fixture(scope="session")
def make_symbols() -> Callable[..., list[Row]]:
    return some_symbols


@pytest.fixture(scope="session")
def make_x86_elf() -> Callable[..., bytes]:
    return x86_elf
