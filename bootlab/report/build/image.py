"""A disk image that was built: bootlab.image/1, and its words."""

from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from bootlab.build.cache import file_sha256
from bootlab.build.image.make import BuiltImage
from bootlab.build.image.recipe import ImageRecipe
from bootlab.document import Document
from bootlab.report.build.root import InstalledPackage
from bootlab.report.parts.view import View

SCHEMA: Final = "bootlab.image/1"


class ImageDocument(Document):
    """Where an image is, and what is in it."""

    schema_: Literal["bootlab.image/1"] = Field(default=SCHEMA, alias="schema")
    path: str
    bytes: int
    sha256: str
    format: str
    suite: str
    loader: str
    """What UEFI starts; BIOS starts GRUB."""
    first_boot_clean: bool
    packages: list[InstalledPackage]
    build_s: float
    """Host seconds spent now on composing it, without the installation of its packages; 0 from the cache."""
    from_cache: bool


def image_view(recipe: ImageRecipe, built: BuiltImage, output: Path | None) -> View:
    """Return the view of an image. `output`: the file that it was copied to; None: in the cache."""
    document = ImageDocument(
        path=str(output or built.path),
        bytes=(output or built.path).stat().st_size,
        sha256=file_sha256(output or built.path),
        format=recipe.format,
        suite=recipe.suite,
        loader=recipe.loader.value,
        first_boot_clean=recipe.first_boot_clean,
        packages=[InstalledPackage(name=name, version=version) for name, version in built.packages],
        build_s=built.seconds,
        from_cache=built.from_cache,
    )
    return View(document, tuple(_lines(document)))


def _lines(image: ImageDocument) -> list[str]:
    when = "from the cache" if image.from_cache else f"composed in {image.build_s:.1f} s"
    life = "before its first boot" if image.first_boot_clean else "with the identity that its packages gave it"
    return [
        f"image of Debian {image.suite}: {image.format}, {when}",
        f"file      {image.path}",
        f"          {image.bytes:,} bytes, sha256 {image.sha256[:12]}",
        f"boots     by BIOS through GRUB, by UEFI through {image.loader}; {life}",
        f"packages  {len(image.packages)}",
    ]
