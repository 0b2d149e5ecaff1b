"""Source packages from a local archive through the real apt and dpkg-source."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian.apt import Unreachable
from bootlab.build.debian.source_package import SourcePackage, fetch_source
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from tests.build.conftest import LocalArchive

pytestmark = pytest.mark.skipif(
    shutil.which("apt-get") is None or shutil.which("dpkg-source") is None, reason="needs apt and dpkg-dev"
)


@pytest.fixture
def archive(make_archive: Callable[[], LocalArchive]) -> LocalArchive:
    local = make_archive()
    local.add_source("hello", "1.0", {"hello.c": "int main(void) { return 0; }\n"})
    local.publish()
    return local


def _fetch(name: str, local: LocalArchive, *, refresh: bool = False, suite: str = "bookworm") -> SourcePackage:
    cache = Cache(local.root.parent / "cache")
    return fetch_source(Workshop(cache, refresh=refresh, apt=local.apt), name, suite, key="program.package")


def test_a_source_is_unpacked_with_its_version_and_hash(archive: LocalArchive) -> None:
    source = _fetch("hello", archive)
    assert (source.name, source.version, source.notes) == ("hello", "1.0", ())
    assert (source.tree / "hello.c").read_text() == "int main(void) { return 0; }\n"
    (dsc,) = (archive.root / "pool").glob("*.dsc")
    assert source.sha256 == hashlib.sha256(dsc.read_bytes()).hexdigest()


def test_what_is_in_the_cache_needs_no_archive_and_a_new_version_is_said(archive: LocalArchive) -> None:
    first = _fetch("hello", archive)
    archive.add_source("hello", "1.1", {"hello.c": "int main(void) { return 1; }\n"})
    archive.publish()
    assert _fetch("hello", archive) == first
    second = _fetch("hello", archive, refresh=True)
    assert second.version == "1.1"
    assert "now hello 1.1, was hello 1.0" in second.notes[0]
    archive.spoil()
    third = _fetch("hello", archive, refresh=True)
    assert third.tree == second.tree
    assert "could not be looked up again" in third.notes[0]


def test_an_unknown_source_names_the_key(archive: LocalArchive) -> None:
    with pytest.raises(InputError, match=r'program\.package: Debian bookworm has no source package "goodbye"'):
        _fetch("goodbye", archive)


@pytest.mark.parametrize(
    ("name", "suite", "key"),
    [("Hello", "bookworm", "package"), ("hello", "Bookworm!", "suite"), ("he llo", "bookworm", "package")],
)
def test_a_name_that_cannot_be_one_is_refused_before_apt_is_asked(
    tmp_path: Path, name: str, suite: str, key: str
) -> None:
    with pytest.raises(InputError, match=rf"^program\.{key}: "):
        fetch_source(Workshop(Cache(tmp_path), apt=tmp_path), name, suite, key="program.package")


def test_no_archive_and_nothing_in_the_cache_is_unreachable(archive: LocalArchive) -> None:
    archive.spoil()
    with pytest.raises(Unreachable, match=r"^program\.package: the source of hello: "):
        _fetch("hello", archive)
