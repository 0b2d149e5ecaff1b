"""The systems that come with bootlab, to begin with: system files, and the files that each of them names."""

import os
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bootlab.errors import InputError, StoreError
from bootlab.sources import EXAMPLES, PATCHES
from bootlab.system.file import parse_system, read_text


@dataclass(frozen=True, slots=True)
class Example:
    """One of them. `name` is its path below the examples, without `.toml`."""

    name: str
    description: str
    path: Path


def list_examples(root: Path = EXAMPLES) -> list[Example]:
    """Return all of them by name. Raises InputError for a damaged one."""
    found = (_read(path, root) for path in sorted(root.rglob("*.toml"), key=lambda path: path.relative_to(root)))
    return [example for example in found if example is not None]


def find_example(name: str, root: Path = EXAMPLES) -> Example:
    """Return one by its name, with or without `.toml`. Raises InputError."""
    path = root / f"{name.removesuffix('.toml')}.toml"
    within = path.resolve().is_relative_to(root.resolve()) and path.is_file()
    example = _read(path, root) if within else None
    if example is None:
        raise InputError(f"{name}: there is no such example", hint="bootlab examples lists them")
    return example


def copy_examples(examples: list[Example], into: Path, root: Path = EXAMPLES, *, whole: bool = False) -> list[Path]:
    """Copy system files and what they name into a folder, as they lie to each other; returns the system files.

    `whole`: what no system file names as well, such as the other side of a test over a network.
    Raises InputError when a file is there already, before anything is copied; StoreError when one cannot be written.
    """
    named = {file for example in examples for file in _files(example, root)}
    wanted = sorted({*_below(root), *named} if whole else named)
    targets = {file: into / _placed(file, root) for file in wanted}
    for target in targets.values():
        if target.exists() or target.is_symlink():
            raise InputError(f"{target}: there already", hint="name another folder: nothing is overwritten")
    try:
        for file, target in targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target, follow_symlinks=False)
            if file.suffix == ".toml" and not file.is_symlink():
                _lead_to_patches(file, target, root)
    except OSError as error:
        raise StoreError(f"{into}: the examples cannot be copied: {error.strerror or error}") from error
    return [into / example.path.relative_to(root) for example in examples]


def _placed(file: Path, root: Path) -> Path:
    # Patches lie beside the examples; of a copy they are inside, since nothing is written outside of its folder.
    return file.relative_to(root) if file.is_relative_to(root) else Path(PATCHES.name) / file.relative_to(PATCHES)


def _lead_to_patches(file: Path, target: Path, root: Path) -> None:
    there, here = (os.path.relpath(place, file.parent) for place in (PATCHES, root / PATCHES.name))
    text = file.read_text(encoding="utf-8")
    if f'"{there}/' in text:
        target.write_text(text.replace(f'"{there}/', f'"{here}/'), encoding="utf-8")


def _read(path: Path, root: Path) -> Example | None:
    try:
        document = tomllib.loads(read_text(path).decode())
    except ValueError as error:
        raise InputError(f"{path}: not TOML: {error}") from error
    # Other files of an example are TOML, too.
    if "booted" not in document:
        return None
    name = path.relative_to(root).with_suffix("").as_posix()
    return Example(name, str(document.get("description", "")), path)


def _files(example: Example, root: Path) -> Iterator[Path]:
    """Yield its system file, and what that names and comes with it; a file that its user fetches first does not."""
    named: list[Path] = []

    def note(key: str, place: Path) -> Path:
        # By name, not by where a link leads: the copy has the same links.
        place = Path(os.path.normpath(place))
        if (place.is_relative_to(root) or place.is_relative_to(PATCHES)) and place.exists():
            named.append(place)
        return place

    with suppress(InputError):
        parse_system(read_text(example.path), example.path, note)
    yield example.path
    for place in named:
        if place.is_dir():
            yield from _below(place)
        else:
            yield place


def _below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
