"""`bootlab cache`: what downloads and builds have left, how much room it takes, and what of it may go."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bootlab.build.cache import LOCKS
from bootlab.build.eviction.choice import Eviction, choose
from bootlab.build.eviction.kinds import KINDS, REMOVABLE
from bootlab.build.eviction.removal import remove
from bootlab.build.eviction.survey import free_bytes, survey
from bootlab.build.presence import working_since_ns
from bootlab.cli.options.arguments import Json, open_cache
from bootlab.cli.options.ranges import parse_sizes
from bootlab.cli.terminal.showing import answer
from bootlab.cli.terminal.speech import err
from bootlab.errors import InputError
from bootlab.report.cache import Evicted, cache_view, eviction_view

_DAYS: Final = 30
_MOST_MIB: Final = 1 << 30
_SIZE: Final = "--to 20G, or --to 500M"
_SILENT_S, _LINE_EVERY_S = 2.0, 10.0

app = typer.Typer(
    name="cache",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="What was downloaded and built, and what of it may go (docs/building.md, The cache).",
)


@app.callback()
def _cache() -> None:
    """What was downloaded and built, and what of it may go (docs/building.md, The cache)."""


@app.command("list")
def list_(json: Json = False) -> int:
    """List what the cache holds, kind by kind: how many, how much room on the disk, when last used. Nothing is touched.

    BOOTLAB_CACHE names another cache than ~/.cache/bootlab.
    """
    with _progress(silent=json) as tell:
        found = survey(open_cache(), lambda kind: tell(f"looking at {kind}"))
    return answer(cache_view(found, free_bytes(found.root)), json=json)


@app.command("gc")
def gc(
    older_than: Annotated[
        int | None,
        typer.Option(
            "--older-than",
            min=0,
            max=36500,
            metavar="DAYS",
            help=f"What was used since then stays. [default: {_DAYS}, and 0 where --to is given]",
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="Only of this kind, as bootlab cache list names it. Repeatable.",
            autocompletion=lambda incomplete: [name for name in REMOVABLE if name.startswith(incomplete)],
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="SIZE", help="No more than it takes for the cache to come down to SIZE: 20G, 500M."
        ),
    ] = None,
    remove_them: Annotated[bool, typer.Option("--remove", help="Remove them. [default: list them]")] = False,
    json: Json = False,
) -> int:
    """List what of the cache may go, least recently used first, with its size; with --remove, remove it.

    What goes is made or downloaded again at its next use. Whatever is asked, nothing goes that was used within the last
    24 hours, or since the oldest bootlab that runs now began, nor what somebody works on. What killed builds have left
    goes at any age. packages and roots, which say what names of packages mean, go only where --kind names them. ccache,
    locks, python and zig are left alone, as is all that bootlab did not make.
    """
    asked = Eviction(_days(older_than, to), frozenset(_kinds(kind or [])), _bytes(to))
    cache = open_cache()
    with _progress(silent=json) as tell:
        found = survey(cache, lambda name: tell(f"looking at {name}"))
        now_ns, since_ns = time.time_ns(), working_since_ns(cache.root / LOCKS)
        choice = choose(found.items, asked, found.disk_bytes, now_ns, since_ns)
        done = None
        if remove_them:
            number = len(choice.going)
            done = remove(cache, choice.going, lambda index, one: tell(f"removing {index} of {number}, of {one.kind}"))
    return answer(
        eviction_view(Evicted(found, asked, choice, since_ns, done, free_bytes(cache.root), now_ns)), json=json
    )


def _days(older_than: int | None, to: str | None) -> int:
    if older_than is not None:
        return older_than
    return _DAYS if to is None else 0


def _kinds(names: list[str]) -> list[str]:
    for name in names:
        if name not in KINDS:
            raise InputError(f"--kind {name}: no such kind", hint="bootlab cache list names them")
        if name not in REMOVABLE:
            raise InputError(f"--kind {name}: is left alone: {KINDS[name].why_left}")
    return names


def _bytes(to: str | None) -> int | None:
    if to is None:
        return None
    try:
        sizes = parse_sizes("--to", to, 0, _MOST_MIB)
    except InputError as error:
        raise InputError(f"--to {to}: not a size up to {_MOST_MIB >> 10}G", hint=_SIZE) from error
    if len(sizes) != 1:
        raise InputError(f"--to {to}: expected one size", hint=_SIZE)
    return sizes[0] << 20


@contextmanager
def _progress(*, silent: bool) -> Iterator[Callable[[str], None]]:
    """Give what shows what is being done: a line that changes on a terminal, elsewhere one every ten seconds.

    What is done within two seconds shows nothing.
    """
    shown = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=err, transient=True
    )
    task = shown.add_task("", total=None)
    began = said = time.monotonic()

    def tell(line: str) -> None:
        nonlocal said
        now = time.monotonic()
        if silent or now - began < _SILENT_S:
            return
        if err.is_terminal:
            shown.start()
            shown.update(task, description=line)
        elif now - said > _LINE_EVERY_S:
            said = now
            err.print(f"  {line}")

    try:
        yield tell
    finally:
        shown.stop()
