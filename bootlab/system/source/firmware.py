"""UEFI firmware for PCs that is built from its source: OVMF, of EDK II."""

from typing import Annotated, ClassVar, Self

from pydantic import BeforeValidator, model_validator

from bootlab.system.part import matching
from bootlab.system.source.build import SourceOrigin


def _define_value(value: object) -> object:
    # TOML has booleans and whole numbers; EDK II's build takes words.
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return str(value) if isinstance(value, int) else value


_NAME = matching(r"[A-Za-z_][A-Za-z0-9_]*", "no name of a macro of EDK II's build, as NETWORK_ENABLE is one")
_VALUE = matching(r"[A-Za-z0-9_.+-]+", "no value of a macro of EDK II's build, as TRUE, FALSE and 4096 are")


class FirmwareBuild(SourceOrigin):
    """OVMF, to be built for x86-64.

    `package` is Debian's source package, `edk2`, of which the upstream release is taken; `suite` is the Debian suite
    that has it, by default this machine's.
    """

    key: ClassVar[str] = "machine.firmware_build"
    project: ClassVar[str] = "EDK II"
    what: ClassVar[str] = "firmware"

    defines: dict[Annotated[str, _NAME], Annotated[str, BeforeValidator(_define_value), _VALUE]] = {}
    """Macros of its build (`-D NAME=VALUE`) besides Debian's, which they overrule: {NETWORK_ENABLE = false}."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.source is None) == (self.package is None):
            raise ValueError('give exactly one of source (a tree or tarball) and package ("edk2")')
        if self.suite is not None and self.package is None:
            raise ValueError("suite says where package comes from; there is no package")
        return self
