"""Archives that the kernel unpacks: form, determinism, and knowing a damaged one."""

import shutil
import stat
from pathlib import Path

import pytest

from bootlab.build import archive_check, cpio
from bootlab.build.compress import compress
from bootlab.errors import InputError
from bootlab.process import run
from bootlab.system import Compression


def _archive() -> cpio.Archive:
    archive = cpio.Archive()
    archive.file("/init", b"#!/bin/sh\n", 0o755)
    archive.file("usr/share/text", b"x" * 1001)
    archive.link("bin/sh", "busybox")
    archive.device("dev/console", 5, 1)
    archive.directory("tmp", 0o1777)
    return archive


def test_what_is_written_is_read_back() -> None:
    data = _archive().to_bytes()
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
    other = cpio.Archive()
    other.directory("tmp", 0o1777)
    other.device("dev/console", 5, 1)
    other.file("usr/share/text", b"x" * 1001)
    other.link("bin/sh", "busybox")
    other.file("init", b"#!/bin/sh\n", 0o755)
    assert other.to_bytes() == _archive().to_bytes()


@pytest.mark.skipif(shutil.which("cpio") is None, reason="needs cpio")
def test_cpio_itself_reads_it(tmp_path: Path) -> None:
    listing = run(["cpio", "--list", "--quiet"], input=_archive().to_bytes()).text
    assert listing.split() == [entry.path for entry in cpio.read(_archive().to_bytes())[0]]


def test_paths_that_cannot_be_in_an_archive() -> None:
    archive = _archive()
    for path, why in (("a/../../etc", "not a path"), ("/", "not a path"), ("init", "already"), ("init/x", "not a dir")):
        with pytest.raises(InputError, match=why):
            archive.file(path, b"")


@pytest.mark.parametrize("how", Compression)
def test_a_whole_archive_is_whole_and_a_cut_one_is_not(how: Compression) -> None:
    data = compress(_archive().to_bytes(), how)
    entries = archive_check.entries(data + bytes(512))
    assert entries is not None and [entry.path for entry in entries if stat.S_ISREG(entry.mode)] == [
        "init",
        "usr/share/text",
    ]
    # A cut that only takes padding after the trailer's name loses nothing.
    for kept in (8, 40, len(data) // 2, len(data) - 8):
        if how is Compression.NONE and kept == len(data) - 8:
            continue
        with pytest.raises(InputError, match="cut short|damaged"):
            archive_check.entries(data[:kept])


def test_archives_one_after_the_other_as_a_microcode_initramfs_has_them() -> None:
    early = cpio.Archive()
    early.file("kernel/x86/microcode/some.bin", b"code")
    data = early.to_bytes() + bytes(300) + compress(_archive().to_bytes(), Compression.ZSTD)
    entries = archive_check.entries(data)
    assert entries is not None
    assert {"kernel/x86/microcode/some.bin", "init"} <= {entry.path for entry in entries}
    with pytest.raises(InputError):
        archive_check.entries(data[:-20])


def test_an_unknown_form_is_not_judged() -> None:
    assert archive_check.entries(b"hsqs" + bytes(100)) is None


def test_nothing_is_not_an_archive() -> None:
    with pytest.raises(InputError, match="empty"):
        archive_check.entries(bytes(512))
