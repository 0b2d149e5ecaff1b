"""The error of a partition that has no room: which one, for what, how much that needs, and how much is free. Pure."""

from bootlab.errors import InputError

HINT = "remove what is not needed there, old kernels say, or make the partition larger"
"""What helps a partition that is full."""


def no_room(where: str, path: str, needed: int, free: int | None) -> InputError:
    """Return the error. `where`: the partition; `needed`, `free`: bytes, of which None is not known."""
    there = "less is free" if free is None else f"{_size(free)} are free"
    return InputError(f"{where} has no room for {path}: it needs {_size(needed)}, and {there}", hint=HINT)


def _size(count: int) -> str:
    return f"{count / 2**20:,.1f} MiB" if count >= 1 << 20 else f"{count:,} bytes"
