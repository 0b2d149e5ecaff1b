"""The kernel: an image, a package, or a build from source."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from bootlab.system.part import LINE, TEXT, Part


class KernelEntry(StrEnum):
    IMAGE = "image"
    """The image as the distribution ships it: bzImage through the firmware on x86-64, Image on arm64."""
    PVH = "pvh"
    """The uncompressed ELF kernel through its PVH entry: no decompressor runs (x86-64 only)."""


def _option_value(value: Any) -> Any:
    # TOML has booleans and whole numbers; a configuration file has y, n and digits.
    if isinstance(value, bool):
        return "y" if value else "n"
    return str(value) if isinstance(value, int) else value


OPTION_NAME = r"^[A-Z0-9][A-Za-z0-9_]*$"
OptionName = Annotated[str, Field(pattern=OPTION_NAME)]
"""A kernel configuration option without its CONFIG_, as in `SMP`."""
OptionValue = Annotated[str, BeforeValidator(_option_value), Field(pattern=r"^[^\x00\n]*$")]
"""`y`, `m`, `n`, a number, or text without its quotes."""


class KernelBuild(Part):
    """A kernel to build: a source, a base configuration, and what is changed of it."""

    source: Path | None = Field(default=None, strict=False)
    """A kernel tree or a tarball of one."""
    package: str | None = None
    """A Debian package of kernel source, e.g. `linux-source-6.12`."""
    suite: str | None = None
    """Debian suite of `package` and `config_package`; by default the suite of this machine."""
    base: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_.-]*config$")
    """A configuration target of the tree: `tinyconfig`, `allnoconfig`, `defconfig` (the default), `NAME_defconfig`."""
    config: Path | None = Field(default=None, strict=False)
    """A whole configuration, instead of `base`."""
    config_package: str | None = None
    """A Debian kernel package whose configuration is the base, e.g. `linux-image-cloud-amd64`."""
    fragments: tuple[Annotated[Path, TEXT], ...] = Field(default=(), strict=False)
    """Files of options on top of the base; no two may ask for different values of one option."""
    options: dict[OptionName, OptionValue] = {}
    """Options on top of the fragments, which they overrule: {SMP = false, HZ = 100}."""
    patches: tuple[Annotated[Path, TEXT], ...] = Field(default=(), strict=False)
    """Patches (-p1) to the source, in order."""

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
    suite: str | None = None
    """Debian suite of `package`, e.g. `bookworm`; by default the suite of this machine."""
    symbols: Path | None = Field(default=None, strict=False)
    """vmlinux or System.map of the same build, for a kernel that does not carry its own symbols (CONFIG_KALLSYMS)."""
    cmdline: Annotated[str, LINE] = Field(default="", max_length=4096)
    entry: Annotated[KernelEntry, TEXT] = KernelEntry.IMAGE

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(one is not None for one in (self.image, self.package, self.build)) != 1:
            raise ValueError("give exactly one of image (a path), package (a Debian package) and build (from source)")
        if self.suite is not None and self.package is None:
            raise ValueError("suite says where package comes from; there is no package")
        return self
