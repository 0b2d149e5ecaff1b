"""A small cpio archive with one file of each kind."""

from bootlab.build.formats import cpio
from bootlab.build.root.file_tree import FileTree


def _tree() -> FileTree:
    tree = FileTree()
    tree.file("/init", b"#!/bin/sh\n", 0o755)
    tree.file("usr/share/text", b"x" * 1001)
    tree.link("bin/sh", "busybox")
    tree.device("dev/console", 5, 1)
    tree.directory("tmp", 0o1777)
    return tree


def _archive() -> bytes:
    return cpio.write(_tree().entries())
