"""The kallsyms decoder against tables from an encoder of their own, and against everything that is no table."""

import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import InputError
from bootlab.symbols import kallsyms

BASE = 0xFFFFFFFF81000000
SOURCE = Path("vmlinux")
DECOY = b"".join(bytes([digit, 0]) for digit in b"0123456789")

Make = Callable[..., Any]


def decoded(data: bytes) -> list[tuple[int, str, str]]:
    tables = kallsyms.decode(data, SOURCE)
    return list(zip(tables.addresses(tables.base or BASE).tolist(), tables.kinds, tables.names, strict=True))


def around(data: bytes) -> bytes:
    """Return tables as they lie in an image: 8-aligned, with other things on both sides."""
    noise = random.Random(7).randbytes(4096)
    return noise + DECOY * 3 + bytes(4) + noise + data + noise


@pytest.mark.parametrize("percpu", [False, True])
@pytest.mark.parametrize("order", ["6.1", "6.2", "6.12"])
def test_decodes_what_the_encoder_wrote(order: str, percpu: bool, make_tables: Make, make_symbols: Make) -> None:
    symbols = make_symbols(BASE, percpu=percpu)
    tables = make_tables(symbols, order, BASE, absolute_percpu=percpu)
    assert decoded(tables.data) == symbols
    assert decoded(around(tables.data)) == symbols


@pytest.mark.parametrize("count", [12, 249, 250, 505, 506, 507])
def test_any_number_of_symbols(count: int, make_tables: Make, make_symbols: Make) -> None:
    """Around a multiple of 256 the last marker comes and goes."""
    symbols = make_symbols(BASE, count)
    for order in ("6.1", "6.12"):
        assert decoded(around(make_tables(symbols, order, BASE, merges=12).data)) == symbols


def test_long_names_have_two_bytes_of_length(make_tables: Make, make_symbols: Make) -> None:
    symbols = make_symbols(BASE)
    tables = make_tables(symbols, "6.12", BASE, merges=0)
    longest = max((kind + name for _, kind, name in symbols), key=len)
    length = bytes([len(longest) & 127 | 128, len(longest) >> 7])
    assert length + longest.encode() in tables.data, "without merged tokens a name is its own letters"
    assert decoded(tables.data) == symbols


def test_a_word_for_a_relocation_is_kept_as_it_is(make_tables: Make, make_symbols: Make) -> None:
    tables = make_tables(make_symbols(BASE), "6.1", BASE, word=0)
    found = kallsyms.decode(tables.data, SOURCE)
    assert (found.base, found.base_at) == (0, tables.base_at)
    assert found.distance("_text") == 0
    assert found.distance("start_kernel") == 0x100 + 32 * 600
    assert found.distance("no_such_function") is None


@pytest.mark.parametrize("order", ["6.1", "6.12"])
def test_cut_off_tables_are_an_input_error(order: str, make_tables: Make, make_symbols: Make) -> None:
    tables = make_tables(make_symbols(BASE), order, BASE)
    needed = tables.base_at + 8 if order == "6.12" else tables.parts["token_index"] + 512
    for size in [*range(0, needed, 97), needed - 1]:
        with pytest.raises(InputError, match="^vmlinux: "):
            kallsyms.decode(tables.data[:size], SOURCE)
    assert kallsyms.decode(tables.data[:needed], SOURCE).names


def test_the_beginning_missing_is_an_input_error(make_tables: Make, make_symbols: Make) -> None:
    tables = make_tables(make_symbols(BASE), "6.1", BASE)
    for start in range(8, tables.parts["token_index"], 104):
        with pytest.raises(InputError):
            kallsyms.decode(tables.data[start:], SOURCE)


def test_offsets_out_of_order_are_refused(make_tables: Make, make_symbols: Make) -> None:
    symbols = make_symbols(BASE)
    shuffled = random.Random(1).sample(symbols, len(symbols))
    with pytest.raises(InputError, match="not in a layout known here"):
        kallsyms.decode(make_tables(shuffled, "6.12", BASE).data, SOURCE)


def test_damage_never_escapes_as_another_error(make_tables: Make, make_symbols: Make) -> None:
    data = make_tables(make_symbols(BASE), "6.12", BASE, merges=30).data
    rng = random.Random(3)
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(rng.choice([1, 4, 64])):
            damaged[rng.randrange(len(data))] = rng.randrange(256)
        try:
            kallsyms.decode(bytes(damaged), SOURCE)
        except InputError as error:
            assert error.message.startswith("vmlinux: ")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(100_000),
        b"\xff" * 100_000,
        DECOY * 20_000,
        random.Random(5).randbytes(300_000),
        struct.pack("<Q", 300) * 40_000 + DECOY,
    ],
    ids=["empty", "zeros", "ones", "decoys", "random", "counts"],
)
def test_what_is_no_kernel_is_an_input_error(data: bytes) -> None:
    with pytest.raises(InputError, match="no kernel symbols found"):
        kallsyms.decode(data, SOURCE)
