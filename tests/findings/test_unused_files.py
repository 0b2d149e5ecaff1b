"""Paths that a kernel was given -> the files that none of them can mean, and the shortest list that leaves them out."""

from pathlib import Path

from bootlab.build.formats.cpio import Entry
from bootlab.build.root.file_tree import FileTree
from bootlab.findings.unused_files import Unused, find_unused


def _tree() -> FileTree:
    tree = FileTree()
    tree.add_link("bin", "usr/bin")
    tree.add_link("lib64", "usr/lib64")
    tree.add_file("usr/bin/busybox", b"x" * 100, 0o755)
    for name in ("sh", "ls", "mount"):
        tree.add_link(f"usr/bin/{name}", "busybox")
    tree.add_file("usr/lib64/ld.so", b"ld")
    tree.add_file("usr/share/doc/a/copyright", b"words")
    tree.add_file("usr/share/doc/b/copyright", b"words")
    tree.add_file("usr/share/zone/UTC", b"utc")
    tree.add_file("usr/share/zone/CET", b"cet")
    tree.add_file("sbin/bootlab-mark", b"mark")
    tree.add_file("init", b"#!/bin/sh\n", 0o755)
    tree.add_directory("mnt")
    tree.add_device("dev/console", 5, 1)
    return tree


def _unused(*paths: str, tree: FileTree | None = None) -> Unused:
    return find_unused((tree or _tree()).entries(), paths)


def test_what_was_never_asked_for_is_left_out_by_whole_folders() -> None:
    found = _unused("/init", "/bin/sh", "/usr/share/zone/UTC", "/lib64/ld.so", "/mnt")
    assert found.without == ("/usr/bin/ls", "/usr/bin/mount", "/usr/share/doc", "/usr/share/zone/CET")
    assert [file.path for file in found.unused] == [
        "/usr/bin/ls",
        "/usr/bin/mount",
        "/usr/share/doc/a/copyright",
        "/usr/share/doc/b/copyright",
        "/usr/share/zone/CET",
    ]
    assert found.unused_size == 7 + 7 + 5 + 5 + 3
    assert found.files == 13


def test_links_on_the_way_and_where_they_lead_count_as_used() -> None:
    used = {"/bin", "/usr/bin/sh", "/usr/bin/busybox"}
    assert not used & {file.path for file in _unused("/bin/sh").unused}
    assert used <= {file.path for file in _unused("/init").unused}


def test_a_relative_path_may_mean_every_file_that_ends_so() -> None:
    listed = {file.path for file in _unused("init", "a/copyright", "./sh", "../zone/CET").unused}
    assert not {"/usr/share/doc/a/copyright", "/usr/bin/sh", "/usr/bin/busybox", "/usr/share/zone/CET"} & listed
    assert {"/usr/share/doc/b/copyright", "/usr/share/zone/UTC"} <= listed


def test_a_path_below_a_mount_point_means_this_tree_too() -> None:
    assert "/usr/share/zone/CET" not in {file.path for file in _unused("/newroot/usr/share/zone/CET").unused}


def test_a_path_that_was_cut_or_cannot_be_printed_means_all_that_fit() -> None:
    tree = _tree()
    deep = "deep/" * 204
    tree.add_file(f"{deep}a-one", b"1")
    tree.add_file(f"{deep}a-two", b"2")
    tree.add_file("new\nline", b"3")
    found = _unused(f"/{deep}a-one"[:1023], "/new?line", tree=tree)
    assert not {f"/{deep}a-one", f"/{deep}a-two", "/new\nline"} & {file.path for file in found.unused}


def test_a_link_to_what_is_made_later_is_used_itself() -> None:
    tree = FileTree()
    tree.add_link("etc/mtab", "/proc/mounts")
    tree.add_link("etc/circle", "circle")
    assert _unused("/etc/mtab", "/etc/circle", tree=tree).unused == ()


def test_a_further_name_of_a_file_that_stays_saves_nothing() -> None:
    tree = FileTree()
    for name in ("a", "b", "c", "d"):
        tree.add(Entry(name, 0o100644, b"xxxx", linked="ab" if name in "ab" else "cd"))
    found = _unused("/a", tree=tree)
    assert [(file.path, file.size) for file in found.unused] == [("/b", 0), ("/c", 4), ("/d", 0)]
    assert found.size == 8


def test_folders_nodes_and_bootlabs_own_programs_stay() -> None:
    tree = _tree()
    found = _unused("/nothing", tree=tree)
    assert all(tree.remove(path) for path in found.without)
    assert [entry.path for entry in tree.entries()] == [
        "dev",
        "dev/console",
        "mnt",
        "sbin",
        "sbin/bootlab-mark",
    ]


def test_a_folder_that_was_only_looked_at_stays_without_its_files() -> None:
    found = _unused("/usr/share/doc")
    assert {"/usr/share/doc/a", "/usr/share/doc/b"} <= set(found.without)
    assert "/usr/share/doc" not in found.without


def test_leaving_out_what_is_listed_leaves_exactly_what_was_used(tmp_path: Path) -> None:
    paths = ("/init", "/bin/sh", "/usr/share/zone/UTC")
    tree = _tree()
    for path in _unused(*paths, tree=tree).without:
        assert tree.remove(path)
    assert _unused(*paths, tree=tree).unused == ()
