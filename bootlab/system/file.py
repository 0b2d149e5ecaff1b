"""TOML -> System, with file:key for every mistake at once."""

import os
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bootlab.errors import InputError
from bootlab.plain_file import open_plain_or_pipe, special_kind
from bootlab.system.complaint import complaints
from bootlab.system.part import brief
from bootlab.system.value import System, name_from

_LARGEST = 8 << 20
_EXAMPLE = "examples/debian-cloud.toml is a whole system file, docs/systems.md describes every key"
PATHS_HINT = "paths in a system file are relative to the file itself"
_FOLDERS = ("directory", "boots", "metadata", "extensions")
"""Keys that hold the path of a folder; every other path is a file's."""

_PROGRAMS = ("binary", "jailer")
_PLACES = ("socket", "chroot_base", "netns")
_OF_VMMS = tuple(f"target.{name}" for name in (*_PROGRAMS, *_PLACES))
"""Keys of files that need not be there: the target says what is wrong with its programs and places."""

Moved = Callable[[str, Path], Path | None]
"""Where a path of a system file is to be looked for: key and absolute path -> path; None: it is not made yet."""


def read_system(path: Path) -> System:
    """Return the System that a TOML file describes; relative paths are relative to the file.

    Raises InputError that names file:key for every mistake at once: syntax, unknown key, wrong type, missing file,
    contradictory options.
    """
    return parse_system(read_text(path), path)


def read_text(path: Path) -> bytes:
    """Return the bytes of a system file, nothing of which is understood yet. Raises InputError."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{ascii(str(path))[1:-1]}: its name is not UTF-8", hint="give it another name") from error
    try:
        return _read(path)
    except FileNotFoundError as error:
        raise InputError(
            f"{path}: no such file",
            hint="bootlab examples lists those that are shipped; bootlab examples debian-cloud --copy . puts one here",
        ) from error
    except IsADirectoryError as error:
        raise InputError(f"{path}: is a directory, expected a TOML system file", hint=_EXAMPLE) from error
    except PermissionError as error:
        raise InputError(f"{path}: permission denied", hint="name a file that you may read") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}", hint=_EXAMPLE) from error


def parse_system(
    data: bytes, path: Path, moved: Moved | None = None, changed: Callable[[dict[str, Any]], None] | None = None
) -> System:
    """Return the System that the bytes of a file describe, with the file at `path`, its paths `moved` elsewhere.

    `changed` may change the document that they are before it is understood. Raises InputError as `read_system`.
    """
    try:
        document = tomllib.loads(data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text, expected a TOML system file", hint=_EXAMPLE) from error
    except RecursionError as error:
        raise InputError(f"{path}: not TOML: nested too deeply", hint=_EXAMPLE) from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {brief(str(error))}", hint=_EXAMPLE) from error
    except ValueError as error:
        # What is left is a number of more digits than Python reads.
        raise InputError(f"{path}: not TOML: a number with more digits than any can have", hint=_EXAMPLE) from error
    document.setdefault("name", name_from(path.stem, "system"))
    if changed is not None:
        changed(document)
    missing = _resolve_paths(document, path, moved)
    try:
        system = System.model_validate(document)
    except ValidationError as error:
        mistakes = [*complaints(error), *missing]
        raise InputError(
            "\n".join(f"{path}:{mistake}" for mistake in mistakes), hint="docs/systems.md describes every key"
        ) from error
    if missing:
        raise InputError(
            "\n".join(f"{path}:{mistake}" for mistake in missing),
            hint=PATHS_HINT,
        )
    return system


def _read(path: Path) -> bytes:
    # What never ends is not read for ever.
    with open_plain_or_pipe(path) as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise InputError(f"{path}: more than {_LARGEST >> 20} MiB, expected a TOML system file", hint=_EXAMPLE)
    return data


def _resolve_paths(document: dict[str, Any], file: Path, moved: Moved | None) -> list[str]:
    # Also of a document that is wrong elsewhere: what is not text where a path belongs is left to the check of types.
    missing = []
    for key, holder, name in list(read_paths(document)):
        if isinstance(holder[name], str):
            holder[name] = str(file.parent / holder[name])
            if moved is not None and key != "target.socket":
                there = moved(key, Path(os.path.abspath(holder[name])))
                if there is None:
                    continue
                holder[name] = str(there)
            kind = key.partition("[")[0] if isinstance(name, int) else name
            wanted = "folder" if kind in _FOLDERS else "file"
            if key in _OF_VMMS:
                continue
            if (special := special_kind(Path(holder[name]))) is not None:
                missing.append(f"{brief(key)}: {special}, not a {wanted}: {brief(holder[name])}")
            elif not _is_there(Path(holder[name]), kind):
                missing.append(f"{brief(key)}: no such {wanted}: {brief(holder[name])}")
    return missing


def read_paths(document: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield each place of a document that holds a path: the key, the table or list that it is in, its name there."""
    build = _table(_table(document.get("kernel")).get("build"))
    bootloader = _table(document.get("bootloader"))
    restorer = _table(document.get("restorer"))
    # Kernel and initramfs of a restorer have the keys of the system's own.
    yield from ((f"restorer.{key}", holder, name) for key, holder, name in read_paths(restorer)) if restorer else ()
    for key, holder, names in (
        ("kernel", _table(document.get("kernel")), ("image", "symbols")),
        ("kernel.build", build, ("source", "config")),
        ("bootloader", bootloader, ("source", "config", "opensbi")),
        ("card", _table(document.get("card")), ("path", "dtb")),
        ("image", _table(document.get("image")), ("path",)),
        ("flash", _table(document.get("flash")), ("path",)),
        ("target", _table(document.get("target")), ("boots", "mmds")),
        ("network", _table(document.get("network")), ("metadata",)),
        ("initramfs", _table(document.get("initramfs")), ("path", "init", "directory")),
        ("rootfs", _table(document.get("rootfs")), ("path", "source", "init", "directory", "layout")),
    ):
        for name in names:
            if name in holder:
                yield f"{key}.{name}", holder, name
    target = _table(document.get("target"))
    # A program without a slash is one that PATH finds.
    named = [name for name in _PROGRAMS if "/" in str(target.get(name, ""))]
    for name in (*named, *(name for name in _PLACES if name in target)):
        yield f"target.{name}", target, name
    for part in ("initramfs", "rootfs"):
        coldplug = _table(_table(document.get(part)).get("coldplug"))
        if "devices" in coldplug:
            yield f"{part}.coldplug.devices", coldplug, "devices"
        for name, key in (("readahead", "pack"), ("preload", "habits")):
            holder = _table(_table(document.get(part)).get(name))
            if key in holder:
                yield f"{part}.{name}.{key}", holder, key
        files = _table(_table(document.get(part)).get("files"))
        for name in files:
            yield f'{part}.files."{name}"', files, name
    firmware = _table(_table(document.get("machine")).get("firmware_build"))
    if "source" in firmware:
        yield "machine.firmware_build.source", firmware, "source"
    builds = (("kernel.build", build), ("bootloader", bootloader), ("machine.firmware_build", firmware))
    for part, holder in builds:
        for name in ("fragments", "patches", "reduced"):
            listed = holder.get(name)
            for index in range(len(listed) if isinstance(listed, list) else 0):
                yield f"{part}.{name}[{index}]", listed, index
    extensions = document.get("extensions")
    for index in range(len(extensions) if isinstance(extensions, list) else 0):
        yield f"extensions[{index}]", extensions, index
    for name, mark in _table(_table(document.get("screen")).get("marks")).items():
        if "picture" in _table(mark):
            yield f"screen.marks.{name}.picture", _table(mark), "picture"
    disks = document.get("disks")
    for index, disk in enumerate(disks if isinstance(disks, list) else ()):
        if "path" in _table(disk):
            yield f"disks[{index}].path", disk, "path"
    clock = _table(document.get("clock"))
    if str(clock.get("host_model", "")).endswith(".toml"):
        yield "clock.host_model", clock, "host_model"
    machine = _table(document.get("machine"))
    if machine.get("firmware", "default") not in ("default", "qboot", "ovmf"):
        yield "machine.firmware", machine, "firmware"


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_there(path: Path, key: str) -> bool:
    try:
        if key in _FOLDERS:
            return path.is_dir()
        # A kernel's source and a root's is a tree or an archive of one.
        return path.exists() if key == "source" else path.is_file()
    except OSError:
        return False
