"""A kernel that was built: bootlab.kernel/1, and its words."""

from dataclasses import asdict
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from bootlab.build.cache import file_sha256
from bootlab.build.kernel.build import BuiltKernel
from bootlab.document import Document
from bootlab.report.build.built_when import when_built
from bootlab.report.parts.view import View

SCHEMA: Final = "bootlab.kernel/1"


class UnknownOptionDocument(Document):
    """One option by a name that the source does not know; what is said of its new name is null where it has none."""

    option: str
    value: str
    by: str
    renamed: str | None
    linux: str | None
    commit: str | None
    wanted: str | None
    got: str | None
    lost: bool


class KernelDocument(Document):
    """Where a kernel's files are, and what is in it. Paths are below --output where that was given."""

    schema_: Literal["bootlab.kernel/1"] = Field(default=SCHEMA, alias="schema")
    arch: str
    release: str
    image: str
    bytes: int
    sha256: str
    vmlinux: str
    config: str
    system_map: str
    modules: str
    log: str
    options_on: int
    options_as_modules: int
    build_s: float
    from_cache: bool
    unknown_options: list[UnknownOptionDocument] = []
    """What the base of its configuration names and the source does not know."""


def kernel_view(built: BuiltKernel, arch: str, output: Path | None) -> View:
    """Return the view of a kernel. `output`: the folder that it was copied to; None: it is shown in the cache."""
    values = list(built.options.values())
    place = built.image.parent if output is None else output
    document = KernelDocument(
        arch=arch,
        release=built.release,
        image=str(place / built.image.name),
        bytes=built.image.stat().st_size,
        sha256=file_sha256(built.image),
        vmlinux=str(place / "vmlinux"),
        config=str(place / "config"),
        system_map=str(place / "System.map"),
        modules=str(place / "modules"),
        log=str(built.log),
        options_on=values.count("y"),
        options_as_modules=values.count("m"),
        build_s=built.seconds,
        from_cache=built.from_cache,
        unknown_options=[UnknownOptionDocument(**asdict(one), lost=one.is_lost) for one in built.unknown],
    )
    return View(document, _lines(document))


def _lines(kernel: KernelDocument) -> tuple[str, ...]:
    unknown = kernel.unknown_options
    lost = sum(one.lost for one in unknown)
    modules = f", {kernel.options_as_modules} as modules" if kernel.options_as_modules else ""
    when = when_built(kernel.build_s, from_cache=kernel.from_cache)
    return (
        f"Linux {kernel.release} for {kernel.arch}, {when}",
        f"image    {kernel.image}",
        f"         {kernel.bytes:,} bytes, sha256 {kernel.sha256[:12]}",
        f"vmlinux  {kernel.vmlinux}",
        f"config   {kernel.config}",
        f"         {kernel.options_on} options on{modules}",
        *(
            [f"         {len(unknown)} named that this source does not know, {lost} of them lost by a rename"]
            * bool(unknown)
        ),
    )
