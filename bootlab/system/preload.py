"""What a root file system reads for its next session, while the user still types a password."""

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from bootlab.system.part import Part


class Preload(Part):
    """The root carries `/sbin/bootlab-preload`, a service beside the login window; PAM tells it of sessions.

    With neither `habits` nor `text` it learns on the machine where it runs.
    """

    habits: Path | None = Field(default=None, strict=False)
    """What sessions of this image read: its own file, or the console of a boot with `record`."""
    text: str = Field(default="", exclude_if=lambda value: not value)
    """The same, in place of a file."""
    record: bool = False
    """Learn from one session, and print what it taught on the console as facts; nothing is read."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [
            name for name, value in (("habits", self.habits), ("text", self.text), ("record", self.record)) if value
        ]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)}: give one of them")
        return self
