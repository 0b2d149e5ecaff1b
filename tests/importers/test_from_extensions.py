"""A stranger's importer is asked before bootlab's own; whatever is wrong with it is named, and stops nothing."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.extensions.broken import forget_broken, noted
from bootlab.importers.explaining import explain
from bootlab.importers.importer import Options
from bootlab.importers.reading.source import FormatError, Source
from bootlab.importers.registry import IMPORTERS, all_importers, read_recording, require_importer
from bootlab.timeline.recording import Recording
from tests.importers.samples import DATA

CODE = """
from bootlab.importers.importer import Importer
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event
from bootlab.timeline.recording import Recording
from bootlab.timeline.timeline import Timeline

def recognise(head):
    return next((row for row in head.rows[:1] if row == "ours"), "")

def read(source, options):
    rows = [row for _, row in source.rows()]
    for row in rows:
        source.tally.used("lines")
    return Recording("ours", "ours", Timeline.of(Clock("ours", 1), [Event(0, "line", row) for row in rows]), "ours")

IMPORTER = Importer("ours", "what we write ourselves", recognise, read)
"""


@pytest.fixture(autouse=True)
def nothing_noted() -> Iterator[None]:
    forget_broken()
    yield
    forget_broken()


def extension(folder: Path, more: str = "") -> Path:
    path = folder / "importers" / "ours.py"
    path.parent.mkdir(parents=True)
    path.write_text(CODE + more)
    return folder


def read(folder: Path, data: bytes, format_name: str | None = None) -> Recording:
    return read_recording(Source("x", io.BytesIO(data)), Options(extensions=(folder,)), format_name)


def test_it_is_recognised_and_can_be_named(tmp_path: Path) -> None:
    folder = extension(tmp_path)
    assert read(folder, b"ours\nmore\n").format == "ours"
    assert len(read(folder, b"other\n", "ours").timeline.events) == 1
    assert require_importer("ours", (folder,)).title == "what we write ourselves"
    with pytest.raises(InputError, match="no such format"):
        require_importer("ours")
    assert not noted()


OF_A_KERNEL = b"ours\n[    0.000000] Linux version 6.12.57\n[    0.100000] smp: Brought up 1 node, 1 CPU\n"


def test_its_format_is_its_own_although_a_kernel_speaks_in_it(tmp_path: Path) -> None:
    folder = extension(tmp_path)
    assert read_recording(Source("x", io.BytesIO(OF_A_KERNEL)), Options()).format == "dmesg"
    assert read(folder, OF_A_KERNEL).format == "ours"
    assert read(folder, OF_A_KERNEL, "dmesg").format == "dmesg"
    explained = explain(Source("x", io.BytesIO(OF_A_KERNEL)), Options(extensions=(folder,)))
    assert (explained.format, explained.told, explained.also) == ("ours", "ours", ("dmesg",))


def test_it_is_asked_before_a_file_is_refused(tmp_path: Path) -> None:
    # How a trace of QEMU's backend `simple` begins.
    data = b"\xff" * 8 + (0xF2B177CB0AA429B4).to_bytes(8, "little") + bytes(64)
    with pytest.raises(FormatError, match="QEMU's backend `simple`"):
        read(extension(tmp_path / "other"), data)
    folder = extension(tmp_path / "ours", "IMPORTER = Importer('ours', 'ours', lambda head: 'its first bytes', read)")
    assert read(folder, data).format == "ours"


def test_extensions_are_asked_in_the_order_in_which_they_are_named(tmp_path: Path) -> None:
    first = extension(tmp_path / "1", "IMPORTER = Importer('first', 'ours', recognise, read)")
    second = extension(tmp_path / "2", "IMPORTER = Importer('second', 'ours', recognise, read)")
    names = [one.name for one in all_importers((second, first))]
    assert names == ["second", "first", *(one.name for one in IMPORTERS)]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("del IMPORTER", "IMPORTER: expected an Importer, got NoneType"),
        ("IMPORTER = 3", "IMPORTER: expected an Importer, got int"),
        ("IMPORTER = Importer('dmesg', 'ours', recognise, read)", "IMPORTER: name: there is a format dmesg already"),
        ("IMPORTER = Importer('Our s', 'ours', recognise, read)", "IMPORTER: name: 'Our s' is not 2 to 40 small"),
        ("IMPORTER = Importer(None, 'ours', recognise, read)", "IMPORTER: name: None is not 2 to 40 small"),
        ("IMPORTER = Importer('ours', ' ', recognise, read)", "IMPORTER: title: empty"),
        ("IMPORTER = Importer('ours', 'FILL IN: what', recognise, read)", "IMPORTER: title: words to fill in"),
        ("IMPORTER = Importer('ours', 'ours', None, read)", "IMPORTER: recognise: expected a function"),
        ("raise ValueError('no')", "line 18: ValueError: no"),
    ],
)
def test_a_broken_one_is_left_out_and_named(more: str, why: str, tmp_path: Path) -> None:
    folder = extension(tmp_path, more)
    assert all_importers((folder,)) == IMPORTERS
    (one,) = noted()
    assert (one.where, one.why[: len(why)]) == (str(folder / "importers/ours.py"), why)


def test_one_that_fails_to_recognise_leaves_the_file_to_others(tmp_path: Path) -> None:
    folder = extension(tmp_path, "IMPORTER = Importer('ours', 'ours', lambda head: 1 / 0, read)")
    assert read(folder, (DATA / "dmesg-raw.log").read_bytes()).format == "dmesg"
    with pytest.raises(FormatError, match="none of the .* formats"):
        read(folder, b"ours\n")
    assert "recognise fails: line 18: ZeroDivisionError" in noted()[0].why


@pytest.mark.parametrize(
    ("code", "why"), [("1 / 0", "fails: line 18: ZeroDivisionError"), ("7", "returned int, expected a Recording")]
)
def test_one_that_fails_to_read_is_an_error_that_names_it(code: str, why: str, tmp_path: Path) -> None:
    folder = extension(tmp_path, f"IMPORTER = Importer('ours', 'ours', recognise, lambda source, options: {code})")
    with pytest.raises(FormatError, match=why) as caught:
        read(folder, b"ours\n")
    assert str(folder / "importers/ours.py") in caught.value.message
