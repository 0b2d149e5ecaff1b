"""Where a system boots when no machine is emulated for it: a real board on its line, or boots that are on record."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from bootlab.system.part import LINE, TEXT, Part, expect_pattern, matching

Command = Annotated[tuple[Annotated[str, LINE], ...], TEXT] | Annotated[str, LINE]
"""A list of words, run as it is, or one text, run by `sh -c`."""


class SerialLine(Part):
    """A board on a serial line. Commands run on this host; the board is off while `deliver` runs."""

    is_real: ClassVar[bool] = True

    kind: Literal["serial"]
    port: str = Field(min_length=1)
    """A tty, a socket or a url (docs/serial.md)."""
    baud: int | None = Field(default=None, ge=50)
    """By default 115200 where there is a line to set; given, it is also the rate of what is behind a pty or socket."""
    format: Annotated[str, matching(r"[5-8][NEOMS](1|1\.5|2)", "is not data bits, parity and stop bits, as in 8N1")] = (
        "8N1"
    )
    flow: Literal["none", "xonxoff", "rtscts"] = "none"
    power_on: Command | None = None
    power_off: Command | None = None
    labgrid: Annotated[str, matching(r"[A-Za-z0-9][A-Za-z0-9._/-]*", "is no name of a labgrid place")] | None = None
    """A place of labgrid's, which is acquired, switched and released instead."""
    power_deadline_s: float = Field(default=60.0, gt=0, le=3600)
    """Of each command for the power."""
    off_s: float = Field(default=1.0, ge=0, le=600)
    """How long the board stays off, so that what holds a charge loses it."""
    deliver: Command | None = None
    """Puts what is to be booted where the board finds it: BOOTLAB_KERNEL, _INITRAMFS, _ROOTFS, _DISK0, _CMDLINE."""
    deliver_deadline_s: float = Field(default=600.0, gt=0, le=86400)
    zero: str | None = None
    """Time 0 is the first byte of the first line with this, instead of the start of the command `power_on`."""
    marks: dict[str, str] = {}
    """Mark -> the pattern of its console line."""

    @field_validator("zero", "marks")
    @classmethod
    def _compile(cls, value: str | dict[str, str] | None) -> str | dict[str, str] | None:
        texts = value if isinstance(value, dict) else {"zero": value} if value is not None else {}
        for name, text in texts.items():
            try:
                expect_pattern(text)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
        return value

    @model_validator(mode="after")
    def _one_switch(self) -> Self:
        if (self.power_on is None) == (self.labgrid is None):
            raise ValueError(
                "give exactly one of power_on (a command that switches the board on) and labgrid (a place)"
            )
        if self.labgrid is not None and self.power_off is not None:
            raise ValueError("power_off is for power_on: labgrid switches its places off itself")
        return self

    @property
    def delivers(self) -> bool:
        """Whether what is to be booted is brought to the board."""
        return self.deliver is not None

    def words(self, command: Command) -> list[str]:
        """Return the words of a command, as a process takes them."""
        return ["sh", "-c", command] if isinstance(command, str) else list(command)


class Replay(Part):
    """Boots on record, which answer again for the emulated machine that they were recorded of."""

    is_real: ClassVar[bool] = False
    delivers: ClassVar[bool] = False

    kind: Literal["replay"]
    boots: Annotated[Path, TEXT]
    """The folder of recorded boots, with or without a script (docs/systems.md)."""


Target = Annotated[SerialLine | Replay, Field(discriminator="kind")]
"""`is_real`: a machine that bootlab cannot make, with a console as its only clock.

`delivers`: what is to be booted is brought to it.
"""

_KINDS: Final[dict[str, Any]] = {"serial": SerialLine, "replay": Replay}


def is_real_target(given: Any) -> bool:
    """Return whether a [target], as a table or as its value, is a real machine; one of no known kind counts as such."""
    if isinstance(given, dict):
        kind = given.get("kind")
        return _KINDS[kind].is_real if isinstance(kind, str) and kind in _KINDS else True
    return bool(getattr(given, "is_real", False))
