"""What a root file system reads ahead at boot: what an earlier boot needed, in the order that its disk likes best."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bootlab.system.part import Part, matching

_UNIT = matching(r"[A-Za-z0-9:_.@-]+", "is no unit's name")


class ReadAhead(Part):
    """The root carries `/sbin/bootlab-readahead`, which is started as its init and starts the real one.

    With neither `pack` nor `text` the system learns on the machine where it runs, and keeps what serves it there.
    """

    pack: Path | None = Field(default=None, strict=False)
    """What a boot of this image read: a pack, or the console of a boot with `record`."""
    text: str = Field(default="", exclude_if=lambda value: not value)
    """The same, in place of a file."""
    record: bool = False
    """Learn, and print the pack on the console as facts; nothing is read ahead."""
    order: Literal["block", "need"] | None = None
    """`block`: as it lies on the disk, for what turns; `need`: as the boot asks for it; None: as the pack says."""
    goal: Annotated[str, _UNIT] = "multi-user.target"
    """The unit of systemd with which the boot is done."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [name for name, value in (("pack", self.pack), ("text", self.text), ("record", self.record)) if value]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)}: give one of them")
        if self.order is not None and not (self.pack or self.text):
            raise ValueError("order is that of a pack, and there is none")
        return self
