"""Whose output folder a path is: recognised by what is in it, or told: `buildroot:DIR`."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from bootlab.build.outputs.buildroot import find_images, read_buildroot
from bootlab.build.outputs.disk_folder import find_disks, is_mkosi, read_disk_folder
from bootlab.build.outputs.nixos import is_nixos, read_nixos
from bootlab.build.outputs.output import BuildOutput, BuildTool
from bootlab.build.outputs.parts import expect_parts
from bootlab.build.outputs.yocto import CONF, find_confs, read_conf, read_yocto
from bootlab.errors import InputError

_READERS: Final[dict[BuildTool, Callable[[Path], BuildOutput]]] = {
    BuildTool.BUILDROOT: read_buildroot,
    BuildTool.YOCTO: read_yocto,
    BuildTool.NIXOS: read_nixos,
    BuildTool.MKOSI: read_disk_folder,
    BuildTool.DEBOS: read_disk_folder,
}
_START: Final = "start-qemu.sh"
_HINT: Final = (
    "docs/outputs.md says by what a folder is recognised; "
    f"{', '.join(f'{tool}:DIR' for tool in BuildTool)} say whose one is"
)


def names_output(path: Path) -> bool:
    """Return whether a path is an output folder, or a file that stands for one. Touches nothing but names."""
    return _told(path) is not None or path.name.endswith(CONF) or path.name == _START or path.is_dir()


def is_output(path: Path) -> bool:
    """Return whether a folder, or a file that stands for one, is recognised."""
    try:
        return _told(path) is not None or _recognised(path) is not None
    except OSError:
        return False


def read_output(path: Path) -> BuildOutput:
    """Return what is in an output folder: every part is a file in it.

    Raises InputError for one that is not recognised, or cannot be booted.
    """
    told = _told(path)
    tool, place = told if told is not None else (None, path)
    if told is not None and not place.exists():
        raise InputError(f"{place}: no such folder", hint=_HINT)
    try:
        output = _read(tool, place)
        expect_parts(output)
    except OSError as error:
        raise InputError(f"{error.filename or place}: {(error.strerror or str(error)).lower()}") from error
    return output


def _read(tool: BuildTool | None, place: Path) -> BuildOutput:
    if place.is_file():
        return read_conf(place) if place.name.endswith(CONF) else read_buildroot(place.parent)
    tool = tool or _recognised(place)
    if tool is None:
        raise InputError(f"{place}: a folder, and not the output of {', '.join(BuildTool)}", hint=_HINT)
    return _READERS[tool](place)


def _told(path: Path) -> tuple[BuildTool, Path] | None:
    name, colon, rest = str(path).partition(":")
    if colon and rest and name in set(BuildTool):
        return BuildTool(name), Path(rest)
    return None


def _recognised(path: Path) -> BuildTool | None:
    if path.is_file():
        return BuildTool.YOCTO if path.name.endswith(CONF) else BuildTool.BUILDROOT if path.name == _START else None
    if not path.is_dir():
        return None
    if find_images(path) is not None:
        return BuildTool.BUILDROOT
    if find_confs(path):
        return BuildTool.YOCTO
    if is_nixos(path):
        return BuildTool.NIXOS
    if is_mkosi(path):
        return BuildTool.MKOSI
    return BuildTool.DEBOS if len(find_disks(path)) == 1 else None
