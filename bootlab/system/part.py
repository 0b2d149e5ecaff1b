"""What every part of a System is: frozen, strict, and refusing keys it does not know."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Part(BaseModel):
    """A frozen piece of a System; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_enum_values=False)


# TOML has no enums: strict mode must still take the plain string.
TEXT: Any = Field(strict=False)
# A comma would begin another option on QEMU's command line, and a NUL ends a word for the kernel.
WORD: Any = Field(pattern=r"^[^,\x00]+$")
LINE: Any = Field(pattern=r"^[^\x00]*$")
