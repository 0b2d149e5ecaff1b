"""What was on the screen of a boot, kept as PNG files beside its record."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from PIL import Image

from bootlab.measure.record import PictureRecord
from bootlab.profile.recorded.pictures import Picture, read_pictures

FOLDER: Final = "screen"
"""Where the pictures of a boot are, in its directory."""


def keep_pictures(path: Path, directory: Path) -> list[PictureRecord]:
    """Make PNG files of the pictures in the plugin's file, which is removed, and return what they are.

    Raises InputError for a damaged file, OSError.
    """
    if not path.exists():
        return []
    folder = directory / FOLDER
    folder.mkdir(exist_ok=True)
    kept = [_keep(picture, folder) for picture in read_pictures(path)]
    path.unlink()
    for scratch in directory.glob("picture-*.pixels"):
        scratch.unlink()
    return kept


def film_of(pictures: list[PictureRecord]) -> Iterator[PictureRecord]:
    """Yield the pictures in the order of time, each moment once; a mark's goes before one of the film."""
    told: set[int] = set()
    for picture in sorted(pictures, key=lambda one: (one.t_ns, one.mark is None)):
        if picture.mark is not None or picture.t_ns not in told:
            yield picture
        told.add(picture.t_ns)


def pixels_sha256(image: Image.Image, picture: PictureRecord) -> str:
    """Return the hash that the record has of a picture of these pixels, RGB."""
    pixels = image.tobytes("raw", "BGRX") if picture.width and picture.height else b""
    return hashlib.sha256(pixels).hexdigest()


def _keep(picture: Picture, folder: Path) -> PictureRecord:
    what = "film" if picture.mark is None else re.sub(r"[^A-Za-z0-9_.-]", "_", picture.mark)
    path = folder / f"{picture.t_ns:015}-{what}.png"
    if picture.width and picture.height:
        image = Image.frombuffer("RGB", (picture.width, picture.height), picture.pixels, "raw", "BGRX", 0, 1)
    else:
        image = Image.new("RGB", (1, 1))
    image.save(path, "PNG", optimize=False, compress_level=6)
    return PictureRecord(
        mark=picture.mark,
        t_ns=picture.t_ns,
        width=picture.width,
        height=picture.height,
        pixels_sha256=hashlib.sha256(picture.pixels).hexdigest(),
        file=f"{FOLDER}/{path.name}",
    )
