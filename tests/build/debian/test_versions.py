"""Versions of a package in a local archive of several suites, through the real apt."""

import shutil
from collections.abc import Callable

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian import packages
from bootlab.build.debian.versions import PackageVersion, find_package_versions, flavour_of
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from tests.build.conftest import LocalArchive

pytestmark = pytest.mark.skipif(
    shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None, reason="needs apt and dpkg"
)


@pytest.fixture
def archive(make_archive: Callable[[], LocalArchive]) -> LocalArchive:
    """An archive with kernels in a release and its backports, some of other flavours, one of them twice."""
    local = make_archive()
    local.add("linux-image-cloud-amd64", "6.1.9", {}, "linux-image-6.1.0-10-cloud-amd64 (= 6.1.9)")
    for name, version in (
        ("linux-image-6.1.0-9-cloud-amd64", "6.1.8~rc1"),
        ("linux-image-6.1.0-9-cloud-amd64", "6.1.8"),
        ("linux-image-6.1.0-10-cloud-amd64", "6.1.9"),
        ("linux-image-6.1.0-10-amd64", "6.1.9"),
        ("linux-image-6.1.0-10-rt-amd64", "6.1.9"),
        ("linux-image-6.1.0-10-cloud-amd64-dbg", "6.1.9"),
    ):
        local.add(name, version, {f"boot/vmlinuz-{version}": f"{name} {version}"}, beside=True)
    local.publish()
    local.begin_suite("bookworm-backports")
    for name, version in (
        ("linux-image-6.1.0-10-cloud-amd64", "6.1.9"),
        ("linux-image-6.12.100+deb12-cloud-amd64", "6.12.100-1~bpo12+1"),
        ("linux-image-6.12.43+deb12-cloud-amd64", "6.12.43-1~bpo12+1"),
    ):
        local.add(name, version, {f"boot/vmlinuz-{version}": f"{name} {version}"}, beside=True)
    local.publish("bookworm-backports", "Debian Backports")
    return local


def shop_of(local: LocalArchive) -> Workshop:
    return Workshop(Cache(local.root.parent / "cache"), apt=local.apt)


@pytest.mark.parametrize("name", ["linux-image-cloud-amd64", "linux-image-6.1.0-9-cloud-amd64"])
def test_kernels_of_one_flavour_come_oldest_first_from_every_suite(archive: LocalArchive, name: str) -> None:
    found = find_package_versions(shop_of(archive), name, "bookworm", "x86_64", key="kernel.package")
    assert found == [
        PackageVersion("linux-image-6.1.0-9-cloud-amd64", "6.1.8~rc1", "bookworm"),
        PackageVersion("linux-image-6.1.0-9-cloud-amd64", "6.1.8", "bookworm"),
        PackageVersion("linux-image-6.1.0-10-cloud-amd64", "6.1.9", "bookworm"),
        PackageVersion("linux-image-6.12.43+deb12-cloud-amd64", "6.12.43-1~bpo12+1", "bookworm-backports"),
        PackageVersion("linux-image-6.12.100+deb12-cloud-amd64", "6.12.100-1~bpo12+1", "bookworm-backports"),
    ]


def test_each_of_them_can_be_fetched_by_its_version(archive: LocalArchive) -> None:
    shop = shop_of(archive)
    found = find_package_versions(shop, "linux-image-cloud-amd64", "bookworm", "x86_64", key="kernel.package")
    for one in found:
        package = packages.fetch(shop, one.wanted, one.suite, "x86_64")
        (image,) = (package.tree / "boot").iterdir()
        assert image.read_text() == f"{one.package} {one.version}" and package.version == one.version
    with pytest.raises(InputError, match="not a Debian package name"):
        packages.fetch(shop, "linux-image-cloud-amd64=", "bookworm", "x86_64")
    with pytest.raises(InputError, match='no package "linux-image-6.1.0-9-cloud-amd64=9.9"'):
        packages.fetch(shop, "linux-image-6.1.0-9-cloud-amd64=9.9", "bookworm", "x86_64")


def test_what_is_no_kernel_has_the_versions_of_its_own_name(archive: LocalArchive) -> None:
    archive.add("busybox", "1:1.36", {"bin/busybox": "b"})
    archive.add("busybox-static", "1:1.37", {"bin/busybox": "b"})
    archive.publish("bookworm-backports", "Debian Backports")
    found = find_package_versions(shop_of(archive), "busybox", "bookworm-backports", "x86_64", key="kernel.package")
    assert found == [PackageVersion("busybox", "1:1.36", "bookworm-backports")]
    assert find_package_versions(shop_of(archive), "nothing-such", "bookworm", "x86_64", key="kernel.package") == []
    with pytest.raises(InputError, match='kernel.package: "No Name" is not a Debian package name'):
        find_package_versions(shop_of(archive), "No Name", "bookworm", "x86_64", key="kernel.package")


@pytest.mark.parametrize(
    ("name", "flavour"),
    [
        ("linux-image-6.12.90+deb12.1-cloud-amd64", "cloud-amd64"),
        ("linux-image-6.1.0-50-amd64", "amd64"),
        ("linux-image-6.12.95+deb12-amd64-unsigned", "amd64-unsigned"),
        ("linux-image-riscv64", "riscv64"),
        ("linux-source-6.12", None),
    ],
)
def test_the_flavour_of_a_kernel(name: str, flavour: str | None) -> None:
    assert flavour_of(name) == flavour
