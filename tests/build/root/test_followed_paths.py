"""Where paths lead in a root: through links to folders, absolute and relative ones, and in circles."""

import stat

import pytest

from bootlab.build.formats.cpio import Entry
from bootlab.build.root.followed_paths import FollowedPaths

FILES = ("usr/bin/dash", "usr/bin/mawk", "opt/app/run")
LINKS = {
    "bin": "usr/bin",
    "usr/bin/sh": "dash",
    "usr/bin/awk": "/etc/alternatives/awk",
    "etc/alternatives/awk": "/usr/bin/mawk",
    "opt/here": ".",
    "opt/up": "../usr/bin/../../opt/app",
    "dangling": "/proc/self/mounts",
    "a": "b",
    "b": "a",
}


@pytest.fixture
def paths() -> FollowedPaths:
    files = [Entry(path, stat.S_IFREG | 0o755, b"x") for path in FILES]
    return FollowedPaths([*files, *(Entry(path, stat.S_IFLNK, target.encode()) for path, target in LINKS.items())])


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/bin/sh", "usr/bin/dash"),
        ("usr/bin/awk", "usr/bin/mawk"),
        ("/opt/here/here/app/run", "opt/app/run"),
        ("/opt/up/run", "opt/app/run"),
        ("//usr//bin/./dash", "usr/bin/dash"),
        ("/../bin/dash", "usr/bin/dash"),
        ("/dangling", None),
        ("/nowhere/at/all", None),
        ("/a/file", None),
    ],
)
def test_a_path_leads_to_its_file_or_to_none(paths: FollowedPaths, path: str, target: str | None) -> None:
    assert paths.target(path) == target


def test_the_place_of_a_link_is_its_own(paths: FollowedPaths) -> None:
    assert paths.place("/bin/sh") == "usr/bin/sh"
    assert paths.place("/etc/alternatives/awk") == "etc/alternatives/awk"


def test_links_in_a_circle_and_endless_paths_end(paths: FollowedPaths) -> None:
    assert paths.target("/a") is None
    assert paths.target("/" + "opt/here/" * 3000 + "app/run") is None
