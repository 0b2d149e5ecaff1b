"""Arguments that several verbs share, with their help, defaults and completion."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.cli.terminal.speech import teller
from bootlab.errors import InputError, MissingTool
from bootlab.experiments.store import Store
from bootlab.experiments.trial.plan import PLANS
from bootlab.system import System


def complete_system(incomplete: str) -> list[str]:
    """Return the TOML files and folders that begin with what was typed."""
    typed = Path(incomplete)
    folder = typed if incomplete.endswith("/") else typed.parent
    try:
        names = [path for path in sorted(folder.iterdir()) if path.suffix == ".toml" or os.path.isdir(path)]
    except OSError:
        return []
    texts = [f"{path}/" if os.path.isdir(path) else str(path) for path in names if not path.name.startswith(".")]
    return [text for text in texts if text.startswith(incomplete)]


class ExportFormat(StrEnum):
    """What a profile or a recording can be written as, for other tools."""

    FOLDED = "folded"
    PERFETTO = "perfetto"
    SVG = "svg"
    CSV = "csv"
    JSON = "json"


SystemFile = Annotated[
    Path,
    typer.Argument(metavar="SYSTEM", help="System file (TOML), see docs/systems.md.", autocompletion=complete_system),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document (docs/formats.md) and nothing else.")]
Runs = Annotated[
    Path | None,
    typer.Option("--runs", metavar="DIR", help="Where runs are kept. [default: $BOOTLAB_RUNS, else ./bootlab-runs]"),
]
Parallel = Annotated[
    int | None,
    typer.Option(
        "--parallel", min=1, max=64, metavar="N", help="Boots at once, virtual clock only. [default: one per core]"
    ),
]


@contextmanager
def naming(system: Path) -> Iterator[None]:
    """Put the system file's name before each key that an error below names."""
    try:
        yield
    except InputError as error:
        # An indented line goes on with the one above it.
        lines = [line if line[:1].isspace() else f"{system}:{line}" for line in error.message.splitlines()]
        raise InputError("\n".join(lines), hint=error.hint) from error
    except MissingTool as error:
        # Most name a program; some a key that asks for what no program here can do.
        if error.message.split(".")[0] not in System.model_fields:
            raise
        raise MissingTool(f"{system}:{error.message}", hint=error.hint) from error


def open_store(runs: Path | None) -> Store:
    """Return the store of runs: the folder asked for, else $BOOTLAB_RUNS, else bootlab-runs here."""
    return Store(runs or Path(os.environ.get("BOOTLAB_RUNS") or "bootlab-runs"))


def open_cache() -> Cache:
    """Return this user's cache. Raises StoreError when there is no place for one."""
    return Cache.default()


def open_shop(*, silent: bool) -> Workshop:
    """Return the workshop of this user, which says on stderr what takes long. Raises StoreError without a cache."""
    return Workshop(open_cache(), tell=teller(silent=silent))


def complete_technique(incomplete: str) -> list[str]:
    """Return the techniques whose names begin with what was typed."""
    from bootlab.techniques.model.catalogue import load_catalogue

    return [technique.name for technique in load_catalogue() if technique.name.startswith(incomplete)]


def complete_plan(incomplete: str) -> list[str]:
    """Return the plans that begin with what was typed."""
    return [name for name in sorted(PLANS) if name.startswith(incomplete)]
