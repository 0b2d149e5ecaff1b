"""A recording that a mail quotes reads as the recording itself, whatever its format and however it is cut."""

import io
import random

import pytest

from bootlab.importers.explaining import explain
from bootlab.importers.importer import Options
from bootlab.importers.reading.quoted import unquoted
from bootlab.importers.reading.source import Source
from tests.importers.samples import DATA, recording_of, source_of

QUOTED = [
    "other-origins/xbl-mdm9607.log", "other-origins/cbmem-apu2.txt", "debian-13/systemd-analyze-blame.txt",
    "other-origins/firecracker-1.8.log", "cloud-init/show.txt", "freebsd/boottrace.txt", "serial-initcall_debug.log",
]  # fmt: skip


class _Dribble(io.RawIOBase):
    """Gives a few bytes at a time."""

    def __init__(self, data: bytes, most: int) -> None:
        self._inner, self._most = io.BytesIO(data), most

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        return self._inner.read(min(size, self._most) if size > 0 else self._most)


@pytest.mark.parametrize("name", QUOTED)
@pytest.mark.parametrize("mark", ["> ", ">> ", "> > >"])
def test_a_quoted_recording_reads_as_itself(name: str, mark: str) -> None:
    data = (DATA / name).read_bytes()
    quoted = b"".join(mark.encode() + line for line in data.splitlines(keepends=True))
    one, other = recording_of(data), recording_of(quoted)
    assert (one.format, one.phases, one.timeline, one.lengths) == (
        other.format, other.phases, other.timeline, other.lengths,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(200))
def test_however_it_is_cut_into_reads_every_line_is_there(seed: int) -> None:
    chance = random.Random(seed)
    lines = ["".join(chance.choices("ab >\t-:0", k=chance.randint(0, 90))) for _ in range(chance.randint(3, 40))]
    # What is behind a letter is no mark, and an empty line has none in most mails.
    lines = [f"x{line}" for line in lines]
    quoted = "".join(f"{chance.choice(('> ', '>> ', '> > ', '>'))}{line}\n" for line in lines)
    stream, told = unquoted(_Dribble(quoted.encode(), chance.randint(1, 100)))
    found = b""
    while data := stream.read(chance.randint(1, 9)):
        found += data
    assert told and found.decode() == "".join(f"{line}\n" for line in lines)


def test_the_middle_of_an_endless_line_is_left_alone() -> None:
    endless = b"> a\n> b\n> c\n> " + b"x" * 70_000 + b"\n> d\n> " + b"y>" * 40_000
    stream, told = unquoted(io.BytesIO(endless))
    assert told and io.BufferedReader(stream).read() == endless.replace(b"\n> ", b"\n")[2:]  # type: ignore[type-var]


def test_a_mail_with_few_marks_stays_as_it_is() -> None:
    mail = b"> one\n> two\n> three\nfour\nfive\n"
    stream, told = unquoted(io.BytesIO(mail))
    assert not told and stream.read(100) == mail


def test_explain_says_that_it_is_quoted_and_counts_every_line() -> None:
    data = (DATA / QUOTED[0]).read_bytes()
    source = source_of(b"".join(b"> " + line for line in data.splitlines(keepends=True)))
    said = explain(source, Options())
    assert said.told.endswith("(behind the marks of a mail that quotes it)")
    assert said.account is not None and said.account.count == len(data.splitlines())
    assert Source("x", io.BytesIO(b"a\n")).quoted is False
