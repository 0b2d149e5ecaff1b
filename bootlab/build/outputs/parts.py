"""What an output boots from, held against the folder that was given: each part is a file in it, and not an empty one.

Who gives a folder away could otherwise have a guest of this user's read any file of this machine, by a name that a
script in it says, or by a link.
"""

import os
from pathlib import Path
from typing import Final

from bootlab.build.outputs.output import BuildOutput, BuildTool
from bootlab.errors import InputError

_NIX_STORE: Final = "/nix/store"


def parts_of(output: BuildOutput) -> tuple[Path, ...]:
    """Return every file that a boot of it reads: kernel, initramfs, root, image, card, firmware, further disks."""
    named = (output.kernel, output.initramfs, output.rootfs, output.image, output.card, output.firmware)
    return (*(path for path in named if path is not None), *(path for path, _ in output.disks))


def expect_parts(output: BuildOutput) -> None:
    """Raise InputError for a part that is not there, is empty, or lies outside of the output's folder."""
    for path in parts_of(output):
        _expect_inside(output, path, os.path.normpath(path.absolute()), output.folder.absolute())
        if not path.is_file():
            hint = "copy the folder with what its links lead to: cp -rL" if path.is_symlink() else "build it again"
            raise InputError(f"{path}: {_absence(path)}, and {output.about} boots from it", hint=hint)
        _expect_inside(output, path, os.path.realpath(path), output.folder.resolve())
        if not path.stat().st_size:
            raise InputError(f"{path}: an empty file, and {output.about} boots from it", hint="build or copy it again")


def _expect_inside(output: BuildOutput, path: Path, place: str, folder: Path) -> None:
    if Path(place).is_relative_to(os.path.normpath(folder)):
        return
    # What NixOS builds lies in its store, where everybody may read it, and its outputs are links to that by design.
    store = os.path.realpath(os.environ.get("NIX_STORE_DIR") or _NIX_STORE)
    if output.tool is BuildTool.NIXOS and Path(place).is_relative_to(store):
        return
    leads = f" leads to {place}, which" if path.is_symlink() else ""
    raise InputError(f"{path}:{leads} lies outside of its folder: refused", hint=f"copy that file into {output.folder}")


def _absence(path: Path) -> str:
    if path.is_symlink():
        return f"a link to {path.readlink()}, which is missing"
    return "not a file" if path.exists() else "not there"
