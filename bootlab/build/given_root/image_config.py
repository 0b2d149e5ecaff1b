"""What the configuration of a container image says: whose machine it is for, and what is started in it."""

import re
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bootlab.errors import InputError
from bootlab.system.complaint import complaints
from bootlab.system.part import brief

ARCHITECTURES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
"""What an image calls an architecture that is booted here -> what bootlab calls it."""
_PORT: Final = re.compile(r"(\d{1,5})(?:/tcp)?")


class _Given(BaseModel):
    # Engines add keys of their own.
    model_config = ConfigDict(frozen=True, extra="ignore")


class ImageProcess(_Given):
    """What is started."""

    user: str = Field(default="", alias="User")
    env: tuple[str, ...] | None = Field(default=None, alias="Env")
    entrypoint: tuple[str, ...] | None = Field(default=None, alias="Entrypoint")
    cmd: tuple[str, ...] | None = Field(default=None, alias="Cmd")
    directory: str = Field(default="", alias="WorkingDir")
    exposed: dict[str, Any] | None = Field(default=None, alias="ExposedPorts")
    stop_signal: str = Field(default="", alias="StopSignal")

    @property
    def words(self) -> tuple[str, ...]:
        """The program and its arguments, as an engine would start it: the entry point, then the command."""
        return (*(self.entrypoint or ()), *(self.cmd or ()))

    @property
    def ports(self) -> tuple[int, ...]:
        """The TCP ports that it says it listens at, the lowest first."""
        found = (_PORT.fullmatch(one) for one in self.exposed or ())
        return tuple(sorted({int(one[1]) for one in found if one and 0 < int(one[1]) < 1 << 16}))


class _Layers(_Given):
    diff_ids: tuple[str, ...] = ()


class ImageConfig(_Given):
    """The configuration document, of the OCI's form and of Docker's."""

    architecture: str
    os: str
    process: ImageProcess | None = Field(default=None, alias="config")
    layers: _Layers = Field(default=_Layers(), alias="rootfs")

    @property
    def started(self) -> ImageProcess:
        """What is started; nothing where nothing is said."""
        return self.process or ImageProcess()


def read_config(document: Any, where: str) -> ImageConfig:
    """Return what a configuration says. Raises InputError for what is none, and for an image of another machine."""
    try:
        config = ImageConfig.model_validate(document)
    except ValidationError as error:
        raise InputError(f"{where}: its configuration is none: {complaints(error)[0]}") from error
    arch_of(config.os, config.architecture, where)
    return config


def arch_of(os: str, architecture: str, where: str) -> str:
    """Return bootlab's name of an image's architecture. Raises InputError for one that is not booted here."""
    if os != "linux" or architecture not in ARCHITECTURES:
        raise InputError(
            f"{where}: is for {brief(os)}/{brief(architecture)}, and bootlab boots container images for "
            f"{' and '.join(f'linux/{one}' for one in ARCHITECTURES)}",
            hint="most images exist for several platforms: skopeo copy --override-arch amd64 fetches another one",
        )
    return ARCHITECTURES[architecture]
