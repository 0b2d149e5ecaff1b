"""The result that a run has on record, read back as the value it was written from."""

from typing import TypeVar

from pydantic import BaseModel

from bootlab.errors import InputError
from bootlab.experiments.store import Run
from bootlab.kept_file import UNREADABLE, damaged, parse_kept

ResultT = TypeVar("ResultT", bound=BaseModel)


def read_result(run: Run, form: type[ResultT]) -> ResultT:
    """Return the result of a run, its paths into the run as they are now.

    Raises InputError for a run that was interrupted, StoreError for a result that is damaged.
    """
    try:
        # Not as JSON: a guest's file names may hold bytes that are no text, which pydantic's own reader refuses.
        return form.model_validate(parse_kept(run.result_text()), strict=False)
    except FileNotFoundError as error:
        raise interrupted(run) from error
    except UNREADABLE as error:
        raise damaged(run.result, error) from error


def interrupted(run: Run) -> InputError:
    """Return the error for a run without a result, with what goes on with it."""
    again = run.resumed_by(run.file or "SYSTEM")
    return InputError(
        f"{run.path}: this run was interrupted and has no result yet",
        hint=f"go on with: {again}" if again is not None else None,
    )
