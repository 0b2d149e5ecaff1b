"""What `bootlab build kernel` and `bootlab build bootloader` share: words for kconfig, options, and the progress."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bootlab.build.source.config_text import plain_value
from bootlab.cli.build.option_names import made_of_options
from bootlab.cli.terminal.speech import err
from bootlab.errors import InputError
from bootlab.system import SourceBuild
from bootlab.system.source.build import OPTION_NAME

ConfigFile = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="A whole configuration, instead of a base.")
]
Fragments = Annotated[
    list[Path] | None, typer.Option("--fragment", metavar="FILE", help="Options on top of it. Repeatable.")
]
Patches = Annotated[
    list[Path] | None, typer.Option("--patch", metavar="FILE", help="A patch (-p1), in order. Repeatable.")
]
OutputFolder = Annotated[Path | None, typer.Option("--output", "-o", metavar="DIR", help="Copy what was built there.")]
BuildT = TypeVar("BuildT", bound=SourceBuild)

_LINE_EVERY = 250


def refuse_with_file(system: Path, named: list[str]) -> None:
    """Raise InputError when words of the command line (`named`) say what a system file says already."""
    if named:
        raise InputError(
            f"{system} says what to build: {', '.join(named)} cannot be given with it",
            hint="change the file, or leave it out and give everything on the command line",
        )


def parse_options(words: list[str], example: str) -> dict[str, str]:
    """Return option -> value of what --set was given. Raises InputError; `example` is what it could have been."""
    options: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise InputError(f"--set {word}: expected NAME=VALUE", hint=f"for example --set {example}")
        name = name.removeprefix("CONFIG_")
        if not re.fullmatch(OPTION_NAME, name):
            raise InputError(f"--set {word}: {name!r} is no option's name", hint=f"for example --set {example}")
        value = plain_value(value)
        if options.setdefault(name, value) != value:
            raise InputError(f"--set {name}: asked for as {options[name]} and as {value}", hint="give it once")
    return options


def checked_build(kind: type[BuildT], given: dict[str, Any], words: Mapping[str, str], verb: str) -> BuildT:
    """Return what the command line describes, as a system file would. Raises InputError in words of the former."""
    files = [(name, given.get(name)) for name in ("config", "opensbi")]
    files += [(name, path) for name in ("fragments", "patches") for path in given[name]]
    missing = [f"{words[name]} {path}" for name, path in files if path is not None and not os.path.isfile(path)]
    source = given.get("source")
    if source is not None and not os.path.exists(source):
        missing.insert(0, f"{words['source']} {source}")
    if missing:
        raise InputError(f"{', '.join(missing)}: no such file")
    return made_of_options(kind, given, words, verb)


@contextmanager
def build_progress(*, silent: bool) -> Iterator[tuple[Callable[[str], None], Callable[[int, str], None]]]:
    """Give what tells a line, and what shows the files compiled so far and the last of them."""
    shown = Progress(
        SpinnerColumn(),
        TextColumn("{task.completed} files"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=err,
        transient=True,
        disable=silent or not err.is_terminal,
    )
    with shown:
        task = shown.add_task("", total=None)

        def tell(line: str) -> None:
            if not silent:
                err.print(f"  {line}", soft_wrap=True)

        def progress(done: int, last: str) -> None:
            shown.update(task, completed=done, description=last[-50:])
            if not err.is_terminal and done % _LINE_EVERY == 0:
                tell(f"compiled {done} files")

        yield tell, progress
