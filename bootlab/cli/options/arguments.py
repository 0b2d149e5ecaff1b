"""Arguments that several verbs share, with their help, defaults and completion."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bootlab.build.cache import Cache
from bootlab.build.given_root.as_system import is_prefixed, open_root
from bootlab.build.given_root.given import names_root
from bootlab.build.image.as_system import describe_image, system_of_image
from bootlab.build.image.image_file import looks_like_image, open_image
from bootlab.build.image.kept_contents import read_image
from bootlab.build.outputs.as_system import describe_output, system_of_output
from bootlab.build.outputs.recognise import is_output, names_output, read_output
from bootlab.build.outputs.yocto import CONF
from bootlab.build.workshop import Workshop
from bootlab.cli.terminal.speech import teller
from bootlab.errors import InputError, MissingTool
from bootlab.experiments.store import Store, is_run
from bootlab.experiments.trial.plan import PLANS
from bootlab.system import System, read_system
from bootlab.system.file import read_text
from bootlab.system.setting import parse_single, system_with
from bootlab.system.text import system_text

_SYSTEMS = (
    *(".toml", ".img", ".raw", ".qcow2", ".efi", CONF),
    *(".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst", ".tar.bz2"),
)


def complete_system(incomplete: str) -> list[str]:
    """Return the TOML files, disk images, archives and folders that begin with what was typed."""
    typed = Path(incomplete)
    folder = typed if incomplete.endswith("/") else typed.parent
    try:
        names = [path for path in sorted(folder.iterdir()) if path.name.endswith(_SYSTEMS) or os.path.isdir(path)]
    except OSError:
        return []
    texts = [f"{path}/" if os.path.isdir(path) else str(path) for path in names if not path.name.startswith(".")]
    return [text for text in texts if text.startswith(incomplete)]


class ExportFormat(StrEnum):
    """What a profile can be written as, for other tools."""

    FOLDED = "folded"
    PERFETTO = "perfetto"
    SVG = "svg"
    CSV = "csv"
    JSON = "json"


class RecordingExport(StrEnum):
    """What a recording can be written as, for other tools."""

    FOLDED = "folded"
    PERFETTO = "perfetto"
    PFTRACE = "pftrace"
    SPEEDSCOPE = "speedscope"
    SVG = "svg"
    CSV = "csv"
    JSON = "json"


SystemFile = Annotated[
    Path,
    typer.Argument(
        metavar="SYSTEM",
        help="System file (TOML, docs/systems.md); a disk image: raw, qcow2, ISO or a UKI (docs/images.md); an output "
        "folder of Buildroot, Yocto, NixOS, mkosi (docs/outputs.md); or a root: a folder, a tar archive, a container "
        "image of docker save or the OCI's (docs/roots.md).",
        autocompletion=complete_system,
    ),
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
Extensions = Annotated[
    list[Path] | None,
    typer.Option(
        "--extensions",
        metavar="DIR",
        help="A folder of techniques and importers that are not bootlab's own (docs/extending.md). Repeatable. "
        "[default: those that are installed]",
    ),
]


def extension_folders(given: list[Path] | None) -> tuple[Path, ...]:
    """Return the folders of extensions that were named. Raises InputError for one that is not there."""
    for folder in given or ():
        if not folder.is_dir():
            raise InputError(
                f"--extensions {folder}: no such folder", hint="docs/extending.md says what is in such a folder"
            )
    return tuple(given or ())


def names_system(name: str) -> bool:
    """Return whether a word names a system, a file or an output folder, where it could also name a run."""
    if name.endswith(".toml") or is_prefixed(name) or (os.path.isfile(name) and looks_like_image(Path(name))):
        return True
    return not is_run(Path(name)) and (is_output(Path(name)) or names_root(Path(name)))


def open_system(
    path: Path, *, silent: bool = False, rebuilt: bool = False, settings: Sequence[str] | None = None
) -> System:
    """Return the system that a file describes, or that an image, an output or a root is; on stderr what was found.

    `rebuilt`: of an output folder, the kernel is built anew from its source, for who needs another one. `settings`: the
    keys that `--set` sets, as typed.
    Raises InputError as `read_system`, and for what cannot boot; MissingTool for what it is read with.
    """
    set_here = parse_single(settings or ())
    value = _as_it_is(path, silent=silent, rebuilt=rebuilt)
    if not set_here:
        return value
    with naming(path):
        value = _with_extensions_checked(system_with(settable(path, value), path, set_here))
    teller(silent=silent)(f"{value.name}, with " + ", ".join(map(str, settings or ())))
    return value


def settable(path: Path, value: System) -> bytes:
    """Return the system file in which keys of a system are set; `value` is what `path` has as it is.

    Of an image or an output, which no file says, it is the file that `boot --write-system` would write.
    """
    return read_text(path) if path.suffix == ".toml" else system_text(value).encode()


def _as_it_is(path: Path, *, silent: bool, rebuilt: bool) -> System:
    _expect_a_name(path)
    if not is_output(path) and names_root(path):
        return open_root(open_shop(silent=silent), path)
    if names_output(path):
        shop = open_shop(silent=silent)
        output = read_output(path)
        for line in describe_output(output):
            shop.tell(line)
        return system_of_output(shop, output, rebuilt=rebuilt)
    if not looks_like_image(path):
        return _with_extensions_checked(read_system(path))
    shop = open_shop(silent=silent)
    read = read_image(shop, open_image(path))
    for line in describe_image(read):
        shop.tell(line)
    return system_of_image(read)


def _expect_a_name(path: Path) -> None:
    # Neither a system file nor a record can hold it.
    if os.fsencode(path.absolute()).decode(errors="replace") != str(path.absolute()):
        raise InputError(f"{path}: its path is not UTF-8", hint="rename it, or name a link to it")


def _with_extensions_checked(system: System) -> System:
    # What is broken in them is told by every verb, also by one that needs none of it.
    if system.extensions:
        from bootlab.techniques.model.catalogue import load_catalogue

        load_catalogue(system.extensions)
    return system


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
