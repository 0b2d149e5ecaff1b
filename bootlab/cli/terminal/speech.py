"""How verbs speak: results on stdout, everything about progress on stderr, colours only on a terminal."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.segment import Segment


class _Terminal(Console):
    """A console that nothing steers but rich itself: whatever a view has let through is spelled out."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text == "\n" or segment.text.isprintable():
                yield segment
            else:
                # Seldom needed, and it takes all that records are made of.
                from bootlab.report.parts.figures import visible

                yield Segment("\n".join(map(visible, segment.text.split("\n"))), segment.style)


# What is printed holds paths and guests' words: a bracket in them is a bracket.
out = _Terminal(highlight=False, markup=False, emoji=False)
err = _Terminal(stderr=True, highlight=False, markup=False, emoji=False)


def print_json(document: BaseModel | dict[str, Any]) -> None:
    """Print the one document of a --json call."""
    value = document.model_dump(mode="json", by_alias=True) if isinstance(document, BaseModel) else document
    sys.stdout.write(json.dumps(value, indent=1) + "\n")
    sys.stdout.flush()


def print_text(text: str) -> None:
    """Print a text as it is: no line is broken, no character is markup."""
    sys.stdout.write(text)
    sys.stdout.flush()


def teller(*, silent: bool) -> Callable[[str], None]:
    """Return what says on stderr which step has begun that may take long, a line each."""

    def tell(line: str) -> None:
        if not silent:
            err.print(f"  {line}", soft_wrap=True)

    return tell


@contextmanager
def boot_progress(total: int | None, *, silent: bool = False) -> Iterator["BootProgress"]:
    """Show how many boots are done; on a terminal as a bar, elsewhere as a line every ten boots."""
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=err,
        transient=True,
        disable=silent or not err.is_terminal,
    )
    with bar:
        yield BootProgress(bar, total, silent)


class BootProgress:
    """The bar's handle: stages and boots done."""

    def __init__(self, bar: Progress, total: int | None, silent: bool) -> None:
        self._bar = bar
        self._silent = silent
        self._task = bar.add_task("boots", total=total)
        self._done = 0

    def expect(self, total: int) -> None:
        """Say how many boots there will be, once that is known."""
        self._bar.update(self._task, total=total)

    def note(self, line: str) -> None:
        """Say which stage has begun."""
        if not self._silent:
            err.print(f"  {line}")
        self._bar.update(self._task, description=line[:40])

    def count_boot(self, text: str) -> None:
        """Count one boot that has ended."""
        self._done += 1
        self._bar.update(self._task, advance=1, description=text[:40])
        if not self._silent and not err.is_terminal and self._done % 10 == 0:
            err.print(f"  {self._done} boots done")
