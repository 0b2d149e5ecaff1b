"""A folder that was packed comes out as it was: files, links, modes and times; a damaged one is refused."""

import os
from pathlib import Path

import pytest

from bootlab.build.packed_folder import pack_folder, unpack_folder
from bootlab.errors import StoreError


def listing(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Return path -> mode, time and content of all that is in a folder; of a link its target."""
    found = {}
    for path in folder.rglob("*"):
        status = path.lstat()
        what = os.readlink(path) if path.is_symlink() else path.read_text() if path.is_file() else ""
        found[str(path.relative_to(folder))] = status.st_mode, int(status.st_mtime), what
    return found


def test_what_was_packed_comes_out_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "linux"
    (folder / "arch/x86").mkdir(parents=True)
    (folder / "arch/x86/Makefile").write_text("all:\n")
    (folder / "arch/script").write_text("#!/bin/sh\n")
    (folder / "arch/script").chmod(0o755)
    (folder / "link").symlink_to("arch/x86")
    (folder / "nowhere").symlink_to("not/there")
    os.utime(folder / "arch/x86/Makefile", (10**9, 10**9))
    pack_folder(folder, tmp_path / "packed")
    unpack_folder(tmp_path / "packed", tmp_path / "again")
    assert listing(tmp_path / "again") == listing(folder)
    assert {path.name for path in tmp_path.iterdir()} == {"linux", "packed", "again"}


def test_a_damaged_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "packed").write_bytes(b"no archive")
    with pytest.raises(StoreError, match="packed: damaged"):
        unpack_folder(tmp_path / "packed", tmp_path / "again")
