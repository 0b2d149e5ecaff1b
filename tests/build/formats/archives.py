"""A small cpio archive with one file of each kind."""

from bootlab.build.formats import cpio
from bootlab.build.root.file_tree import FileTree


def _tree() -> FileTree:
    tree = FileTree()
    tree.add_file("/init", b"#!/bin/sh\n", 0o755)
    tree.add_file("usr/share/text", b"x" * 1001)
    tree.add_link("bin/sh", "busybox")
    tree.add_device("dev/console", 5, 1)
    tree.add_directory("tmp", 0o1777)
    return tree


def _archive() -> bytes:
    return cpio.write(_tree().entries())
