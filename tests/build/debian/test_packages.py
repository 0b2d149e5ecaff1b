"""Packages from a local archive through the real apt: looked up once, kept, and used without the archive."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian import packages
from bootlab.build.debian.apt import LISTS, Unreachable
from bootlab.build.debian.package_records import PACKAGES, ROOTS, Wanted, find_known
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, InputError
from tests.build.conftest import LocalArchive

pytestmark = pytest.mark.skipif(
    shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None, reason="needs apt and dpkg"
)


@pytest.fixture
def archive(make_archive: Callable[[], LocalArchive]) -> LocalArchive:
    local = make_archive()
    local.add("linux-image-cloud-amd64", "6.1.1", {}, "linux-base, linux-image-6.1.0-1-cloud-amd64 (= 6.1.1)")
    local.add("linux-image-6.1.0-1-cloud-amd64", "6.1.1", {"boot/vmlinuz-6.1.0-1": "kernel one"})
    local.add("busybox-static", "1:1.35", {"bin/busybox": "busybox"})
    local.publish()
    return local


def _fetch(name: str, local: LocalArchive, **options: bool | float) -> packages.Package:
    cache = Cache(local.root.parent / "cache")
    refresh, days = bool(options.get("refresh", False)), float(options.get("max_age_days", 30))
    return packages.fetch(
        Workshop(cache, refresh=refresh, apt=local.apt), name, "bookworm", "x86_64", max_age_days=days
    )


def test_a_package_is_unpacked_with_its_version_and_hash(archive: LocalArchive) -> None:
    package = _fetch("busybox-static", archive)
    assert (package.name, package.version, package.notes) == ("busybox-static", "1:1.35", ())
    assert (package.tree / "bin/busybox").read_text() == "busybox"
    (deb,) = (archive.root / "pool").glob("busybox*")
    assert package.sha256 == hashlib.sha256(deb.read_bytes()).hexdigest()


def test_many_packages_are_fetched_at_once_and_kept_as_one_is(archive: LocalArchive) -> None:
    archive.add("insserv", "1.24", {"sbin/insserv": "insserv"})
    archive.publish()
    cache, lines = Cache(archive.root.parent / "cache"), list[str]()
    first = _fetch("busybox-static", archive)
    names = ["insserv", "busybox-static", "linux-image-6.1.0-1-cloud-amd64"]
    found = packages.fetch_all(Workshop(cache, apt=archive.apt, tell=lines.append), names, "bookworm", "x86_64")
    assert [one.name for one in found] == names and found[1] == first
    assert (found[0].tree / "sbin/insserv").read_text() == "insserv" and found[0].version == "1.24"
    assert lines[-1] == "downloading 2 packages"
    shutil.rmtree(archive.root)
    assert packages.fetch_all(Workshop(cache, apt=archive.apt), names, "bookworm", "x86_64") == found
    assert _fetch("insserv", archive) == found[0]


def test_one_unknown_name_among_many_is_told(archive: LocalArchive) -> None:
    cache = Cache(archive.root.parent / "cache")
    with pytest.raises(InputError, match='no package "busybox-statik"') as caught:
        packages.fetch_all(Workshop(cache, apt=archive.apt), ["busybox-static", "busybox-statik"], "bookworm", "x86_64")
    assert caught.value.hint == "did you mean busybox-static?"


def test_a_meta_package_is_followed_to_the_kernel(archive: LocalArchive) -> None:
    package = _fetch("linux-image-cloud-amd64", archive)
    assert package.name == "linux-image-6.1.0-1-cloud-amd64"
    assert (package.tree / "boot/vmlinuz-6.1.0-1").read_text() == "kernel one"


def test_what_is_in_the_cache_needs_no_archive_and_does_not_change(archive: LocalArchive) -> None:
    first = _fetch("linux-image-cloud-amd64", archive)
    archive.add("linux-image-6.1.0-1-cloud-amd64", "6.1.2", {"boot/vmlinuz-6.1.0-1": "kernel two"})
    archive.publish()
    assert _fetch("linux-image-cloud-amd64", archive) == first
    shutil.rmtree(archive.root)
    assert _fetch("linux-image-cloud-amd64", archive) == first


def test_a_refresh_takes_the_new_version_and_says_so(archive: LocalArchive) -> None:
    _fetch("linux-image-6.1.0-1-cloud-amd64", archive)
    archive.add("linux-image-6.1.0-1-cloud-amd64", "6.1.2", {"boot/vmlinuz-6.1.0-1": "kernel two"})
    archive.publish()
    package = _fetch("linux-image-6.1.0-1-cloud-amd64", archive, refresh=True)
    assert package.version == "6.1.2"
    assert ["is now" in note and "6.1.1" in note for note in package.notes] == [True]


def test_without_what_was_looked_up_the_new_version_is_taken(archive: LocalArchive) -> None:
    """As docs/building.md and a hint say."""
    _fetch("linux-image-6.1.0-1-cloud-amd64", archive)
    archive.add("linux-image-6.1.0-1-cloud-amd64", "6.1.2", {"boot/vmlinuz-6.1.0-1": "kernel two"})
    archive.publish()
    for name in (LISTS, PACKAGES, ROOTS):
        shutil.rmtree(archive.root.parent / "cache" / name, ignore_errors=True)
    assert _fetch("linux-image-6.1.0-1-cloud-amd64", archive).version == "6.1.2"


def test_a_version_that_is_gone_is_looked_up_again(archive: LocalArchive) -> None:
    _fetch("busybox-static", archive)  # the lists are now here, and good for a day
    archive.add("linux-image-6.1.0-1-cloud-amd64", "6.1.2", {"boot/vmlinuz-6.1.0-1": "kernel two"})
    archive.publish()
    assert _fetch("linux-image-6.1.0-1-cloud-amd64", archive).version == "6.1.2"


def test_an_old_record_is_used_when_the_archive_cannot_answer(archive: LocalArchive) -> None:
    first = _fetch("busybox-static", archive)
    archive.spoil()
    package = _fetch("busybox-static", archive, refresh=True)
    assert package.tree == first.tree
    assert ["could not be looked up again" in note for note in package.notes] == [True]


def test_not_in_the_cache_and_no_answer(archive: LocalArchive) -> None:
    archive.spoil()
    with pytest.raises(Unreachable, match="busybox-static: Debian bookworm"):
        _fetch("busybox-static", archive)


def test_an_expired_record_is_looked_up_again(archive: LocalArchive) -> None:
    _fetch("busybox-static", archive)
    (record,) = (archive.root.parent / "cache" / "packages").iterdir()
    before = json.loads(record.read_text())["looked_up_s"]
    _fetch("busybox-static", archive, max_age_days=0.0)
    assert json.loads(record.read_text())["looked_up_s"] > before


def test_a_damaged_record_is_as_none(archive: LocalArchive) -> None:
    first = _fetch("busybox-static", archive)
    (record,) = (archive.root.parent / "cache" / "packages").iterdir()
    record.write_text("{")
    assert _fetch("busybox-static", archive) == first


def test_an_unknown_package_is_told_with_its_likeness(archive: LocalArchive) -> None:
    with pytest.raises(InputError, match='Debian bookworm has no package "linux-image-clowd-amd64"') as caught:
        _fetch("linux-image-clowd-amd64", archive)
    assert "linux-image-cloud-amd64" in str(caught.value.hint)


def test_an_unknown_suite_and_impossible_names(archive: LocalArchive, tmp_path: Path) -> None:
    for name, suite, why in (
        ("busybox-static", "nosuch", 'no suite "nosuch"'),
        ("busybox-static", "../etc", "not a Debian suite"),
        ("Busy Box", "bookworm", "not a Debian package name"),
    ):
        with pytest.raises(InputError, match=why):
            packages.fetch(Workshop(Cache(tmp_path / "cache"), apt=archive.apt), name, suite, "x86_64")


def test_errors_name_the_key_that_asked(archive: LocalArchive, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    for suite in ("nosuch", "../etc"):
        with pytest.raises(InputError, match=r"^initramfs\.suite: "):
            packages.fetch(Workshop(cache, apt=archive.apt), "busybox", suite, "x86_64", key="initramfs.busybox")
    with pytest.raises(InputError, match=r"^bootloader\.opensbi: Debian bookworm has no package") as caught:
        packages.fetch(Workshop(cache, apt=archive.apt), "opensbi", "bookworm", "x86_64", key="bootloader.opensbi")
    assert str(caught.value.hint) == "bootloader.suite names the Debian release that has it"


def test_another_archive_under_the_same_suite_is_not_taken_for_debian(archive: LocalArchive) -> None:
    release = archive.root / "dists/bookworm/Release"
    release.write_text(release.read_text().replace("Origin: Debian", "Origin: Somebody"))
    with pytest.raises(InputError, match="no suite"):
        _fetch("busybox-static", archive)


def test_a_damaged_package_is_refused(archive: LocalArchive) -> None:
    (deb,) = (archive.root / "pool").glob("busybox*")
    deb.write_bytes(deb.read_bytes()[:-1] + b"x")
    with pytest.raises(BootlabError, match="Hash Sum mismatch"):
        _fetch("busybox-static", archive)


def test_the_suite_of_this_machine() -> None:
    assert packages.require_suite(None, "kernel.package").isalpha()
    assert packages.require_suite("trixie", "kernel.package") == "trixie"


@pytest.mark.network
@pytest.mark.parametrize("arch", packages.ARCHITECTURES)
def test_the_real_archive(tmp_path: Path, arch: str) -> None:
    # Debian 12 has no riscv64, and Debian 13 nothing in /bin.
    suite, folder = ("trixie", "usr/bin") if arch == "riscv64" else ("bookworm", "bin")
    package = packages.fetch(Workshop(Cache(tmp_path)), "busybox-static", suite, arch)
    assert os.access(package.tree / folder / "busybox", os.X_OK)


def test_a_cache_that_is_no_folder_has_no_record() -> None:
    """It is told where something is to be kept in it; to look there is no mistake."""
    assert (
        find_known(Wanted("busybox-static", "bookworm", "amd64", "package", "package"), Cache(Path(os.devnull))) is None
    )
