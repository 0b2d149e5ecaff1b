"""A bootloader that was built: bootlab.bootloader/1, and its words."""

from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from bootlab.build.board.bootloader import BuiltBootloader
from bootlab.build.cache import file_sha256
from bootlab.document import Document
from bootlab.report.build.built_when import when_built
from bootlab.report.parts.view import View

SCHEMA: Final = "bootlab.bootloader/1"


class BootloaderDocument(Document):
    """Where a bootloader's files are. Paths but the log's are below --output where that was given."""

    schema_: Literal["bootlab.bootloader/1"] = Field(default=SCHEMA, alias="schema")
    version: str
    image: str
    """What the card or chip begins with; of a chip in Falcon mode U-Boot's own image, which has no kernel in it."""
    bytes: int
    sha256: str
    spl: str
    spl_image: str
    spl_bytes: int
    spl_limit_bytes: int | None
    """None where the configuration does not say."""
    uboot: str
    opensbi: str | None
    """None where none is packed."""
    opensbi_sha256: str | None
    config: str
    log: str
    falcon: bool
    build_s: float
    from_cache: bool


def bootloader_view(built: BuiltBootloader, output: Path | None) -> View:
    """Return the view of a bootloader. `output`: the folder that it was copied to; None: it is shown in the cache."""
    place = built.image.parent if output is None else output
    document = BootloaderDocument(
        version=built.version,
        image=str(place / built.image.name),
        bytes=built.image.stat().st_size,
        sha256=file_sha256(built.image),
        spl=str(place / built.spl.name),
        spl_image=str(place / built.spl_image.name),
        spl_bytes=built.spl_image.stat().st_size,
        spl_limit_bytes=built.spl_limit,
        uboot=str(place / built.uboot.name),
        opensbi=None if built.opensbi is None else str(place / built.opensbi.name),
        opensbi_sha256=None if built.opensbi is None else file_sha256(built.opensbi),
        config=str(place / "config"),
        log=str(built.log),
        falcon=built.loads_kernel,
        build_s=built.seconds,
        from_cache=built.from_cache,
    )
    return View(document, tuple(_lines(document)))


def _lines(loader: BootloaderDocument) -> list[str]:
    limit = f" of at most {loader.spl_limit_bytes:,}" if loader.spl_limit_bytes else ""
    lines = [
        f"U-Boot {loader.version}, {when_built(loader.build_s, from_cache=loader.from_cache)}",
        f"image    {loader.image}",
        f"         {loader.bytes:,} bytes, sha256 {loader.sha256[:12]}",
        f"SPL      {loader.spl_image}",
        f"         {loader.spl_bytes:,} bytes{limit}{', loads a kernel itself' if loader.falcon else ''}",
        f"U-Boot   {loader.uboot}",
    ]
    if loader.opensbi is not None and loader.opensbi_sha256 is not None:
        lines += [f"OpenSBI  {loader.opensbi}", f"         sha256 {loader.opensbi_sha256[:12]}"]
    if loader.falcon and loader.opensbi is not None:
        lines.insert(3, "         without a kernel: what boots from a chip is made with it, as the system is prepared")
    return [*lines, f"config   {loader.config}"]
