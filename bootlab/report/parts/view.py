"""A result as everybody sees it: what a terminal, a page and a program are given of one run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from rich.console import RenderableType


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a run. `make`: its HTML; told whether it goes elsewhere than into the run, for links to what is there.

    `name`: its file in the run; `called`: the word for it in the terminal.
    """

    make: Callable[[bool], str]
    name: str = "report.html"
    called: str = "report"


@dataclass(frozen=True, slots=True)
class View:
    """One result, shown. A `str` or `Text` among the lines is never broken, so that its paths can be copied."""

    document: BaseModel | dict[str, Any]
    """What --json prints."""
    lines: tuple[RenderableType, ...]
    page: Page | None = None
    """None for a kind of run that has none."""
    good: bool = True
    """Whether the exit code is 0: what was found is what the user hopes for."""
    code: int = 1
    """The exit code where it is not good."""
    markdown: Callable[[], str] | None = None
    """What --markdown prints; None for a kind of run that has no tables of that form."""
    more: "View | None" = None
    """What is shown below it, with a page of its own; --json leaves it out."""
