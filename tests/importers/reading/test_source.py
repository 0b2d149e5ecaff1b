"""Files that are compressed, damaged, endless or not files at all, read in bounded memory."""

import gzip
import io
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.importers.reading.source import MOST_ROW_BYTES, FormatError, Source, open_source
from tests.importers.samples import DATA, recording_of


def test_a_line_that_never_ends_is_cut_and_counted() -> None:
    source = Source("x", io.BytesIO(b"a" * 10_000_000 + b"\nb\n"))
    rows = list(source.rows())
    assert [(number, len(row)) for number, row in rows] == [(1, MOST_ROW_BYTES), (2, 1)]
    assert source.cut_rows == 1


def test_an_expectation_names_file_and_line_and_shows_nothing_that_acts() -> None:
    error = Source("a.log", io.BytesIO(b"")).expected("a span such as 1min 9.608s", row=7, got="\x1b[2J<b>")
    assert error.message == r"a.log:7: expected a span such as 1min 9.608s, got '\x1b[2J<b>'"


def test_what_was_looked_at_further_on_is_read_all_the_same() -> None:
    rows = [f"row {number}" for number in range(20_000)]
    source = Source("x", io.BytesIO("\n".join(rows).encode()))
    assert source.head.further_rows[-1] == rows[-1] and len(source.head.rows) + len(source.head.further_rows) > 20_000
    assert [row for _, row in source.rows()] == rows
    read = Source("x", io.BytesIO("\n".join(rows).encode()))
    assert len(list(read.rows())) == len(rows) and read.head.further_rows == []


def test_damage_further_on_is_told_when_the_file_is_read() -> None:
    packed = gzip.compress(b"".join(b"%d: %x\n" % (number, number * number) for number in range(100_000)))
    source = Source("x", io.BytesIO(packed[: len(packed) * 2 // 3]))
    assert source.head.further_rows == []
    with pytest.raises(InputError, match="damaged"):
        list(source.rows())


@pytest.mark.parametrize("first", [b'[{"a": ', b"\0" * 700])
def test_json_and_what_is_no_text_is_not_looked_at_further_on(first: bytes) -> None:
    assert Source("x", io.BytesIO(first + b"Linux version 6.1\n" * 10_000)).head.further_rows == []


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
