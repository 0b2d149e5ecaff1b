"""The kernel: an image, a package, or a build from source."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Final, Self

from pydantic import Field, model_validator

from bootlab.system.part import LINE, TEXT, Part
from bootlab.system.source.build import SourceBuild

NULL_WORD: Final = "bootlab.null"
"""A kernel ignores words with a dot whose module it does not have, yet its boot is re-rolled by them."""
_FOR_INIT: Final = re.compile(r"(?:^|\s)--(?=\s|$)")


def add_words(cmdline: str, *words: str) -> str:
    """Return a kernel command line with these words at the end of what is the kernel's: behind `--` all is init's."""
    init = _FOR_INIT.search(cmdline)
    own, rest = (cmdline, "") if init is None else (cmdline[: init.start()], cmdline[init.start() :].strip())
    return " ".join(part for part in (own, *words, rest) if part).strip()


def cmdline_value(cmdline: str, key: str) -> str | None:
    """Return the last value of `key=value` on a command line, or None."""
    values = [word.partition("=")[2] for word in cmdline.split() if word.startswith(f"{key}=")]
    return values[-1] if values else None


def without_null(cmdline: str) -> str:
    """Return a kernel command line without the words of a null change."""
    return " ".join(word for word in cmdline.split(" ") if not word.startswith(f"{NULL_WORD}="))


class KernelEntry(StrEnum):
    """How the kernel is entered."""

    IMAGE = "image"
    """The image as the distribution ships it: bzImage through the firmware on x86-64, Image on arm64."""
    PVH = "pvh"
    """The uncompressed ELF kernel through its PVH entry: no decompressor runs (x86-64 only)."""


class KernelBuild(SourceBuild):
    """A kernel to build.

    `package` is a Debian package of kernel source, e.g. `linux-source-6.12`; `suite` says where it and
    `config_package` come from, by default the suite of this machine; `base` is `tinyconfig`, `allnoconfig`, `defconfig`
    (the default) or `NAME_defconfig`.
    """

    key: ClassVar[str] = "kernel.build"
    project: ClassVar[str] = "Linux"
    what: ClassVar[str] = "kernel"

    config_package: str | None = None
    """A Debian kernel package whose configuration is the base, e.g. `linux-image-cloud-amd64`."""
    reduced: tuple[Annotated[Path, TEXT], ...] = Field(default=(), strict=False)
    """Fragments with all that this system's job needs, on `allnoconfig`: what `kernel_reduced` builds instead."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.source is None) == (self.package is None):
            raise ValueError("give exactly one of source (a tree or tarball) and package (linux-source-...)")
        if sum(one is not None for one in (self.base, self.config, self.config_package)) > 1:
            raise ValueError("give at most one of base, config and config_package: each is a whole configuration")
        if self.suite is not None and self.package is None and self.config_package is None:
            raise ValueError("suite says where package and config_package come from; there is neither")
        return self


class Kernel(Part):
    """A kernel image by path, a Debian package to fetch by name, or a kernel to build."""

    image: Path | None = Field(default=None, strict=False)
    package: str | None = None
    build: KernelBuild | None = None
    installed: bool = False
    """What a board has already, of which nothing is known, or an image: it cannot be changed."""
    suite: str | None = None
    """Debian suite of `package`, e.g. `bookworm`; by default the suite of this machine."""
    symbols: Path | None = Field(default=None, strict=False)
    """vmlinux or System.map of the same build, for a kernel that does not carry its own symbols (CONFIG_KALLSYMS)."""
    cmdline: Annotated[str, LINE] = Field(default="", max_length=4096)
    entry: Annotated[KernelEntry, TEXT] = KernelEntry.IMAGE

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(one is not None for one in (self.image, self.package, self.build)) != (not self.installed):
            raise ValueError(
                "give exactly one of image (a path), package (a Debian package) and build (from source); or "
                "installed = true, for the kernel that an [image] or a board has"
            )
        if self.suite is not None and self.package is None:
            raise ValueError("suite says where package comes from; there is no package")
        return self
