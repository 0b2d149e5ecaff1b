"""An initramfs or a root file system that was built: bootlab.root/1, and its words."""

from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from bootlab.build.cache import file_sha256
from bootlab.build.root.images import BuiltRoot, Recipe
from bootlab.document import Document
from bootlab.report.parts.view import View
from bootlab.system import Initramfs, Rootfs

SCHEMA: Final = "bootlab.root/1"
_NAMED = 8


class InstalledPackage(Document):
    """A Debian package of the root."""

    name: str
    version: str


class RootDocument(Document):
    """Where an archive or an image is, and what is in it."""

    schema_: Literal["bootlab.root/1"] = Field(default=SCHEMA, alias="schema")
    part: str
    """`initramfs` or `rootfs`."""
    arch: str
    path: str
    bytes: int
    sha256: str
    filesystem: str
    """`newc` for an initramfs."""
    compression: str
    packages: list[InstalledPackage]
    """Those that others depend on included."""
    build_s: float
    """Host seconds spent now; 0 from the cache."""
    from_cache: bool


def root_view(recipe: Recipe, arch: str, built: BuiltRoot, output: Path | None) -> View:
    """Return the view of what `recipe` describes. `output`: the file that it was copied to; None: in the cache."""
    embedded = isinstance(recipe, Initramfs) and recipe.embedded
    document = RootDocument(
        part=type(recipe).__name__.lower(),
        arch=arch,
        path=str(output or built.path),
        bytes=built.path.stat().st_size,
        sha256=file_sha256(built.path),
        filesystem=recipe.filesystem.value if isinstance(recipe, Rootfs) else "newc",
        compression="none" if embedded else recipe.compression.value,
        packages=[InstalledPackage(name=name, version=version) for name, version in built.packages],
        build_s=built.seconds,
        from_cache=built.from_cache,
    )
    return View(document, tuple(_lines(document)))


def _lines(root: RootDocument) -> list[str]:
    when = "from the cache" if root.from_cache else f"made in {root.build_s:.1f} s"
    packed = f", {root.compression}" if root.compression != "none" else ""
    lines = [
        f"{root.part} for {root.arch}: {root.filesystem}{packed}, {when}",
        f"file      {root.path}",
        f"          {root.bytes:,} bytes, sha256 {root.sha256[:12]}",
    ]
    if root.packages:
        names = [package.name for package in root.packages]
        shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        lines.append(f"packages  {len(names)}: {shown}")
    return lines
