"""Packages as a root: what they depend on comes along, and their files keep modes, owners and links."""

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian.apt import LISTS
from bootlab.build.debian.package_records import PACKAGES, ROOTS
from bootlab.build.debian.root import DebianRoot, fetch_root
from bootlab.build.formats.cpio import Entry
from bootlab.build.root.file_tree import FileTree
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from tests.build.conftest import LocalArchive

pytestmark = pytest.mark.skipif(
    shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None, reason="needs apt and dpkg"
)


def _finish(tree: Path) -> None:
    (tree / "usr/bin/tool").chmod(0o4755)
    os.link(tree / "usr/bin/tool", tree / "usr/bin/same-tool")
    (tree / "usr/bin/short").symlink_to("tool")


@pytest.fixture
def archive(make_archive: Callable[[], LocalArchive]) -> LocalArchive:
    local = make_archive()
    local.add("tool", "1.0", {"usr/bin/tool": "tool"}, "libtool (>= 2)", finish=_finish)
    local.add("libtool", "2.1", {"lib/libtool.so": "one library", "etc/libtool.conf": "conf"})
    local.add("other", "1", {"usr/share/doc/other/README": "nothing"}, "nowhere-to-be-had")
    local.publish()
    return local


def _root(names: list[str], local: LocalArchive, *, refresh: bool = False) -> DebianRoot:
    cache = Cache(local.root.parent / "cache")
    return fetch_root(
        Workshop(cache, refresh=refresh, apt=local.apt), names, "bookworm", "x86_64", key="rootfs.packages"
    )


def _files(root: DebianRoot) -> dict[str, Entry]:
    return {entry.path: entry for entry in root.entries()}


def test_dependencies_come_along_and_first(archive: LocalArchive) -> None:
    root = _root(["tool"], archive)
    assert [(one.name, one.version) for one in root.packages] == [("libtool", "2.1"), ("tool", "1.0")]
    assert len(root.identity) == 2


def test_files_keep_what_the_package_says_of_them(archive: LocalArchive) -> None:
    files = {entry.path: entry for entry in FileTree(_root(["tool"], archive).entries()).entries()}
    tool, same = files["usr/bin/tool"], files["usr/bin/same-tool"]
    assert stat.filemode(tool.mode) == "-rwsr-xr-x"
    assert tool.data == same.data == b"tool" and tool.linked == same.linked != ""
    assert (files["usr/bin/short"].data, tool.owner) == (b"tool", (0, 0))
    assert files["lib"].data == b"usr/lib", "/lib is a link, as on every Debian"
    assert files["usr/lib/libtool.so"].data == b"one library" and files["usr/lib/libtool.so"].linked == ""


def test_what_was_looked_up_once_needs_no_archive(archive: LocalArchive) -> None:
    first = _root(["tool"], archive)
    archive.spoil()
    assert _root(["tool", "tool"], archive).identity == first.identity
    assert _root(["tool"], archive, refresh=True).identity == first.identity


def test_a_refresh_takes_the_new_version(archive: LocalArchive) -> None:
    first = _root(["tool"], archive)
    archive.add("libtool", "2.2", {"lib/libtool.so": "another library"})
    archive.publish()
    assert _root(["tool"], archive).identity == first.identity
    assert _files(_root(["tool"], archive, refresh=True))["lib/libtool.so"].data == b"another library"


def test_without_what_was_looked_up_the_new_version_is_taken(archive: LocalArchive) -> None:
    """As docs/building.md and a hint say; what was downloaded is still there."""
    first = _root(["tool"], archive)
    archive.add("libtool", "2.2", {"lib/libtool.so": "another library"})
    archive.publish()
    cache = archive.root.parent / "cache"
    for name in (LISTS, PACKAGES, ROOTS):
        shutil.rmtree(cache / name, ignore_errors=True)
    second = _root(["tool"], archive)
    assert [(one.name, one.version) for one in second.packages] == [("libtool", "2.2"), ("tool", "1.0")]
    assert len({*first.identity} & {*second.identity}) == 1, "the tool is the one from the cache"


def test_what_apt_cannot_put_together_is_told_by_key(archive: LocalArchive) -> None:
    with pytest.raises(InputError, match=r"rootfs\.packages: Debian bookworm \(amd64\): .*nosuch"):
        _root(["nosuch"], archive)
    with pytest.raises(
        InputError, match=r"rootfs\.packages: .*unmet dependencies|rootfs\.packages: .*correct problems"
    ):
        _root(["other"], archive)
    with pytest.raises(InputError, match=r'rootfs\.packages: "Bad Name" is not'):
        _root(["Bad Name"], archive)
    with pytest.raises(InputError, match=r'rootfs\.suite: "../x" is not a Debian suite'):
        fetch_root(Workshop(Cache(archive.root)), ["tool"], "../x", "x86_64", key="rootfs.packages")
