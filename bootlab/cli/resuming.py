"""Runs that go on where they were interrupted: the same question, its finished boots kept, and how to say so."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from bootlab.errors import InputError, Interrupted, StoreError, is_interruption
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.system import System

AskedT = TypeVar("AskedT", bound=BaseModel)
Resume = Annotated[
    str | None,
    typer.Option("--resume", metavar="RUN", help="Go on with an interrupted run: its path, number, or last."),
]


def digest(*systems: System) -> str:
    """Return the sha256 of systems as values: whether a system file has changed since."""
    return hashlib.sha256("\n".join(one.model_dump_json() for one in systems).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Question(Generic[AskedT]):
    """What a run is to answer: asked by this call, or by the one that began the run that goes on."""

    kind: RunKind
    system: str
    """The system's name."""
    asked: AskedT
    resumed: Run | None
    """The run that goes on; None when a new one begins."""

    def expect_unchanged(self, then: str, now: str) -> None:
        """Raise InputError when the run goes on, and the digest of its systems is another now than it was then."""
        if self.resumed is not None and then != now:
            raise InputError(
                f"--resume {self.resumed.path}: the system file has changed since that run began",
                hint="start anew, without --resume",
            )

    def begin(self, store: Store, asked: AskedT, *, file: str = "") -> Run:
        """Return the run that goes on, or a new one that keeps what is `asked` of it. Raises StoreError."""
        return self.resumed or store.start(self.kind, self.system, asked.model_dump(), file=file)


def settle(
    store: Store, resume: str | None, kind: RunKind, system: str, asked: AskedT, options: Sequence[object]
) -> Question[AskedT]:
    """Return what is asked now or, with `resume`, what was asked of the run of that name.

    `options`: those that only a new run may have, None if not given. Raises InputError for such options beside a
    resumed run, for a run of another kind or system, and for one that does not say what was asked.
    """
    if resume is None:
        return Question(kind, system, asked, None)
    run = store.find(resume)
    if run.kind is not kind or run.system != system:
        raise InputError(f"--resume {resume}: that run is a {run.kind} of {run.system}, not a {kind} of {system}")
    if any(option is not None for option in options):
        raise InputError(f"--resume {resume}: goes on with what was asked then; give the system and --resume only")
    try:
        return Question(kind, system, type(asked).model_validate(run.asked), run)
    except ValidationError as error:
        raise InputError(f"--resume {resume}: that run does not say what was asked of it") from error


@contextmanager
def kept(run: Run, system: object) -> Iterator[None]:
    """Keep every other bootlab out of a run, and say how to go on when it is interrupted or cannot be written.

    Raises InputError when another works on it.
    """
    go_on = f"go on with: {run.resumed_by(system)}"
    with run.locked():
        try:
            yield
        except (Interrupted, KeyboardInterrupt, ValueError) as stop:
            if not is_interruption(stop):
                raise
            raise Interrupted(
                f"interrupted; finished boots and built kernels are kept, in {run.path} and the cache", hint=go_on
            ) from stop
        except StoreError as error:
            # A full disk loses the step it interrupts, and nothing before it.
            raise StoreError(
                error.message, hint=f"{error.hint}; then {go_on}" if error.hint else f"then {go_on}"
            ) from error
