"""Packages without an opened file: one file keeps its package, and one without files in the root is left alone."""

from bootlab.findings.unused_packages import unused_packages

FILES = {"busybox": {"/bin/busybox", "/bin/ls"}, "dropbear": {"/usr/sbin/dropbear"}, "docs": {"/usr/share/doc/x"}}
THERE = {"/bin/busybox", "/bin/ls", "/usr/sbin/dropbear"}


def test_a_package_goes_when_none_of_its_files_was_opened() -> None:
    assert unused_packages(FILES, THERE, {"/bin/ls", "/usr/sbin/dropbear"}) == ["dropbear"]
    assert unused_packages(FILES, THERE, THERE) == ["busybox", "dropbear"]
    assert unused_packages(FILES, THERE, THERE, kept={"busybox"}) == ["dropbear"]
    assert unused_packages(FILES, THERE, ()) == []


def test_a_file_of_two_packages_keeps_both_when_it_is_opened() -> None:
    files = {"a": {"/x", "/a"}, "b": {"/x"}}
    assert unused_packages(files, {"/x", "/a"}, {"/a"}) == []
    assert unused_packages(files, {"/x", "/a"}, {"/a", "/x"}) == ["a", "b"]
