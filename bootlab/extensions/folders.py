"""Where extensions are: packages that are installed beside bootlab, and folders that a system file or an option names.

    FOLDER/techniques/LAYER/SUBJECT.py     TECHNIQUES, as in bootlab/techniques
    FOLDER/importers/FORMAT.py             IMPORTER, as in bootlab/importers; FORMAT.sample is a file of the format
    FOLDER/host_models/NAME.toml           what a host takes, as in bootlab/price/host_models

A package says where its folder is by an entry point of the group `bootlab.extensions`, whose value is the package.
Files whose names begin with `_` belong to others, which import them.
"""

import hashlib
import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Final

from bootlab.extensions.broken import note_broken, why_it_fails

GROUP: Final = "bootlab.extensions"
KINDS: Final = ("techniques", "importers", "host_models")
"""The folders of an extension."""
FAULTS: Final = (Exception, SystemExit)
"""What a stranger's code may raise where it is imported or asked; Ctrl-C is the user's."""


@dataclass(frozen=True, slots=True)
class Extension:
    """One of them: its folder, and the package that its modules are imported from."""

    package: str
    folder: Path


@dataclass(frozen=True, slots=True)
class OutsideModule:
    """One module of an extension. `relative`: its path below the folder of its kind."""

    relative: str
    file: Path
    module: ModuleType


def find_places(folders: tuple[Path, ...] = ()) -> tuple[Extension, ...]:
    """Return the extensions that are installed, by name, then those in `folders`. Notes what is none."""
    installed = sorted(entry_points(group=GROUP), key=lambda one: (one.name, one.value))
    places = [*map(_of_package, installed), *map(_of_folder, dict.fromkeys(folders))]
    return tuple(place for place in places if place is not None)


def find_modules(place: Extension, kind: str) -> Iterator[OutsideModule]:
    """Yield the modules in a folder of an extension, by path. Notes those that cannot be imported."""
    root = place.folder / kind
    for file in sorted(root.rglob("*.py")):
        relative = file.relative_to(root)
        parts = relative.with_suffix("").parts
        if any(part.startswith(("_", ".")) for part in parts) or not file.is_file():
            continue
        if not all(part.isidentifier() for part in parts):
            note_broken(str(file), "its path is no name of a Python module: letters, digits and _, no digit first")
            continue
        try:
            module = importlib.import_module(".".join([place.package, kind, *parts]))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            note_broken(str(file), why_it_fails(error, file))
            continue
        yield OutsideModule(relative.as_posix(), file, module)


def _of_package(entry: EntryPoint) -> Extension | None:
    where = f"entry point {entry.name} = {entry.value}" + (f" of {entry.dist.name}" if entry.dist is not None else "")
    try:
        package = importlib.import_module(entry.module)
    except FAULTS as error:
        note_broken(where, why_it_fails(error))
        return None
    paths = [*getattr(package, "__path__", ())]
    if not paths:
        note_broken(where, f"expected a package with a folder {', '.join(KINDS)}; {entry.module} is a module")
        return None
    return Extension(entry.module, Path(paths[0]))


def _of_folder(folder: Path) -> Extension | None:
    try:
        there = folder.resolve()
        if not there.is_dir():
            note_broken(str(folder), "no such folder, expected one with techniques, importers or host_models in it")
            return None
        if not any((there / kind).is_dir() for kind in KINDS):
            note_broken(str(folder), f"none of the folders {', '.join(KINDS)} is in it")
            return None
    except OSError as error:
        note_broken(str(folder), error.strerror or str(error))
        return None
    # Two folders may be called alike, and no name of ours may hide another package.
    name = f"bootlab_extension_{hashlib.sha256(str(there).encode()).hexdigest()[:16]}"
    if name not in sys.modules:
        package = ModuleType(name, f"The extension in {there}.")
        package.__path__ = [str(there)]
        sys.modules[name] = package
    return Extension(name, there)
