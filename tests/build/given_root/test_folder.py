"""A root in a folder: what is read of it, who owns what, what stays out, what is no root."""

import errno
import os
import socket
import stat
from pathlib import Path

import pytest

from bootlab.build.given_root.folder import is_root_folder, read_folder
from bootlab.build.given_root.limits import Budget
from bootlab.errors import InputError


def root(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "etc").mkdir()
    (folder / "bin/app").write_bytes(b"1")
    (folder / "bin/app").chmod(0o4755)
    (folder / "bin/sh").symlink_to("app")
    os.link(folder / "bin/app", folder / "bin/also")
    return folder


def test_files_keep_mode_and_links_and_the_folders_owner_is_root(tmp_path: Path) -> None:
    folder = root(tmp_path / "root")
    if os.geteuid() == 0:
        os.chown(folder, 1234, 1234)
        os.lchown(folder / "bin/sh", 1234, 1234)
        os.chown(folder / "bin/app", 77, 1234)
    found = {one.path: one for one in read_folder(folder, Budget("x"), [])}
    assert [*found] == ["bin", "etc", "bin/also", "bin/app", "bin/sh"]
    assert stat.filemode(found["bin/app"].mode) == ("-rwxr-xr-x" if os.geteuid() == 0 else "-rwsr-xr-x")
    assert found["bin/app"].linked == found["bin/also"].linked != "" and found["bin/sh"].data == b"app"
    assert found["bin/sh"].owner == (0, 0)
    assert found["bin/app"].owner == ((77, 0) if os.geteuid() == 0 else (0, 0))


def test_attributes_that_belong_to_users_are_kept(tmp_path: Path) -> None:
    folder = root(tmp_path / "root")
    os.setxattr(folder / "bin/app", "user.mine", b"\x00\xff")
    found = {one.path: one for one in read_folder(folder, Budget("x"), [])}
    assert found["bin/app"].xattrs == (("user.mine", b"\x00\xff"),) and found["bin/sh"].xattrs == ()


def test_sockets_stay_out_and_are_told(tmp_path: Path) -> None:
    folder, remarks = root(tmp_path / "root"), list[str]()
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(folder / "etc/socket"))
    read_folder(folder, Budget("x"), remarks)
    assert remarks == ["/etc/socket: a socket, left out"]


def test_what_is_no_root_is_told(tmp_path: Path) -> None:
    assert is_root_folder(root(tmp_path / "root")) and not is_root_folder(tmp_path / "root/bin")
    assert not is_root_folder(tmp_path / "gone") and not is_root_folder(tmp_path)
    (tmp_path / "root/THIS_IS_NOT_YOUR_ROOT_FILESYSTEM").touch()
    with pytest.raises(InputError, match="Buildroot's own folder, without device nodes and owners"):
        read_folder(tmp_path / "root", Budget("x"), [])


def test_one_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="more than 1,000,000 files"):
        read_folder(root(tmp_path / "root"), Budget("x", files=3), [])


def test_an_attribute_that_cannot_be_read_is_no_attribute_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be a capability: without it the program would fail later, and elsewhere."""
    folder = root(tmp_path / "root")

    def refuse(path: Path, *, follow_symlinks: bool) -> list[str]:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    monkeypatch.setattr(os, "listxattr", refuse)
    with pytest.raises(InputError, match="bin/a.*input/output error"):
        read_folder(folder, Budget("x"), [])
