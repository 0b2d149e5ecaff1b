"""The class that every part of a System is made of: frozen, strict, and refusing keys it does not know."""

import re
from typing import Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Part(BaseModel):
    """A frozen piece of a System; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_enum_values=False)


# TOML has no enums: strict mode must still take the plain string.
TEXT: Any = Field(strict=False)


def matching(pattern: str, otherwise: str) -> AfterValidator:
    """Return the check that a text is of `pattern` as a whole; `otherwise` is what to say of one that is not."""

    def check(text: str) -> str:
        if re.fullmatch(pattern, text) is None:
            raise ValueError(otherwise)
        return text

    return AfterValidator(check)


# A comma would begin another option on QEMU's command line, and a NUL ends a word for the kernel.
WORD = matching(r"[^,\x00]+", "is empty, or has a comma or a NUL in it")
MARK = matching(r"[!-~]{1,64}", "is no mark's name: 1 to 64 printable ASCII characters, without spaces")
LINE = matching(r"[^\x00]*", "has a NUL in it")
