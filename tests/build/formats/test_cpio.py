"""Archives that the kernel unpacks: form, determinism, and knowing a damaged one."""

import shutil
import stat
from pathlib import Path

import pytest

from bootlab.build.formats import cpio
from bootlab.build.formats.cpio import Entry
from bootlab.build.root import archive_check
from bootlab.errors import InputError
from bootlab.process import run
from tests.build.formats.archives import _archive, _tree


def test_what_is_written_is_read_back() -> None:
    data = _archive()
    entries, end = cpio.read(data)
    assert end == len(data)
    assert [(entry.path, oct(entry.mode), entry.size, entry.device) for entry in entries] == [
        ("bin", "0o40755", 0, (0, 0)),
        ("bin/sh", "0o120777", 7, (0, 0)),
        ("dev", "0o40755", 0, (0, 0)),
        ("dev/console", "0o20600", 0, (5, 1)),
        ("init", "0o100755", 10, (0, 0)),
        ("tmp", "0o41777", 0, (0, 0)),
        ("usr", "0o40755", 0, (0, 0)),
        ("usr/share", "0o40755", 0, (0, 0)),
        ("usr/share/text", "0o100644", 1001, (0, 0)),
    ]


def test_order_of_adding_does_not_matter() -> None:
    assert cpio.write(reversed(_tree().entries())) == _archive()


def test_owners_and_hard_links_are_kept() -> None:
    names = [Entry(path, stat.S_IFREG | 0o4755, b"text", owner=(1, 42), linked="one") for path in ("a", "b", "c")]
    archive = cpio.write(names)
    entries, _ = cpio.read(archive)
    assert {entry.owner for entry in entries} == {(1, 42)} and {entry.mode for entry in entries} == {0o104755}
    assert len({entry.linked for entry in entries} - {""}) == 1
    assert [entry.data for entry in entries] == [b"text"] * 3
    assert archive.count(b"text") == 1, "the bytes are there once"


@pytest.mark.skipif(shutil.which("cpio") is None, reason="needs cpio")
def test_hard_links_as_cpio_itself_writes_them(tmp_path: Path) -> None:
    (tmp_path / "busybox").write_bytes(b"text")
    (tmp_path / "sh").hardlink_to(tmp_path / "busybox")
    argv = ["sh", "-c", "cd $0 && ls | cpio --create --format=newc --quiet", str(tmp_path)]
    entries, _ = cpio.read(run(argv).stdout)
    assert [(entry.path, entry.data) for entry in entries] == [("busybox", b"text"), ("sh", b"text")]
    assert len({entry.linked for entry in entries}) == 1


@pytest.mark.skipif(shutil.which("cpio") is None, reason="needs cpio")
def test_cpio_itself_reads_it(tmp_path: Path) -> None:
    listing = run(["cpio", "--list", "--quiet"], input=_archive()).text
    assert listing.split() == [entry.path for entry in cpio.read(_archive())[0]]


def test_nothing_is_not_an_archive() -> None:
    with pytest.raises(InputError, match="empty"):
        archive_check.entries(bytes(512))
