"""What an image loads and waits for at start: the modules for a list of devices, chosen when the image is built."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from bootlab.system.part import Part, matching

_MODULE = matching(r"[A-Za-z0-9_-]+", "is no module's name")
_DEVICE = matching(r"/[^\s]+", "is not an absolute path, or has blanks in it")
_PARAMETERS = matching(r"[^\n\x00]+", "is empty or more than one line")


class Coldplug(Part):
    """The image carries `/sbin/bootlab-coldplug` and a plan for it: modules in order, then devices to wait for."""

    devices: Path | None = Field(default=None, strict=False)
    """A file with a modalias a line, as `bootlab coldplug` writes it: the modules that are for one are loaded."""
    modules: tuple[Annotated[str, _MODULE], ...] = Field(default=(), strict=False)
    """Modules to load besides, by name."""
    first: tuple[Annotated[str, _MODULE], ...] = Field(default=(), strict=False)
    """Modules to begin with, for devices that take long to appear: the rest is loaded meanwhile."""
    background: bool = False
    """Hold the boot up for those of `first` and the devices of `wait` alone; the rest is loaded later, calmly."""
    never: tuple[Annotated[str, _MODULE], ...] = Field(default=(), strict=False)
    """Modules that are not loaded whatever device asks for them."""
    parameters: dict[Annotated[str, _MODULE], Annotated[str, _PARAMETERS]] = {}
    """Module -> its parameters, as `modprobe` takes them."""
    serial: bool = False
    """Load one module at a time."""
    record: bool = False
    """Let `/sbin/bootlab-facts` say, after ready, what devices there are."""
    wait: dict[Annotated[str, _DEVICE], Annotated[float, Field(gt=0, le=86400)]] = Field(default={}, strict=False)
    """Device file -> the seconds that it may take to appear; the boot goes on without it then."""

    @model_validator(mode="after")
    def _never_means_never(self) -> Self:
        asked = {name.replace("-", "_") for name in (*self.modules, *self.first)}
        if both := asked & {name.replace("-", "_") for name in self.never}:
            raise ValueError(f"never excludes {', '.join(sorted(both))}, which modules or first asks for")
        if self.background and not self.first:
            raise ValueError("background is for what is not in first, and first is empty")
        return self
