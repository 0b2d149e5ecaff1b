"""Packages taken out of a root: which files go with them, what of dpkg's database is left, and what is refused."""

import re
import stat

import pytest

from bootlab.build.debian.installed_packages import STATUS, read_installed_packages
from bootlab.build.formats.cpio import Entry
from bootlab.build.image.taken_out import take_out
from bootlab.build.root.followed_paths import FollowedPaths
from bootlab.errors import InputError
from tests.build.debian.debian_root_files import DebianRootFiles, Installed

WANTED = "etc/systemd/system/multi-user.target.wants"
PACKAGES = {
    "dash": Installed(["/bin/dash"], ["Essential: yes"]),
    "cron": Installed(
        ["/usr/sbin/cron", "/lib/systemd/system/cron.service", "/etc/init.d/cron", "/usr/share/doc/shared"],
        ["Depends: libnoise", "Conffiles:", " /etc/init.d/cron 0123456789abcdef"],
    ),
    "libnoise": Installed(["/lib/libnoise.so"], listed="libnoise:amd64"),
    "other": Installed(["/usr/bin/other", "/usr/share/doc/shared"]),
    "diverts": Installed(["/usr/bin/new"]),
}
ROOT = DebianRootFiles(
    PACKAGES,
    links={
        f"{WANTED}/cron.service": "/lib/systemd/system/cron.service",
        f"{WANTED}/other.service": "/lib/systemd/system/other.service",
        "etc/rc2.d/S01cron": "../init.d/cron",
        "usr/bin/crond": "../sbin/cron",
    },
    diversions="/usr/bin/old\n/usr/bin/old.real\ndiverts\n",
)


def test_files_links_that_start_them_and_what_dpkg_notes_go() -> None:
    entries = ROOT.entries()
    taken = take_out(entries, ["cron"], "made-up")
    assert taken.files == (
        "etc/init.d/cron",
        "etc/rc2.d/S01cron",
        f"{WANTED}/cron.service",
        "usr/lib/systemd/system/cron.service",
        "usr/sbin/cron",
        "var/lib/dpkg/info/cron.list",
    )
    left = [entry for entry in entries if entry.path not in {*taken.files, STATUS}]
    found = read_installed_packages(FollowedPaths([*left, Entry(STATUS, stat.S_IFREG, taken.status)]), "made-up")
    assert set(found.packages) == set(PACKAGES) - {"cron"} and found.doubts == ()
    assert found.owner("/usr/share/doc/shared") == ("other",), "its other owner keeps it"


def test_a_list_with_the_architecture_in_its_name_goes_with_the_last_of_that_name() -> None:
    taken = take_out(ROOT.entries(), ["cron", "libnoise"], "made-up")
    assert {"usr/lib/libnoise.so", "var/lib/dpkg/info/libnoise:amd64.list"} <= set(taken.files)
    two = {f"libc6:{arch}": Installed([f"/usr/lib/{arch}/libc.so.6"], architecture=arch) for arch in ("amd64", "i386")}
    taken = take_out(DebianRootFiles({**PACKAGES, **two}).entries(), ["libc6:i386"], "made-up")
    assert taken.files == ("usr/lib/i386/libc.so.6", "var/lib/dpkg/info/libc6:i386.list")
    assert b"Architecture: i386" not in taken.status and taken.status.count(b"Package: libc6") == 1


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["evil"], "image.without: evil: no such package on the image"),
        (["dash"], "image.without: dash: is essential"),
        (["libnoise"], "image.without: cron need what is taken out"),
        (["diverts"], "image.without: diverts: has diverted files"),
    ],
)
def test_what_cannot_be_taken_out_is_refused(names: list[str], told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        take_out(ROOT.entries(), names, "made-up")


def test_a_file_whose_name_would_be_a_command_of_its_own_is_not_removed() -> None:
    packages = {**PACKAGES, "bad": Installed(["/odd/x"])}
    # A folder's link leads to a name with a line end: what removes files reads line by line.
    root = DebianRootFiles(packages, {"sub\nrm usr/bin/x": b"x"}, {"odd": "sub\nrm usr/bin"})
    with pytest.raises(InputError, match="a file of this name is not removed"):
        take_out(root.entries(), ["bad"], "made-up")
