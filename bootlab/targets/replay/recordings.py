"""Boots on record in a folder, each in its own directory as `measure.boot` left it: what a replay needs of them.

A replay is as good as what it replays: a recording that is not whole is refused, by what its own record says of it.
"""

import errno
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from bootlab.errors import InputError
from bootlab.kept_file import UNREADABLE, is_kept, read_kept_bytes, read_kept_json, why_damaged
from bootlab.profile.recorded.trace import PluginTrace, parse_trace
from bootlab.system import System
from bootlab.targets.boot_key import boot_key
from bootlab.targets.replay.script import SCRIPT, ReplayedEnd
from bootlab.targets.target import TRACE, UNFINISHED, WARM_UP
from bootlab.timeline import marks as m

KERNEL_CONFIG: Final = "kernel.config"
"""The configuration of the kernel that booted, where somebody put it beside the recordings."""
READY: Final = "ready"
CONSOLE: Final = "console.log"
CONFIG: Final = "plugin.conf"
_RECORD = "record.json"
OF_EVERY_BOOT: Final = (_RECORD, CONSOLE, CONFIG, TRACE, "qemu.stderr")
"""Files of a plain boot; what else is in its directory, a profile left there."""
# The first line of what a profile adds to the plugin's config; the rest of a boot's config is part of its key.
_PROFILED = "\nfunctions "
_OUTCOMES = (READY, *(end.value for end in ReplayedEnd if end is not ReplayedEnd.INTERRUPTED))
_HINT = "record it again, or leave its directory out of target.boots"


class _Initcall(BaseModel):
    name: str


class _Record(BaseModel):
    """The part of a boot's record (docs/formats.md) that tells how to answer for it."""

    model_config = ConfigDict(frozen=True, strict=True)

    schema_: Literal["bootlab.boot/1"] = Field(alias="schema")
    key: str
    seed: int
    clock: str
    outcome: str
    detail: str
    marks: dict[str, int]
    initcalls: list[_Initcall]
    console_sha256: str
    hashes: dict[str, str]
    sizes: dict[str, int] = {}

    @field_validator("outcome")
    @classmethod
    def _can_be_replayed(cls, value: str) -> str:
        if value not in _OUTCOMES:
            raise ValueError(f"{value!r} is none of {', '.join(_OUTCOMES)}")
        return value

    @field_validator("marks")
    @classmethod
    def _after_power_on(cls, value: dict[str, int]) -> dict[str, int]:
        for name, t_ns in value.items():
            if t_ns < 0:
                raise ValueError(f"{name}: {t_ns} ns is before power-on")
        return value


@dataclass(frozen=True, slots=True, eq=False)
class RecordedBoot:
    """One boot on record. `trace` is None where nothing traced it, as on the wall clock."""

    directory: Path
    record: _Record
    console: bytes
    trace: str | None
    plugin_config: str | None
    initcalls: Mapping[int, str]
    """Link address of an initcall's function -> its name."""

    def name_at(self, address: int) -> str | None:
        """Return the initcall at a link address, as the record names it."""
        return self.initcalls.get(address)


def find_recordings(folder: Path) -> Mapping[str, RecordedBoot]:
    """Return the finished boots in `folder` by their directories' names, without warm-ups and those moved aside.

    Raises InputError for none, or damage.
    """
    try:
        directories = sorted(path for path in folder.iterdir() if _is_finished(path))
    except OSError as error:
        raise InputError(f"target.boots: {folder}: {why_damaged(error)}", hint="name a folder that is yours") from error
    if not directories:
        raise InputError(f"{folder}: no boots on record there", hint="target.boots is the folder `boots` of a run")
    return {path.name: _read(path, _changed(path)) for path in directories}


def recorded_key(system: System, seed: int, recording: RecordedBoot) -> str:
    """Return the key that `system` had, with that seed, if it was booted from the same files as `recording`."""
    # Where it boots now is not where it was recorded.
    there = system.model_copy(update={"target": None, "seed": seed})
    return boot_key(there, recording.record.hashes, recording.plugin_config)


def _is_finished(directory: Path) -> bool:
    if UNFINISHED in directory.name or directory.name.endswith(WARM_UP) or directory.name in (SCRIPT, KERNEL_CONFIG):
        return False
    return is_kept(directory / _RECORD)


def _changed(directory: Path) -> tuple[tuple[int, int], ...]:
    found = []
    for name in (_RECORD, CONSOLE, TRACE, CONFIG):
        try:
            at = (directory / name).stat()
            found.append((at.st_mtime_ns, at.st_size))
        except OSError:
            found.append((0, 0))
    return tuple(found)


@lru_cache(maxsize=4096)
def _read(directory: Path, changed: tuple[tuple[int, int], ...]) -> RecordedBoot:
    path = directory / _RECORD
    try:
        record = _Record.model_validate_json(read_kept_json(path))
        path = directory / CONSOLE
        console = read_kept_bytes(path)
        path = directory / TRACE
        trace = _text(path)
        path = directory / CONFIG
        config = _text(path)
        if config is None and record.outcome == READY and record.clock == "virtual":
            raise FileNotFoundError(errno.ENOENT, "there is none, and the boot had one")
    except UNREADABLE as error:
        raise InputError(f"{path}: cannot be replayed: {why_damaged(error)}", hint=_HINT) from error
    if config is not None and _PROFILED in config:
        config = config[: config.index(_PROFILED) + 1]
    if trace is not None:
        # What a killed QEMU had no time to finish is no record.
        trace = trace[: trace.rfind("\n") + 1]
    parsed = parse_trace(trace or "", str(directory / TRACE))
    _expect_whole(directory, record, console, parsed)
    names = {call.argument: one.name for call, one in zip(parsed.calls, record.initcalls, strict=False)}
    return RecordedBoot(directory, record, console, trace, config, names)


def _text(path: Path) -> str | None:
    try:
        path.lstat()
    except FileNotFoundError:
        return None
    return read_kept_bytes(path).decode("ascii")


def _expect_whole(directory: Path, record: _Record, console: bytes, trace: PluginTrace) -> None:
    """Raise InputError unless console and trace are those that the record was written from, all that it needs."""
    if record.outcome == READY and m.READY not in record.marks:
        raise InputError(f"{directory / _RECORD}: marks.ready: missing, of a boot that was ready", hint=_HINT)
    if not _begins_with(console, record.console_sha256):
        raise InputError(
            f"{directory / CONSOLE}: cannot be replayed: it is not the console of record.json: cut, or another boot's",
            hint=_HINT,
        )
    if record.clock != "virtual":
        return
    seen = {name: stamp.t_ns for name, stamp in (trace.guest_marks | trace.marks).items()}
    sent = {stamp.t_ns for stamp, _ in trace.console} | set(seen.values())
    for name, t_ns in record.marks.items():
        if t_ns not in sent if name == m.READY else name != m.POWER_ON and seen.get(name) != t_ns:
            raise InputError(
                f"{directory / TRACE}: cannot be replayed: it lacks the mark {name} at {t_ns} ns, which record.json "
                "has: cut, or another boot's",
                hint=_HINT,
            )


def _begins_with(console: bytes, digest: str) -> bool:
    """Return whether some beginning of the console has this sha256: up to the line that says ready, or a prompt."""
    ends = {0, len(console), *(at + 1 for at, byte in enumerate(console) if byte == ord("\n"))}
    # A prompt ends anywhere in its line; to look there is slow, and seldom needed.
    return _has_prefix(console, sorted(ends), digest) or _has_prefix(console, range(len(console) + 1), digest)


def _has_prefix(console: bytes, ends: "list[int] | range", digest: str) -> bool:
    taken, so_far = 0, hashlib.sha256()
    for end in ends:
        so_far.update(console[taken:end])
        taken = end
        if so_far.hexdigest() == digest:
            return True
    return False
