"""How verbs speak: results on stdout, everything about progress on stderr, colours only on a terminal."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bootlab.system import System
from bootlab.targets.registry import target_of

# What is printed holds paths and guests' words: a bracket in them is a bracket.
out = Console(highlight=False, markup=False)
err = Console(stderr=True, highlight=False, markup=False)


def print_json(document: BaseModel | dict[str, Any]) -> None:
    """Print the one document of a --json call."""
    value = document.model_dump(mode="json", by_alias=True) if isinstance(document, BaseModel) else document
    sys.stdout.write(json.dumps(value, indent=1) + "\n")
    sys.stdout.flush()


def warn_of_doubts(system: System) -> None:
    """Say on stderr why this system's boots may not be exact."""
    for doubt in target_of(system).doubts(system):
        err.print(f"bootlab: warning: {doubt}", soft_wrap=True)


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

    def booted(self, text: str) -> None:
        """Count one boot that has ended."""
        self._done += 1
        self._bar.update(self._task, advance=1, description=text[:40])
        if not self._silent and not err.is_terminal and self._done % 10 == 0:
            err.print(f"  {self._done} boots done")
