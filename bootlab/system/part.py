"""The class that every part of a System is made of: frozen, strict, and refusing keys it does not know."""

import re
from typing import Any, Final

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


_QUOTED: Final = 160
EXPLAINED: Final = 1000
"""As long as the words of an error may be that explains something."""


def brief(value: object, most: int = _QUOTED) -> str:
    """Return what an error quotes of a value, in one line that cannot steer a terminal: of a long one both its ends."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:
        # Written in hexadecimal: with too many digits to be written as anything else.
        return "a number with more digits than any can have"
    if len(text) > most:
        text = f"{text[: most // 2]} ... {text[-most // 2 :]}"
    return text if text.isprintable() else repr(text)[1:-1]


def expect_pattern(text: str) -> str:
    """Return `text` as it is. Raises ValueError where it is no regular expression, or more of one than can be had."""
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return text


# A comma would begin another option on QEMU's command line, and a NUL ends a word for the kernel.
WORD = matching(r"[^,\x00]+", "is empty, or has a comma or a NUL in it")
MARK = matching(r"[!-~]{1,64}", "is no mark's name: 1 to 64 printable ASCII characters, without spaces")
LINE = matching(r"[^\x00]*", "has a NUL in it")
