"""What is built from source: a kernel or a bootloader with its kconfig, or firmware; and what is changed of it."""

from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from bootlab.system.part import TEXT, Part, matching


def _option_value(value: Any) -> Any:
    # TOML has booleans and whole numbers; a configuration file has y, n and digits.
    if isinstance(value, bool):
        return "y" if value else "n"
    return str(value) if isinstance(value, int) else value


OPTION_NAME = r"[A-Z0-9][A-Za-z0-9_]*"
OptionName = Annotated[str, matching(OPTION_NAME, "no name of a kernel option, as SMP is one")]
"""A configuration option without its CONFIG_, as in `SMP`."""
OptionValue = Annotated[str, BeforeValidator(_option_value), matching(r"[^\x00\n]*", "is not one line of text")]
"""`y`, `m`, `n`, a number, or text without its quotes."""


_NO_BASE = "no configuration target of a kernel tree, as tinyconfig, defconfig or NAME_defconfig are"


class SourceOrigin(Part):
    """Where a source comes from, and the patches to it."""

    key: ClassVar[str]
    """Name of the part in the system file, for messages."""
    project: ClassVar[str]
    """`Linux`, `U-Boot` or `EDK II`."""
    what: ClassVar[str]
    """`kernel`, `bootloader` or `firmware`."""

    source: Path | None = Field(default=None, strict=False)
    """A tree, or a tarball of one."""
    package: str | None = None
    suite: str | None = None
    patches: tuple[Annotated[Path, TEXT], ...] = Field(default=(), strict=False)
    """Patches (-p1) to the source, in order."""


class SourceBuild(SourceOrigin):
    """A source tree with its kconfig, a base configuration, and what is changed of both."""

    base: Annotated[str, matching(r"[A-Za-z0-9_.-]*config", _NO_BASE)] | None = None
    """A configuration target of the tree."""
    config: Path | None = Field(default=None, strict=False)
    """A whole configuration, instead of `base`."""
    fragments: tuple[Annotated[Path, TEXT], ...] = Field(default=(), strict=False)
    """Files of options on top of the base; no two may ask for different values of one option."""
    options: dict[OptionName, OptionValue] = {}
    """Options on top of the fragments, which they overrule: {SMP = false, HZ = 100}."""
