"""LSB init scripts and systemd services -> units of bootlab-init (docs/init.md)."""

from collections.abc import Sequence
from pathlib import Path

from bootlab.build.units.script import convert_script
from bootlab.build.units.service import convert_service
from bootlab.build.units.unit_text import Converted
from bootlab.errors import InputError
from bootlab.plain_file import open_plain


def read_and_convert(path: Path) -> Converted:
    """Return the unit of a .service file, or of a script with an INIT INFO header. Raises InputError for any other."""
    try:
        with open_plain(path) as file:
            text = file.read().decode("utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", hint="a .service file or an init script") from error
    if path.suffix == ".service":
        return convert_service(path.stem, str(path), text)
    if text.startswith("#!") and path.suffix != ".unit":
        return convert_script(path.name, str(path), text)
    raise InputError(
        f"{path}: neither a .service file nor a script",
        hint="units of bootlab-init come from systemd's services and from init scripts with an INIT INFO header",
    )


def write_units(units: Sequence[Converted], folder: Path) -> dict[str, Path]:
    """Write what could be converted as folder/NAME.unit; returns the names with their files.

    Raises InputError, and writes nothing, when two of them are one unit or a file is there already.
    """
    files: dict[str, Path] = {}
    for unit in units:
        if unit.text is None:
            continue
        path = folder / f"{unit.name}.unit"
        if unit.name in files:
            raise InputError(f"{unit.path}: another file has become {path.name} already", hint="convert one of the two")
        if path.exists():
            raise InputError(f"{path}: it is there already", hint="--to an empty folder, and compare")
        files[unit.name] = path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for unit in units:
            if unit.text is not None:
                files[unit.name].write_text(unit.text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}", hint="--to takes a folder that can be written to") from error
    return files
