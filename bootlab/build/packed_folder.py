"""A folder as one file that can be sent: a tar archive, packed by zstd; its links and times stay what they are."""

from pathlib import Path
from typing import Final

import zstandard

from bootlab.errors import StoreError
from bootlab.process import run

_DEADLINE_S: Final = 900.0
_LEVEL: Final = 3


def pack_folder(folder: Path, out: Path) -> None:
    """Write `out`, which has all of `folder`. Raises OSError, ProgramFailed for a full disk, too."""
    archive = out.with_name(f"{out.name}.tar")
    try:
        _tar(folder, "--create", "--sort=name", "--file", archive, ".")
        with archive.open("rb") as source, out.open("wb") as target:
            zstandard.ZstdCompressor(level=_LEVEL, threads=-1).copy_stream(source, target)
    finally:
        archive.unlink(missing_ok=True)


def unpack_folder(packed: Path, out: Path) -> None:
    """Make `out`, a new folder, of what `pack_folder` wrote. Raises OSError, ProgramFailed, StoreError for damage."""
    archive = out.with_name(f"{out.name}.tar")
    try:
        with packed.open("rb") as source, archive.open("wb") as target:
            zstandard.ZstdDecompressor().copy_stream(source, target)
        out.mkdir()
        _tar(out, "--extract", "--no-same-owner", "--file", archive)
    except zstandard.ZstdError as error:
        raise StoreError(f"{packed}: damaged: {error}", hint="remove it, and begin again") from error
    finally:
        archive.unlink(missing_ok=True)


def _tar(folder: Path, *words: str | Path) -> None:
    run(["tar", "--directory", folder, *words], deadline_s=_DEADLINE_S, package="tar")
