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
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from bootlab.errors import InputError, StoreError
from bootlab.measure.record_files import store_error, write_json

INDEX = "index.jsonl"
UNFINISHED = ".unfinished-"
_RESULT = "result.json"
_AUDIT = "audit.json"


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


_RESUMED_BY: Final = {
    RunKind.TRY: "bootlab try",
    RunKind.SWEEP: "bootlab sweep",
    RunKind.STUDY: "bootlab study compression",
    RunKind.TAILOR: "bootlab tailor",
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
    """The system file as it was given. Empty for a kind of run that does not say it, and in older ones."""

    @property
    def result(self) -> Path:
        return self.path / _RESULT

    @property
    def audit(self) -> Path:
        """Return where the findings of an audit are: of a run of that kind, or of a profile that was audited later."""
        return self.path / _AUDIT

    def resumed_by(self, system: object) -> str | None:
        """Return the command that goes on with this run of a system file; None for a kind that cannot go on."""
        verb = _RESUMED_BY.get(self.kind)
        return f"{verb} {system} --resume {self.path}" if verb is not None else None

    def result_text(self) -> str:
        """Return the JSON of the result, its paths into this run as they are now: a run can be moved.

        Raises OSError.
        """
        here = json.dumps(str(self.path))[1:-1]
        inside = re.compile(rf'"(?:[^"\\]*/)?{re.escape(self.path.name)}(?=/boots/|")')
        return inside.sub(lambda match: f'"{here}', self.result.read_text(encoding="utf-8"))

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
        """Return the directories of the finished boots, in the order of their labels, without those moved aside."""
        found = sorted(path.parent for path in self.path.glob("boots/*/record.json"))
        return [path for path in found if UNFINISHED not in path.name]

    def boot_directory(self, label: str) -> Path:
        """Return the directory of the boot `label`, made new and empty. An unfinished earlier one is moved aside."""
        path = self.path / "boots" / label
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
    """As it was recorded: a `RunKind`, or that of another version of bootlab."""
    system: str
    started: str

    @property
    def finished(self) -> bool:
        return (self.path / _RESULT).exists()


class Store:
    """All runs below one directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def start(self, kind: RunKind, system: str, asked: dict[str, Any], *, file: str = "") -> Run:
        """Make the directory of a new run and enter it in the index. Raises StoreError."""
        started = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            path = self._claim(f"{system}-{kind}")
            said = {"kind": kind, "system": system, "started": started, "asked": asked}
            write_json(path / "run.json", {**said, "file": file} if file else said)
            line = json.dumps({"run": path.name, "kind": kind, "system": system, "started": started})
            # One write of one short line to an O_APPEND file is whole even when two runs start at once.
            descriptor = os.open(self.root / INDEX, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                os.write(descriptor, line.encode() + b"\n")
            finally:
                os.close(descriptor)
        except OSError as error:
            raise store_error(self.root, error) from error
        return Run(path, kind, system, started, asked, file)

    def runs(self) -> list[Listed]:
        """Return every run in the index, oldest first; a run whose directory was removed by hand is left out."""
        try:
            lines = (self.root / INDEX).read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"{self.root / INDEX}: {error.strerror or error}") from error
        found = []
        for line in lines:
            try:
                entry = json.loads(line)
                run = Listed(self.root / entry["run"], entry["kind"], entry["system"], entry["started"])
            except (ValueError, KeyError, TypeError):
                # A line cut short by a full disk: its run's directory is still there to be named by path.
                continue
            if run.path.is_dir():
                found.append(run)
        return found

    def find(self, name: str) -> Run:
        """Return the run that `name` means: a path, a directory name, a number, or `last`. Raises InputError."""
        path = Path(name)
        # A name too long for a path is no path.
        with suppress(OSError):
            if (path / "run.json").is_file():
                return read_run(path)
        runs = self.runs()
        if name == "last" and runs:
            return read_run(runs[-1].path)
        if re.fullmatch(r"\d+", name):
            runs = [run for run in runs if run.path.name.split("-")[0].lstrip("0") == name.lstrip("0")]
        else:
            runs = [run for run in runs if run.path.name == name]
        if not runs:
            raise InputError(
                f"{name}: no such run in {self.root}", hint="bootlab report --list shows the runs there are"
            )
        return read_run(runs[-1].path)

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


def read_run(path: Path) -> Run:
    """Return the run kept at `path`. Raises StoreError for a damaged one, and for a kind that is not known here."""
    try:
        document = json.loads((path / "run.json").read_text(encoding="utf-8"))
        kind, asked = document["kind"], document["asked"]
        if kind not in list(RunKind):
            raise StoreError(f"{path}: a run of kind {kind!r}, which this bootlab does not know")
        if kind == RunKind.PROFILE and asked.get("paths") and (path / _AUDIT).is_file():
            # Older versions recorded an audit as a profile, and asked for every path of no other.
            kind = RunKind.AUDIT
        file = str(document.get("file", ""))
        return Run(path, RunKind(kind), document["system"], document["started"], asked, file)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path / 'run.json'}: damaged: {error}") from error
