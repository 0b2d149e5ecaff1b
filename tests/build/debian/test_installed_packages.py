"""dpkg's database of a root: whose a file is, who needs whom, and what a damaged or hostile one may say."""

import stat
import time

import pytest

from bootlab.build.debian.installed_packages import InstalledPackages, read_installed_packages
from bootlab.build.formats.cpio import Entry
from bootlab.build.root.followed_paths import FollowedPaths
from bootlab.errors import InputError
from tests.build.debian.debian_root_files import DebianRootFiles, Installed

PACKAGES = {
    "dash": Installed(["/bin/dash", "/bin/sh"], ["Essential: yes", "Depends: libc6 (>= 2.36)"]),
    "bash": Installed(["/bin/sh", "/bin/bash"], ["Essential: yes", "Pre-Depends: libc6 (>= 2.36), missing"]),
    "libc6": Installed(["/lib/libc.so.6"], listed="libc6:amd64"),
    "mawk": Installed(["/usr/bin/mawk"], ["Provides: awk", "Depends: libc6"]),
    "gawk": Installed(["/usr/bin/gawk"], ["Provides: awk", "Depends: libc6"]),
    "needs-awk": Installed(["/usr/sbin/needs-awk"], ["Depends: awk:any | busybox,", " dash"]),
    "needs-it": Installed(["/usr/sbin/needs-it"], ["Depends: needs-awk"]),
    "gone": Installed(["/usr/bin/gone"], state="deinstall ok config-files"),
}
DIVERTED = "/bin/sh\n/bin/sh.distrib\ndash\n"


def read(root: DebianRootFiles) -> InstalledPackages:
    return read_installed_packages(FollowedPaths(root.entries()), "made-up")


def test_a_file_belongs_to_its_package_by_every_path_that_leads_to_it() -> None:
    links = {"usr/bin/awk": "/etc/alternatives/awk", "etc/alternatives/awk": "/usr/bin/mawk"}
    found = read(DebianRootFiles(PACKAGES, links=links))
    assert set(found.packages) == set(PACKAGES) - {"gone"}
    for path in ("/bin/dash", "/usr/bin/dash"):
        assert found.owner(path) == ("dash",)
    assert found.owner("/usr/bin/awk") == ("mawk",)
    assert found.owner("/lib/libc.so.6") == ("libc6",)
    assert found.owner("/usr/bin/gone") == () and found.owner("/nowhere") == ()
    assert found.doubts == ()


def test_a_diverted_file_lies_where_it_was_put_and_one_of_several_packages_is_of_all() -> None:
    diverted = read(DebianRootFiles(PACKAGES, {"usr/bin/sh.distrib": b"bash"}, diversions=DIVERTED))
    assert diverted.owner("/bin/sh") == ("dash",)
    assert diverted.owner("/bin/sh.distrib") == ("bash",)
    assert read(DebianRootFiles(PACKAGES)).owner("/bin/sh") == ("bash", "dash")


def test_who_needs_whom_goes_by_what_is_left_to_choose() -> None:
    found = read(DebianRootFiles(PACKAGES))
    assert found.dependents(["needs-awk"]) == {"needs-it"}
    assert found.dependents(["mawk"]) == set()
    assert found.dependents(["mawk", "gawk"]) == {"needs-awk", "needs-it"}
    assert found.dependents(["libc6"]) == {"dash", "bash", "mawk", "gawk", "needs-awk", "needs-it"}
    assert found.packages["dash"].essential and not found.packages["mawk"].essential


def test_packages_of_two_architectures_keep_their_names_apart() -> None:
    found = read(
        DebianRootFiles(
            {
                "libc6:amd64": Installed(["/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/share/doc/libc6/copyright"]),
                "libc6:i386": Installed(
                    ["/usr/lib/i386-linux-gnu/libc.so.6", "/usr/share/doc/libc6/copyright"], architecture="i386"
                ),
                "tool": Installed(["/usr/bin/tool"], ["Depends: libc6"]),
            }
        )
    )
    assert found.owner("/usr/lib/i386-linux-gnu/libc.so.6") == ("libc6:i386",)
    assert found.owner("/usr/share/doc/libc6/copyright") == ("libc6:amd64", "libc6:i386")
    assert found.dependents(["libc6:amd64"]) == set()
    assert found.dependents(["libc6:amd64", "libc6:i386"]) == {"tool"}


def test_names_that_no_package_can_have_are_left_out_and_told() -> None:
    text = DebianRootFiles(PACKAGES).text().decode()
    bad = "\n".join(
        [
            "Package: evil\x1b[31m\nStatus: install ok installed\nVersion: 1\nArchitecture: amd64\n",
            "Package: ../../etc/passwd\nStatus: install ok installed\nVersion: 1\nArchitecture: amd64\n",
            "Package: two\n lines\nStatus: install ok installed\nVersion: 1\nArchitecture: amd64\n",
            "Package: half\n",
            "no colon at all\n",
            "Package: dash\nStatus: install ok installed\nVersion: 2\nArchitecture: amd64\n",
        ]
    )
    root = DebianRootFiles(PACKAGES, {"usr/bin/a\nb": b"x"}, status=f"{text}\n{bad}\n\x00\xff".encode())
    found = read(root)
    assert set(found.packages) - {"dash:amd64"} == set(PACKAGES) - {"gone", "dash"}
    assert found.packages["dash:amd64"].version == "2"
    told = " ".join(found.doubts)
    assert "3 stanzas of /var/lib/dpkg/status are damaged" in told
    assert "3 packages have names that no package can have" in told
    assert "has dash:amd64 more than once" in told


def test_a_package_without_a_list_and_damaged_diversions_are_doubts() -> None:
    root = DebianRootFiles({**PACKAGES, "odd": Installed()}, diversions="/bin/sh\nrelative\ndash\n")
    entries = [entry for entry in root.entries() if not entry.path.endswith("/odd.list")]
    found = read_installed_packages(FollowedPaths(entries), "made-up")
    assert found.doubts == (
        "/var/lib/dpkg/diversions is damaged: whose files were diverted is not known",
        "1 packages have no list of their files in /var/lib/dpkg/info: odd",
    )


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        (["etc/os-release"], r"no database of packages in it \(/var/lib/dpkg/status\)"),
        (["lib/apk/db/installed"], "a database of apk"),
        (["var/lib/rpm/rpmdb.sqlite"], "a database of rpm"),
        (["var/lib/pacman/local/bash-5/desc"], "a database of pacman"),
        (["var/lib/dpkg/status.d/base"], "dpkg's of an image without a package manager"),
        (["var/lib/dpkg/status"], "names no package that is installed: empty or damaged"),
    ],
)
def test_a_root_without_dpkg_is_refused_and_says_whose_database_it_has(paths: list[str], told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_installed_packages(FollowedPaths([Entry(path, stat.S_IFREG, b"") for path in paths]), "made-up")


def test_five_thousand_packages_are_read_and_their_dependents_found_in_seconds() -> None:
    packages = {
        f"package-{number}": Installed(
            [f"/lib/package-{number}/file-{index}" for index in range(40)],
            [f"Depends: package-{number - 1}, package-{number // 2}"] if number else [],
        )
        for number in range(5000)
    }
    entries = DebianRootFiles(packages).entries()
    began = time.monotonic()
    found = read_installed_packages(FollowedPaths(entries), "made-up")
    assert len(found.packages) == 5000 and len(found.owners) == 200_000
    assert found.owner("/usr/lib/package-4999/file-39") == ("package-4999",)
    assert len(found.dependents(["package-0"])) == 4999
    assert time.monotonic() - began < 20
