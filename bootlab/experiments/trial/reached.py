"""The systems that the stacks of a trial ended in, kept with it as system files: to boot them, and to build them.

0007-debian-cloud-try/systems/baseline.toml, recommended.toml, with-risks.toml
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bootlab.errors import InputError
from bootlab.experiments.store import Run
from bootlab.experiments.trial.result import StackName, TryResult
from bootlab.measure.record_files import store_error
from bootlab.system import System, read_system
from bootlab.system.text import system_text

_FOLDER: Final = "systems"
_BASELINE: Final = "baseline"


def keep_systems(run: Path, baseline: System, reached: Mapping[StackName, System]) -> None:
    """Write what was tried on, and what each stack made of it. Raises StoreError."""
    folder = run / _FOLDER
    try:
        folder.mkdir(exist_ok=True)
        for name, system in [(_BASELINE, baseline), *reached.items()]:
            (folder / _file_name(name)).write_text(system_text(system), encoding="utf-8")
    except OSError as error:
        raise store_error(folder, error) from error


def choose_stack(result: TryResult, asked: str | None) -> StackName:
    """Return the stack of a trial that is asked for; without a word the recommended one, or a plan's ladder.

    Raises InputError for one that the trial does not have, and for one that holds nothing.
    """
    there = [name for name in StackName if name in result.final]
    if not there:
        raise InputError(f"{result.run}: this trial stacked nothing (--no-stack)", hint="bootlab try, with --stack")
    chosen = next((name for name in there if asked in (None, name, _file_name(name).removesuffix(".toml"))), None)
    if chosen is None:
        raise InputError(f"--stack {asked}: this trial has no such stack", hint=f"it has: {', '.join(there)}")
    if not result.final[chosen].techniques:
        others = [name for name in there if result.final[name].techniques]
        hint = f"--stack {others[0].value!r} holds some" if others else "bootlab report shows what was tried"
        raise InputError(f"{result.run}: no technique stayed on the stack {chosen.value!r}", hint=hint)
    return chosen


def read_reached(run: Run, stack: StackName) -> tuple[System, System]:
    """Return the system that was tried on, and the one that a stack made of it.

    Raises InputError for a trial that did not keep them, as older versions did not.
    """
    before, after = run.path / _FOLDER / _file_name(_BASELINE), run.path / _FOLDER / _file_name(stack)
    for path in (before, after):
        if not path.is_file():
            raise InputError(
                f"{path}: not there: the trial was made by a version of bootlab that did not keep it",
                hint=f"{run.resumed_by('SYSTEM')} reads its boots again, and writes it",
            )
    return read_system(before), read_system(after)


def _file_name(name: str) -> str:
    return f"{name.replace(' ', '-')}.toml"
