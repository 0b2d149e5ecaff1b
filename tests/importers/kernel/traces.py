"""Recorded traces of ftrace, as text."""

import lzma

from tests.importers.samples import DATA


def text_of(name: str) -> str:
    return lzma.decompress((DATA / "debian-13" / name).read_bytes()).decode()
