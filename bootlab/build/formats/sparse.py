"""Copies of files that are nearly all zeros: what is zero is neither written nor kept."""

from typing import IO

_BLOCK = 64 << 10


def copy_sparse(source: IO[bytes], target: IO[bytes], at: int) -> None:
    """Write all that `source` holds into `target` at byte `at`, whose zeros there are holes already."""
    while block := source.read(_BLOCK):
        if block.strip(b"\0"):
            target.seek(at)
            target.write(block)
        at += len(block)
