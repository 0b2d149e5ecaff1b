"""The systems that a run ended in, kept with it as system files: to boot them, and to build them.

0007-debian-cloud-try/systems/baseline.toml, recommended.toml, with-risks.toml; of a tailoring baseline and tailored
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from bootlab.errors import InputError
from bootlab.experiments.store import Run
from bootlab.measure.record_files import store_error
from bootlab.system import System, read_system
from bootlab.system.text import system_text

TAILORED: Final = "tailored"
_FOLDER: Final = "systems"
_BASELINE: Final = "baseline"


def keep_systems(run: Path, baseline: System, reached: Iterable[tuple[str, System]]) -> None:
    """Write what was begun with, and what it became, by name. Raises StoreError."""
    folder = run / _FOLDER
    try:
        folder.mkdir(exist_ok=True)
        for name, system in [(_BASELINE, baseline), *reached]:
            (folder / system_file_name(name)).write_text(system_text(system), encoding="utf-8")
    except OSError as error:
        raise store_error(folder, error) from error


def read_systems(run: Run, name: str) -> tuple[System, System]:
    """Return the system that was begun with, and the one that it became by a name.

    Raises InputError for a run that did not keep them, as older versions did not.
    """
    before, after = run.path / _FOLDER / system_file_name(_BASELINE), run.path / _FOLDER / system_file_name(name)
    for path in (before, after):
        if not path.is_file():
            raise InputError(
                f"{path}: not there: the run was made by a version of bootlab that did not keep it",
                hint=f"{run.resumed_by('SYSTEM')} reads its boots again, and writes it",
            )
    return read_system(before), read_system(after)


def system_file_name(name: str) -> str:
    """Return the file that a system is kept in."""
    return f"{name.replace(' ', '-')}.toml"
