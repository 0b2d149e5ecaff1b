"""Where runs are kept: one directory a run, one directory a boot in it, an index that finds them again.

    bootlab-runs/
      index.jsonl                        one line a run, appended when the run starts
      0007-debian-cloud-try/
        run.json                         what was asked: kind, system, options
        boots/baseline-s1/record.json    every finished boot (see measure/boot.py)
        result.json                      written when the run ends
        report.html

Nothing is ever changed or removed: a killed run leaves what it finished, and can be resumed.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from bootlab.errors import InputError, StoreError
from bootlab.kept_file import UNREADABLE, damaged, is_kept, parse_kept, read_kept, read_kept_bytes
from bootlab.measure.record_files import store_error, write_json
from bootlab.targets.target import UNFINISHED

INDEX = "index.jsonl"
UNKNOWN: Final = "unknown"
"""The kind of a run in a list where neither the index nor its own directory says it."""
_ABOUT = "run.json"
_RESULT = "result.json"
_AUDIT = "audit.json"


class _Entry(BaseModel):
    """A line of the index."""

    model_config = ConfigDict(strict=True)
    run: Annotated[str, Field(pattern=r"^[^/\x00]+$")]
    kind: str
    system: str
    started: str


class _About(BaseModel):
    """What run.json says. Older ones lack the file."""

    model_config = ConfigDict(strict=True)
    kind: str
    system: str
    started: str
    asked: dict[str, Any]
    file: str = ""


class RunKind(StrEnum):
    """What a run was started for. Each is a word in run.json; `bootlab.report.kinds` reads and shows each."""

    BOOT = "boot"
    MEASURE = "measure"
    TRY = "try"
    COMPARE = "compare"
    PROFILE = "profile"
    AUDIT = "audit"
    IMPORT = "import"
    SWEEP = "sweep"
    STUDY = "study"
    TAILOR = "tailor"
    UNUSED = "unused"
    COLDPLUG = "coldplug"
    GATE = "gate"
    BISECT = "bisect"
    SNAPSHOT = "snapshot"
    CLONES = "clones"
    STORM = "storm"
    LIVES = "lives"
    PACKAGES = "packages"


_RESUMED_BY: Final = {
    RunKind.TRY: "bootlab try",
    RunKind.SWEEP: "bootlab sweep",
    RunKind.STUDY: "bootlab study compression",
    RunKind.TAILOR: "bootlab tailor",
    RunKind.BISECT: "bootlab bisect",
    RunKind.COMPARE: "bootlab compare",
}
"""The kinds that go on where they were interrupted, and the verb whose --resume does it."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run's directory and what was asked of it."""

    path: Path
    kind: RunKind
    system: str
    started: str
    asked: dict[str, Any] = field(default_factory=dict)
    """The options it was started with."""
    file: str = ""
    """The system file as it was given, of a comparison its sides. Empty for a kind of run that does not say it."""

    @property
    def result(self) -> Path:
        return self.path / _RESULT

    @property
    def audit(self) -> Path:
        """Return where the findings of an audit are: of a run of that kind, or of a profile that was audited later."""
        return self.path / _AUDIT

    def keep_asked(self, asked: dict[str, Any]) -> None:
        """Keep what a run that goes on is asked now, for whoever goes on with it again. Raises StoreError."""
        if asked != self.asked:
            _write_about(replace(self, asked=asked))

    def resumed_by(self, system: object) -> str | None:
        """Return the command that goes on with this run of a system file; None for one that cannot go on."""
        verb = _RESUMED_BY.get(self.kind)
        if self.kind is RunKind.COMPARE and self.asked.get("clock") != "virtual":
            return None  # its sides take turns, from the first boot to the last
        return f"{verb} {system} --resume {self.path}" if verb is not None else None

    def result_text(self) -> str:
        """Return the JSON of the result, its paths into this run as they are now: a run can be moved.

        Raises OSError.
        """
        here = json.dumps(str(self.path))[1:-1]
        inside = re.compile(rf'"(?:[^"\\]*/)?{re.escape(self.path.name)}(?=/boots/|")')
        return inside.sub(lambda match: f'"{here}', read_kept(self.result))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other bootlab out of this run. Raises InputError when one works on it now."""
        try:
            descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise store_error(self.path, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise InputError(
                f"{self.path}: another bootlab works on this run", hint="wait for it, or end it"
            ) from error
        try:
            yield
        finally:
            os.close(descriptor)

    def records(self) -> list[Path]:
        """Return the directories of the finished boots, in the order of their labels, without those moved aside.

        One whose record cannot be read is among them: whoever reads it is told. Raises StoreError.
        """
        boots = self.path / "boots"
        try:
            there = [path for path in boots.iterdir() if UNFINISHED not in path.name]
            return sorted(path for path in there if is_kept(path / "record.json"))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise damaged(boots, error) from error

    def boot_directory(self, label: str) -> Path:
        """Return the directory of the boot `label`, made new and empty. An unfinished earlier one is moved aside."""
        path = self.path / "boots" / label
        _expect_text(path)
        try:
            if path.exists():
                aside = next(
                    n for n in (path.with_name(f"{label}{UNFINISHED}{i}") for i in range(1, 10000)) if not n.exists()
                )
                path.rename(aside)
            path.mkdir(parents=True)
        except OSError as error:
            raise store_error(path, error) from error
        return path


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of the index: what can be said of a run without opening it."""

    path: Path
    kind: str
    """As it was recorded: a `RunKind`, that of another version of bootlab, or `UNKNOWN`."""
    system: str
    started: str

    @property
    def finished(self) -> bool:
        return os.path.exists(self.path / _RESULT)

    @property
    def number(self) -> int:
        """Return the number that its directory begins with; 0 for none."""
        found = re.match(r"[0-9]{1,18}(?=-)", self.path.name)
        return int(found[0]) if found is not None else 0


class Store:
    """All runs below one directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def start(self, kind: RunKind, system: str, asked: dict[str, Any], *, file: str = "") -> Run:
        """Make the directory of a new run and enter it in the index. Raises StoreError."""
        started = datetime.now(UTC).isoformat(timespec="seconds")
        _expect_text(self.root)
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            path = self._claim(f"{system}-{kind}")
            run = Run(path, kind, system, started, asked, file)
            _write_about(run)
            line = json.dumps({"run": path.name, "kind": kind, "system": system, "started": started})
            # One write of one short line to an O_APPEND file is whole even when two runs start at once.
            descriptor = os.open(self.root / INDEX, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                os.write(descriptor, line.encode() + b"\n")
            finally:
                os.close(descriptor)
        except OSError as error:
            raise store_error(self.root, error) from error
        return run

    def runs(self) -> list[Listed]:
        """Return every run there is, oldest first: as the index has it, or its own directory where that says nothing.

        A run whose directory was removed by hand is left out. Raises StoreError.
        """
        try:
            names = [path.name for path in self.root.iterdir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise damaged(self.root, error) from error
        lines: list[bytes] = []
        # Without it the runs are found as well, by their directories.
        with suppress(OSError):
            lines = read_kept_bytes(self.root / INDEX).splitlines()
        there = {name for name in names if os.path.isdir(self.root / name)}
        entries = (self._entry(line) for line in lines)
        found = {run.path.name: run for run in entries if run is not None and run.path.name in there}
        # A full disk may have cut the index, or somebody lost it; what it was to find is still there.
        unlisted = [self.root / name for name in there - found.keys() if os.path.lexists(self.root / name / _ABOUT)]
        return sorted([*found.values(), *map(_listed, unlisted)], key=lambda run: (run.number, run.path.name))

    def _entry(self, line: bytes) -> Listed | None:
        try:
            entry = _Entry.model_validate_json(line)
        except ValueError:
            return None
        return Listed(self.root / entry.run, entry.kind, entry.system, entry.started)

    def find(self, name: str) -> Run:
        """Return the run that `name` means: a path, a directory name, a number, or `last`. Raises InputError."""
        path = Path(name)
        # A name too long for a path is no path.
        with suppress(OSError):
            if (path / _ABOUT).is_file():
                return read_run(path)
        runs = self.runs()
        if name == "last" and runs:
            return read_run(runs[-1].path)
        if re.fullmatch(r"\d+", name):
            runs = [run for run in runs if str(run.number) == name.lstrip("0")]
        else:
            runs = [run for run in runs if run.path.name == name]
        if not runs:
            raise InputError(
                f"{name}: no such run in {self.root}", hint="bootlab report --list shows the runs there are"
            )
        if len(runs) > 1:
            raise InputError(
                f"{name}: {len(runs)} runs have this number: {', '.join(run.path.name for run in runs)}",
                hint="name one by its directory",
            )
        return read_run(runs[0].path)

    def _claim(self, name: str) -> Path:
        taken = [int(found.group()) for path in self.root.iterdir() if (found := re.match(r"\d+", path.name))]
        number = max(taken, default=0)
        while True:
            number += 1
            path = self.root / f"{number:04d}-{name}"
            try:
                path.mkdir()
            except FileExistsError:
                continue
            return path


def is_run(path: Path) -> bool:
    """Return whether a path is the folder of a run, of whatever kind."""
    # A name too long for a path is no path.
    return os.path.isfile(path / _ABOUT)


def read_run(path: Path) -> Run:
    """Return the run kept at `path`. Raises StoreError for a damaged one, and for a kind that is not known here."""
    try:
        said = _About.model_validate(parse_kept(read_kept(path / _ABOUT)))
    except UNREADABLE as error:
        raise damaged(path / _ABOUT, error) from error
    kind = said.kind
    if kind not in list(RunKind):
        raise StoreError(
            f"{path}: a run of kind {kind!r}, which this bootlab does not know",
            hint="show it by the version of bootlab that made it",
        )
    if kind == RunKind.PROFILE and said.asked.get("paths") and os.path.isfile(path / _AUDIT):
        # Older versions recorded an audit as a profile, and asked for every path of no other.
        kind = RunKind.AUDIT
    return Run(path, RunKind(kind), said.system, said.started, said.asked, said.file)


def _expect_text(path: Path) -> None:
    # A record says where it is, and its JSON holds text only: better told before a boot than after it.
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{ascii(str(path))[1:-1]}: the name of a folder there is not UTF-8, so no record can name it",
            hint="put runs elsewhere with --runs DIR",
        ) from error


def _listed(path: Path) -> Listed:
    try:
        run = read_run(path)
    except StoreError:
        return Listed(path, UNKNOWN, "", "")
    return Listed(path, run.kind, run.system, run.started)


def _write_about(run: Run) -> None:
    said = {"kind": run.kind, "system": run.system, "started": run.started, "asked": run.asked}
    write_json(run.path / _ABOUT, {**said, "file": run.file} if run.file else said)
