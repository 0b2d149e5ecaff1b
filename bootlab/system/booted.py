"""What the user calls booted, what of it users feel, and how the booted system proves that it still does its work."""

from typing import Annotated, Final, Self

from pydantic import Field, field_validator, model_validator

from bootlab.system.part import MARK, Part, brief, expect_pattern


class Booted(Part):
    """What the user calls booted: a guest mark, a console pattern or an open TCP port."""

    mark: Annotated[str, MARK] | None = None
    console: str | None = None
    """Regular expression searched in each console line."""
    deadline_s: float = Field(default=120.0, gt=0, le=86400)
    """Host seconds until a boot that is not booted is a hang."""

    @model_validator(mode="after")
    def _one_meaning(self) -> Self:
        if (self.mark is None) == (self.console is None):
            raise ValueError('give exactly one of mark (e.g. "ready") and console (a regular expression)')
        return self

    @field_validator("console")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        return _regular_expression(value)


# Where every boot begins; `bootlab.timeline.marks` has it for those that may know of marks.
POWER_ON: Final = "power_on"


class Timing(Part):
    """A stretch of a boot that its users feel, from one mark to another: told beside ready, and judged by nobody."""

    mark: Annotated[str, MARK]
    """Where it ends."""
    after: Annotated[str, MARK] | None = None
    """Where it begins; without one, at power-on."""

    @model_validator(mode="after")
    def _of_two_marks(self) -> Self:
        if self.mark == (self.after or POWER_ON):
            raise ValueError(f"mark and after are both {brief(self.mark)}: nothing lies between them")
        if self.mark == POWER_ON:
            raise ValueError(f"mark is {POWER_ON}, where every boot begins: nothing comes before it")
        return self


class Check(Part):
    """How the booted system proves that it still does its work.

    The guest's own checks end in a console line that `console` matches, or in a guest mark. When `send` is given the
    host then connects to `network.guest_port`, sends that text, and `expect` must match the answer.
    """

    console: str | None = None
    # Left out of documents where there is none, as all that came after boots that are on record.
    mark: Annotated[str, MARK] | None = Field(default=None, exclude_if=lambda value: value is None)
    """A guest mark, for a guest that may be without a console. On the virtual clock it ends the boot."""
    fail: str = "bootlab: check failed"
    """A console line matching this is a failed check at once, before ready too, without waiting for the deadline."""
    send: str | None = None
    expect: str | None = None
    deadline_s: float = Field(default=60.0, gt=0, le=86400)

    @field_validator("console", "fail", "expect")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        return _regular_expression(value)

    @model_validator(mode="after")
    def _one_result(self) -> Self:
        if (self.mark is None) == (self.console is None):
            raise ValueError("give exactly one of console (a regular expression) and mark")
        if self.mark is not None and self.send is not None:
            raise ValueError("mark ends the boot, and nothing can be sent then: console goes with send")
        return self

    @model_validator(mode="after")
    def _both_or_neither(self) -> Self:
        if (self.send is None) != (self.expect is None):
            raise ValueError("send (what the host sends over TCP) and expect (what must come back) go together")
        return self


def _regular_expression(value: str | None) -> str | None:
    return None if value is None else expect_pattern(value)
