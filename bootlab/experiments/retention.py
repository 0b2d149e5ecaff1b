"""What of a store of runs is kept, and what may go: old runs that newer ones of the same kind and system stand in for.

Kept are young runs, the newest of each system and kind, and every run that some bootlab works on now. Of a run that is
kept, boots that were moved aside go: they did not end, or count no more.
"""

import fcntl
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.errors import StoreError
from bootlab.experiments.store import UNKNOWN, Listed, Store
from bootlab.targets.target import UNFINISHED

SCHEMA: Final = "bootlab.runs-gc/1"
_ASIDE: Final = ".removing-"


class Removable(Document):
    """A folder that may go. `why`: for a reader; `bytes`: what it holds, each file counted once."""

    path: str
    bytes: int
    why: str


class Retention(Document):
    """What of a store goes, what stays, and how much each holds."""

    schema_: Literal["bootlab.runs-gc/1"] = Field(default=SCHEMA, alias="schema")
    older_than_days: int
    keep: int
    removed: bool
    """Whether it is gone; else it is what would go."""
    removable: list[Removable]
    kept_runs: int
    kept_bytes: int
    at_work: list[str]
    """Runs that some bootlab works on now: nothing of them goes."""
    undated: list[str]
    """Runs that do not say when they were started: they stay."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """What stays: runs younger than so many days, and so many of each system and kind."""

    days: int
    newest: int


def find_removable(store: Store, keeping: Keeping, now: datetime) -> Retention:
    """Return what may go of a store; nothing is touched. Raises StoreError."""
    removable, at_work, undated = list[Removable](), list[str](), list[str]()
    kept_runs = kept_bytes = 0
    newer = Counter[tuple[str, str]]()
    for run in reversed(store.runs()):
        if run.path.name.startswith(_ASIDE):
            removable.append(Removable(path=str(run.path), bytes=_bytes_of(run.path), why="half removed before"))
            continue
        newer[run.kind, run.system] += 1
        started = _started(run)
        if started is None or run.kind == UNKNOWN:
            undated.append(str(run.path))
        size = _bytes_of(run.path)
        old = started is not None and run.kind != UNKNOWN and now - started > timedelta(days=keeping.days)
        with _nobody_at_work(run.path) as free:
            if not free:
                at_work.append(str(run.path))
            elif old and not run.path.is_symlink() and newer[run.kind, run.system] > keeping.newest:
                state = "finished" if run.finished else "not finished"
                why = f"{state}, of {run.started[:10]}; {keeping.newest} newer of {run.kind} {run.system} stay"
                removable.append(Removable(path=str(run.path), bytes=size, why=why))
                continue
            else:
                aside = [Removable(path=str(one), bytes=_bytes_of(one), why="moved aside") for one in _aside(run.path)]
                removable += aside
                size -= sum(one.bytes for one in aside)
        kept_runs += 1
        kept_bytes += size
    return Retention(
        older_than_days=keeping.days,
        keep=keeping.newest,
        removed=False,
        removable=sorted(removable, key=lambda one: one.path),
        kept_runs=kept_runs,
        kept_bytes=kept_bytes,
        at_work=sorted(at_work),
        undated=sorted(undated),
    )


def remove(found: Retention) -> Retention:
    """Remove what `find_removable` found, and return it as removed. A run is gone from the list before its files are.

    One that a bootlab has begun to work on meanwhile stays. Raises StoreError.
    """
    gone = []
    for one in found.removable:
        path = Path(one.path)
        run = path if path.parent.name != "boots" else path.parents[1]
        with _nobody_at_work(run) as free:
            if not free:
                continue
            aside = path.with_name(f"{_ASIDE}{path.name.removeprefix(_ASIDE)}")
            try:
                path.rename(aside)
                shutil.rmtree(aside)
            except FileNotFoundError:
                # Somebody else was faster.
                continue
            except OSError as error:
                raise StoreError(
                    f"{path}: cannot be removed: {error.strerror or error}",
                    hint="what was removed before it is gone; the rest is as it was",
                ) from error
        gone.append(one)
    return found.model_copy(update={"removed": True, "removable": gone})


def _started(run: Listed) -> datetime | None:
    try:
        started = datetime.fromisoformat(run.started)
    except ValueError:
        return None
    return started if started.tzinfo is not None else started.replace(tzinfo=UTC)


def _aside(run: Path) -> list[Path]:
    try:
        return sorted(path for path in (run / "boots").iterdir() if UNFINISHED in path.name and not path.is_symlink())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StoreError(f"{run}: cannot be read: {error.strerror or error}") from error


@contextmanager
def _nobody_at_work(run: Path) -> Iterator[bool]:
    # As `Run.locked`, but nothing is made: a run without the file was never worked on by a bootlab that locks.
    try:
        descriptor = os.open(run / "lock", os.O_RDONLY)
    except OSError:
        yield True
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _bytes_of(folder: Path) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_size
            except FileNotFoundError:
                continue
    return total
