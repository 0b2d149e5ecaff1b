"""Checks the files that a verb is to write before anything is built or booted, and writes them at the end."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bootlab.errors import InputError, StoreError
from bootlab.system import System
from bootlab.system.part import brief

Inputs = Iterable[tuple[str, Path | None]]
"""What is read: the option or key that names it, and its path."""


def expect_file(option: str, output: Path, inputs: Inputs, *, example: str) -> None:
    """Raise InputError unless `output` can become a file that is none of the `inputs`. `option` names it."""
    expect_path(option, output)
    if output.is_dir():
        raise InputError(f"{option} {output}: a folder is there", hint=f"name a file, for example {output / example}")
    _expect_place(option, output, inputs)


def expect_folder(option: str, output: Path, inputs: Inputs, *, what: str = "kernel") -> None:
    """Raise InputError unless `output` is or can become a folder for a `what` that is in none of the `inputs`."""
    expect_path(option, output)
    if output.exists() and not output.is_dir():
        raise InputError(f"{option} {output}: a file is there, and a {what} is several", hint="name a folder")
    _expect_place(option, output, inputs)


def expect_path(option: str, path: Path) -> None:
    """Raise InputError for a path that no file or folder can have, or whose place may not be looked at."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise InputError(
            f"{option} {brief(str(path))}: {error.strerror or error}", hint="name another place"
        ) from error


def copy_to(output: Path, paths: Iterable[Path], *folders: Path) -> None:
    """Copy files and folders into the folder `output`, made when it is not there. Raises StoreError of --output."""
    with _told(output):
        output.mkdir(parents=True, exist_ok=True)
        for path in paths:
            shutil.copyfile(path, output / path.name)
        for folder in folders:
            shutil.copytree(folder, output / folder.name, dirs_exist_ok=True)


def copy_as(output: Path, path: Path) -> None:
    """Copy a file to `output`, whose folder is made when it is not there. Raises StoreError of --output."""
    with _told(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, output)


def write_text(option: str, output: Path, text: str) -> None:
    """Write a file whose place was looked at before, and make its folder; `option` names it. Raises StoreError."""
    with _told(output, option):
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")


@contextmanager
def _told(output: Path, option: str = "--output") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"{option}: {error.filename or output}: {error.strerror or error}") from error


def inputs_of(system: System, file: Path) -> list[tuple[str, Path | None]]:
    """Return the files and folders that a system is made of, the system file among them, each with its key."""
    found: list[tuple[str, Path | None]] = [("the system file", file)]
    for part in ("initramfs", "rootfs"):
        recipe = getattr(system, part)
        if recipe is not None:
            found += [(f"{part}.{key}", getattr(recipe, key)) for key in ("path", "directory", "init")]
            found += [(f"{part}.files", path) for path in recipe.files.values()]
    if system.rootfs is not None:
        found.append(("rootfs.source", system.rootfs.source))
    if system.card is not None:
        found += [("card.path", system.card.path), ("card.dtb", system.card.dtb)]
    if system.flash is not None:
        found.append(("flash.path", system.flash.path))
    if system.bootloader is not None:
        found.append(("bootloader.opensbi", system.bootloader.opensbi))
    if system.image is not None:
        found.append(("image.path", system.image.path))
    for build in (system.kernel.build, system.bootloader):
        if build is not None:
            found += [(f"{build.key}.source", build.source), (f"{build.key}.config", build.config)]
            found += [(f"{build.key}.fragments", path) for path in build.fragments]
            found += [(f"{build.key}.patches", path) for path in build.patches]
    if (firmware := system.machine.firmware_build) is not None:
        found.append((f"{firmware.key}.source", firmware.source))
        found += [(f"{firmware.key}.patches", path) for path in firmware.patches]
    if system.kernel.build is not None:
        found += [("kernel.build.reduced", path) for path in system.kernel.build.reduced]
    return found


def _expect_place(option: str, output: Path, inputs: Inputs) -> None:
    place = Path(os.path.realpath(output))
    for name, path in inputs:
        if path is None:
            continue
        read = Path(os.path.realpath(path))
        if place == read:
            raise InputError(f"{option} {output}: is {name} itself", hint="name another file")
        if os.path.isdir(read) and read in place.parents:
            raise InputError(
                f"{option} {output}: lies in {name} ({path}): what is written there would be built in the next time",
                hint="name a place outside of it",
            )
    above = next(folder for folder in place.parents if folder.exists())
    if not above.is_dir():
        raise InputError(f"{option} {output}: {above} is not a folder", hint="name a place in one")
    wanted = place if place.exists() else above
    if not os.access(wanted, os.W_OK):
        raise InputError(f"{option} {output}: {wanted} may not be written to", hint="name a place that is yours")
