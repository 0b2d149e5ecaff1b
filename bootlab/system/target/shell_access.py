"""How the shell of a running system is reached, and what `bootlab profile` asks it for, as a [target] says it."""

from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from bootlab.system.part import LINE, TEXT, Part, expect_pattern, matching
from bootlab.system.target.command import Command

DEFAULT_WORDS = "initcall_debug log_buf_len=16M"
"""What a kernel is told so that its log has each initcall with its time (Documentation/admin-guide: initcall_debug)."""
_MOST_KEPT = 32
_NAME = matching(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", "is no name of a file")
_ONE_LINE = matching(r"[^\x00\r\n]{1,500}", "is not one line of at most 500 characters")


class ShellAccess(Part):
    """The shell that answers once the system is ready: a command of this host, or the serial line's own."""

    command: Command | None = None
    """Takes a script on standard input and prints what it answers: `ssh root@192.0.2.7 sh`."""
    prompt: str | None = None
    """Pattern of what the shell on the serial line says when it waits for a command."""
    words: Annotated[str, LINE] = DEFAULT_WORDS
    """Kernel words of the boot that is asked. They reach a board that the kernel's words are delivered to."""
    keeps: dict[Annotated[str, _NAME], Annotated[str, _ONE_LINE]] = Field(default={}, max_length=_MOST_KEPT)
    """Name -> a command of that system whose output is kept as well, and laid onto the same clock where it can be."""
    deadline_s: Annotated[float, TEXT] = Field(default=120.0, gt=0, le=3600)
    """Of all answers together."""

    @field_validator("prompt")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        return value if value is None else expect_pattern(value)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.command is None) == (self.prompt is None):
            raise ValueError("give exactly one of command (as ssh) and prompt (of the shell on the serial line)")
        return self
