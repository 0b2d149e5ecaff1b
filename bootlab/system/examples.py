"""The systems that come with bootlab, to begin with: system files, and the files that each of them names."""

import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.errors import InputError, StoreError
from bootlab.sources import EXAMPLES, PATCHES
from bootlab.system.file import parse_system, read_text

_OF_A_COMMAND: Final = re.compile(r"(?<![\w./-])examples/([\w./{},-]*[\w}])")
"""How comments name what lies here, as somebody calls it in a checkout."""


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

    What the commands in their comments name comes along, and is called there by its place in the copy: as `into` is
    given, so from the folder where the copy is made. `whole`: what no system file names as well, such as the other side
    of a test over a network.
    Raises InputError when another file is there already, before anything is copied; StoreError when one cannot be
    written.
    """
    named = _named(examples, root)
    wanted = sorted({*_below(root), *named} if whole else named)
    targets = {file: into / _placed(file, root) for file in wanted}
    for file, target in targets.items():
        if not target.is_symlink() and not target.exists():
            continue
        if not _is_copy(file, target, into, root):
            raise InputError(f"{target}: there already", hint="name another folder: nothing is overwritten")
    try:
        for file, target in targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.is_symlink() or (text := _text_there(file, into, root)) is None:
                shutil.copy2(file, target, follow_symlinks=False)
            else:
                target.write_text(text, encoding="utf-8")
                shutil.copystat(file, target)
    except OSError as error:
        raise StoreError(f"{into}: the examples cannot be copied: {error.strerror or error}") from error
    return [into / example.path.relative_to(root) for example in examples]


def _named(examples: list[Example], root: Path) -> set[Path]:
    """Return the files of examples, of those that commands in their comments name, and so on."""
    found: set[Path] = set()
    left = list(examples)
    while left:
        example = left.pop()
        found |= {*_files(example, root)}
        for path in _in_commands(example.path, root):
            other = _read(path, root) if path.suffix == ".toml" and path not in found else None
            if other is not None:
                left.append(other)
            found |= {*_below(path)} if path.is_dir() else {path}
    return found


def _in_commands(file: Path, root: Path) -> Iterator[Path]:
    """Yield what a file's comments name below the examples, each alternative of a shell's braces."""
    for place in _OF_A_COMMAND.findall(file.read_text(encoding="utf-8")):
        before, brace, rest = place.partition("{")
        inside, _, after = rest.partition("}")
        for one in inside.split(",") if brace else [""]:
            path = Path(os.path.normpath(root / f"{before}{one}{after}"))
            if path.exists() and path.is_relative_to(root):
                yield path


def _is_copy(file: Path, target: Path, into: Path, root: Path) -> bool:
    """Return whether what is there is what would be written, as of a copy of another example that shares it."""
    if file.is_symlink() or target.is_symlink():
        return file.is_symlink() and target.is_symlink() and file.readlink() == target.readlink()
    text = _text_there(file, into, root)
    wanted = file.read_bytes() if text is None else text.encode()
    return target.is_file() and target.read_bytes() == wanted


def _text_there(file: Path, into: Path, root: Path) -> str | None:
    """Return a file's text as it is in a copy; None where it is the same, or no text."""
    if not file.is_relative_to(root):
        return None
    try:
        text = file.read_text(encoding="utf-8")
    except ValueError:
        return None
    there = "" if into == Path() else f"{shlex.quote(str(into))}/"
    changed = _OF_A_COMMAND.sub(lambda found: f"{there}{found[1]}", text)
    if file.suffix == ".toml":
        far, near = (os.path.relpath(place, file.parent) for place in (PATCHES, root / PATCHES.name))
        changed = changed.replace(f'"{far}/', f'"{near}/')
    return changed if changed != text else None


def _placed(file: Path, root: Path) -> Path:
    # Patches lie beside the examples; of a copy they are inside, since nothing is written outside of its folder.
    return file.relative_to(root) if file.is_relative_to(root) else Path(PATCHES.name) / file.relative_to(PATCHES)


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
