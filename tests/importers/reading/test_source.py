"""Files that are compressed, damaged, endless or not files at all, read in bounded memory."""

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from bootlab.errors import InputError
from bootlab.importers.reading.source import HEAD_BYTES, MOST_ROW_BYTES, FormatError, Source, open_source
from tests.importers.samples import DATA, recording_of

TEXT = b"".join(b"[%5d.%06d] line %d\n" % (number // 1000, number % 1000, number) for number in range(20_000))
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zstd": zstandard.compress,
    "two gzip members": lambda data: gzip.compress(data[:1000]) + gzip.compress(data[1000:]),
    "two xz streams": lambda data: lzma.compress(data[:1000]) + lzma.compress(data[1000:]),
}


@pytest.mark.parametrize("name", PACKERS)
def test_every_compression_gives_the_same_rows(name: str) -> None:
    packed = PACKERS[name](TEXT)
    source = Source("x", io.BytesIO(packed))
    rows = list(source.rows())
    assert [number for number, _ in rows] == list(range(1, 20_001))
    assert "\n".join(row for _, row in rows) + "\n" == TEXT.decode()
    source.drain()
    assert source.size == len(packed)
    assert source.head.data == TEXT[:HEAD_BYTES]


@pytest.mark.parametrize("name", ["gzip", "xz", "bz2", "zstd"])
@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_file_is_said_to_be_one(name: str, damage: str) -> None:
    packed = PACKERS[name](TEXT)
    middle = len(packed) // 2
    flipped = packed[:middle] + bytes(byte ^ 0xFF for byte in packed[middle : middle + 64]) + packed[middle + 64 :]
    with pytest.raises(FormatError, match=r"^board\.log: damaged"):
        list(Source("board.log", io.BytesIO(packed[:middle] if damage == "cut" else flipped)).rows())


def test_a_line_that_never_ends_is_cut_and_counted() -> None:
    source = Source("x", io.BytesIO(b"a" * 10_000_000 + b"\nb\n"))
    rows = list(source.rows())
    assert [(number, len(row)) for number, row in rows] == [(1, MOST_ROW_BYTES), (2, 1)]
    assert source.cut_rows == 1


def test_a_bomb_is_not_held() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    with pytest.raises(FormatError, match="larger than 1 MiB"):
        Source("bomb.gz", io.BytesIO(bomb)).whole(1 << 20)


def test_an_xz_header_that_claims_gigabytes_is_refused() -> None:
    # Byte 16 of the stream is the dictionary size: 40 claims 4 GiB.
    packed = bytearray(lzma.compress(b"x" * 1000))
    packed[16] = 40
    with pytest.raises(FormatError, match="damaged"):
        Source("x.xz", io.BytesIO(bytes(packed)))


def test_an_expectation_names_file_and_line_and_shows_nothing_that_acts() -> None:
    error = Source("a.log", io.BytesIO(b"")).expected("a span such as 1min 9.608s", row=7, got="\x1b[2J<b>")
    assert error.message == r"a.log:7: expected a span such as 1min 9.608s, got '\x1b[2J<b>'"


@pytest.mark.parametrize("name", ["none.log", "."])
def test_what_is_no_file_is_the_users_error(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=name), open_source(name):
        pass


@pytest.mark.parametrize("code", ["utf-16-le", "utf-16-be"])
def test_text_in_utf_16_is_text(code: str) -> None:
    # `systemd-analyze blame > blame.txt` in a PowerShell.
    text = (DATA / "debian-13" / "systemd-analyze-blame.txt").read_text() + "4ms a\U0001f600b.service\n"
    packed = ("\ufeff" + text.replace("\n", "\r\n")).encode(code)
    assert recording_of(packed).lengths == recording_of(text.encode()).lengths
    rows = [row for _, row in Source("x", io.BytesIO(packed[:-3])).rows()]
    assert rows[-1].startswith("4ms a\U0001f600b.servic")
    # A lone surrogate has no UTF-8, and what only begins so stays what it is.
    assert [row for _, row in Source("x", io.BytesIO("\ufeffa\ud800b".encode("utf-16-le", "surrogatepass"))).rows()]
    assert Source("x", io.BytesIO(b"\xff\xfe\0\0rest")).whole() == b"\xff\xfe\0\0rest"


def test_a_zip_archive_is_said_to_be_one() -> None:
    with pytest.raises(FormatError) as refused:
        recording_of(b"PK\x03\x04hello")
    assert "unzip -p" in (refused.value.hint or "")
