"""Going on with an interrupted run: the same question, its finished boots kept."""

import hashlib
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from bootlab.errors import InputError
from bootlab.experiments.store import Run, Store
from bootlab.system import System

Asked = TypeVar("Asked", bound=BaseModel)


def digest(*systems: System) -> str:
    """Return the sha256 of systems as values: whether a system file has changed since."""
    return hashlib.sha256("\n".join(one.model_dump_json() for one in systems).encode()).hexdigest()


def find_resumed(store: Store, name: str, kind: str, system: str, form: type[Asked], options: list[object]) -> Run:
    """Return the run called `name` that shall go on. `options`: those that only a new run may have, None if not given.

    Raises InputError for another kind of run, of another system, or with such options.
    """
    run = store.find(name)
    if run.kind != kind or run.system != system:
        raise InputError(f"--resume {name}: that run is a {run.kind} of {run.system}, not a {kind} of {system}")
    if any(option is not None for option in options):
        raise InputError(f"--resume {name}: goes on with what was asked then; give the system and --resume only")
    asked_of(run, form)
    return run


def asked_of(run: Run, form: type[Asked]) -> Asked:
    """Return what a run was asked. Raises InputError when it does not say so."""
    try:
        return form.model_validate(run.asked)
    except ValidationError as error:
        raise InputError(f"--resume {run.path.name}: that run does not say what was asked of it") from error
