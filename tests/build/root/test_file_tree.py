"""Trees laid over each other: each rule of two files that meet, and the paths that no tree can hold."""

import stat

import pytest

from bootlab.build.formats.cpio import Entry
from bootlab.build.root.file_tree import FileTree
from bootlab.errors import InputError


def _listing(tree: FileTree) -> dict[str, str]:
    return {entry.path: f"{stat.filemode(entry.mode)} {entry.data.decode()}".rstrip() for entry in tree.entries()}


def test_parents_are_made_and_entries_come_sorted() -> None:
    tree = FileTree()
    tree.add_file("/usr/share/doc-base/x", b"x")
    tree.add_file("usr/share/doc/y", b"y", 0o600)
    assert list(_listing(tree)) == [
        "usr",
        "usr/share",
        "usr/share/doc",
        "usr/share/doc/y",
        "usr/share/doc-base",
        "usr/share/doc-base/x",
    ]
    assert _listing(tree)["usr/share"] == "drwxr-xr-x"
    assert _listing(tree)["usr/share/doc/y"] == "-rw------- y"


def test_the_later_of_two_files_stays() -> None:
    tree = FileTree()
    tree.add_file("etc/hostname", b"first", 0o600)
    tree.add_file("etc/hostname", b"second")
    tree.add_link("etc/mtab", "nowhere")
    tree.add_file("etc/mtab", b"file over link")
    tree.add_file("dev/null", b"a file")
    tree.add_device("dev/null", 1, 3, 0o666)
    assert _listing(tree)["etc/hostname"] == "-rw-r--r-- second"
    assert _listing(tree)["etc/mtab"] == "-rw-r--r-- file over link"
    assert _listing(tree)["dev/null"] == "crw-rw-rw-"


def test_a_folder_over_a_folder_keeps_both_contents_and_takes_the_later_mode_and_owner() -> None:
    tree = FileTree()
    tree.add_file("tmp/first", b"")
    tree.add(Entry("tmp", stat.S_IFDIR | 0o1777, owner=(1, 2)))
    tree.add_file("tmp/second", b"")
    assert list(_listing(tree)) == ["tmp", "tmp/first", "tmp/second"]
    found = tree.find("/tmp")
    assert found is not None and (found.mode, found.owner) == (stat.S_IFDIR | 0o1777, (1, 2))


def test_a_path_through_a_link_lands_where_the_link_leads() -> None:
    tree = FileTree()
    tree.add_link("bin", "usr/bin")
    tree.add_link("usr/lib64", "/usr/lib")
    tree.add_file("bin/sh", b"shell", 0o755)
    tree.add_file("usr/lib64/libc.so", b"libc")
    assert _listing(tree)["usr/bin/sh"] == "-rwxr-xr-x shell"
    assert _listing(tree)["usr/lib/libc.so"] == "-rw-r--r-- libc"
    assert "bin/sh" in tree and "/usr/bin/sh" in tree and "bin/bash" not in tree


def test_a_folder_over_a_link_to_one_leaves_the_link() -> None:
    tree = FileTree()
    tree.add_link("bin", "usr/bin")
    tree.add_directory("bin")
    tree.add_file("bin/ls", b"")
    assert _listing(tree)["bin"] == "lrwxrwxrwx usr/bin"
    assert "usr/bin/ls" in _listing(tree)


def test_a_link_is_followed_upwards() -> None:
    tree = FileTree()
    tree.add_link("usr/share/zone", "../lib/zone")
    tree.add_file("usr/share/zone/UTC", b"utc")
    assert _listing(tree)["usr/lib/zone/UTC"] == "-rw-r--r-- utc"


def test_what_cannot_lie_over_what_is_there_is_refused() -> None:
    tree = FileTree()
    tree.add_file("etc/fstab", b"")
    tree.add_directory("srv")
    tree.add_link("a", "b")
    tree.add_link("b", "a")
    with pytest.raises(InputError, match="^/srv: a file lies over a folder"):
        tree.add_file("srv", b"")
    with pytest.raises(InputError, match="^/etc/fstab: a folder lies over a file"):
        tree.add_directory("etc/fstab")
    with pytest.raises(InputError, match="^/etc/fstab/x: /etc/fstab is not a folder"):
        tree.add_file("etc/fstab/x", b"")
    with pytest.raises(InputError, match="circle"):
        tree.add_file("a/x", b"")


@pytest.mark.parametrize("path", ["a/../../etc", "/", "", "../x"])
def test_paths_that_lead_out_are_refused(path: str) -> None:
    with pytest.raises(InputError, match="not a path inside"):
        FileTree().add_file(path, b"")


def test_removing_takes_a_folder_with_all_below_it_and_nothing_beside_it() -> None:
    tree = FileTree()
    for path in ("usr/share/doc/a", "usr/share/doc/b/c", "usr/share/docs"):
        tree.add_file(path, b"")
    tree.add_link("doc", "usr/share/doc")
    assert tree.remove("doc") and "usr/share/doc/a" in tree, "a link is removed, not what it leads to"
    assert tree.remove("/usr/share/doc/")
    assert list(_listing(tree)) == ["usr", "usr/share", "usr/share/docs"]
    assert not tree.remove("usr/share/doc")
