"""Boots on record in a folder, each in its own directory as `measure.boot` left it: what a replay needs of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from bootlab.errors import InputError
from bootlab.profile.recorded.trace import parse_trace
from bootlab.system import System
from bootlab.targets.target import TRACE, boot_key

KERNEL_CONFIG: Final = "kernel.config"
"""The configuration of the kernel that booted, where somebody put it beside the recordings."""
_RECORD, _CONSOLE, _CONFIG = "record.json", "console.log", "plugin.conf"
OF_EVERY_BOOT: Final = (_RECORD, _CONSOLE, _CONFIG, TRACE, "qemu.stderr")
"""Files of a plain boot; what else is in its directory, a profile left there."""
# The first line of what a profile adds to the plugin's config; the rest of a boot's config is part of its key.
_PROFILED = "\nfunctions "


class _Initcall(BaseModel):
    name: str


class _Record(BaseModel):
    """The part of a boot's record (docs/formats.md) that tells how to answer for it."""

    model_config = ConfigDict(frozen=True)

    key: str
    seed: int
    outcome: str
    detail: str
    marks: dict[str, int]
    initcalls: list[_Initcall]
    hashes: dict[str, str]
    sizes: dict[str, int] = {}


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
    """Return the finished boots in `folder` by their directories' names. Raises InputError for none, or damage."""
    paths = sorted(folder.glob(f"*/{_RECORD}"))
    if not paths:
        raise InputError(f"{folder}: no boots on record there", hint="target.boots is the folder `boots` of a run")
    return {path.parent.name: _read(path.parent, path.stat().st_mtime_ns) for path in paths}


def recorded_key(system: System, seed: int, recording: RecordedBoot) -> str:
    """Return the key that `system` had, with that seed, if it was booted from the same files as `recording`."""
    # Where it boots now is not where it was recorded.
    there = system.model_copy(update={"target": None, "seed": seed})
    return boot_key(there, recording.record.hashes, recording.plugin_config)


@lru_cache(maxsize=4096)
def _read(directory: Path, changed_ns: int) -> RecordedBoot:
    try:
        record = _Record.model_validate_json((directory / _RECORD).read_text(encoding="utf-8"))
        console = (directory / _CONSOLE).read_bytes()
        trace, config = _text(directory / TRACE), _text(directory / _CONFIG)
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise InputError(f"{directory}: cannot be replayed: {str(error).splitlines()[0]}") from error
    if config is not None and _PROFILED in config:
        config = config[: config.index(_PROFILED) + 1]
    calls = parse_trace(trace or "", str(directory / TRACE)).calls
    names = {call.argument: one.name for call, one in zip(calls, record.initcalls, strict=False)}
    return RecordedBoot(directory, record, console, trace, config, names)


def _text(path: Path) -> str | None:
    return path.read_text(encoding="ascii") if path.is_file() else None
