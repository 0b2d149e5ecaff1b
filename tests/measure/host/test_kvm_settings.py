"""Settings of a host that KVM's times hang on: read from what its kernel says, None where it says nothing."""

from pathlib import Path

from bootlab.measure.host.kvm_settings import read_kvm_settings


def settings(folder: Path, mounts: str, nx: str | None = None, thp: str | None = None):  # type: ignore[no-untyped-def]
    paths = []
    for name, text in (("mounts", mounts), ("nx", nx), ("thp", thp)):
        paths.append(folder / name)
        if text is not None:
            paths[-1].write_text(text)
    return read_kvm_settings(*paths)


def test_what_the_host_says(tmp_path: Path) -> None:
    mounts = "cgroup /sys/fs/cgroup/cpu cgroup rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,favordynmods 0 0\n"
    found = settings(tmp_path, mounts, "never\n", "always [madvise] never\n")
    assert (found.cgroups, found.favordynmods) == ("/sys/fs/cgroup", True)
    assert (found.nx_huge_pages, found.huge_pages) == ("never", "madvise")


def test_a_mount_without_the_option_and_a_host_that_says_nothing(tmp_path: Path) -> None:
    assert settings(tmp_path, "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n").favordynmods is False
    found = settings(tmp_path, "broken\n")
    assert (found.cgroups, found.favordynmods, found.nx_huge_pages, found.huge_pages) == (None, None, None, None)
