"""What a fit found: each figure with what it is made of, what to doubt, and the host model that it makes."""

from typing import Final, Literal

from pydantic import Field

from bootlab.document import Document

SCHEMA: Final = "bootlab.host-fit/1"


class FittedFigure(Document):
    """One figure of a host: the median of what every guest timed of it, in ns."""

    name: str
    """A class of exit, `fault_4K`, `fault_2M`, `instruction`, or a part of one of these."""
    ns: float
    low_ns: float
    """The first quartile."""
    high_ns: float
    """The third quartile."""
    samples: int
    """Batches that were timed."""
    outliers: int
    """Of them longer than three times the median."""
    by_guest_ns: tuple[float, ...]
    """The median of each guest that timed it."""


class HostFit(Document):
    """What `bootlab host fit` found, and the model that it wrote."""

    schema_: Literal["bootlab.host-fit/1"] = Field(default=SCHEMA, alias="schema")
    name: str
    rules: Literal["svm", "vmx"]
    memory: Literal["4K", "2M"]
    """What backs a guest's memory on this host where a system file does not say."""
    figures: tuple[FittedFigure, ...]
    not_timed: dict[str, str]
    """What the model has another source for: name -> why."""
    cautions: tuple[str, ...]
    host: dict[str, str | int | float | None]
    qemu: str
    wall_s: float
    model: str
    """The model, as TOML."""
    file: str | None = None
