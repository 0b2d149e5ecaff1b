"""Boots on record as a target: nothing is fetched, built or run, and everything else is as with a machine.

Without a script a system is answered for by the boots of that very system, found by their keys. With one, any system
is: each boot is made of a recorded one, so what a trial does about it can be seen in milliseconds.
"""

import asyncio
import hashlib
import shutil
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.source.make import BuildFailed
from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed, InputError
from bootlab.profile.recorded.about import PROFILE
from bootlab.profile.recorded.compressed import find_kept
from bootlab.system import Replay, System
from bootlab.targets.replay.playing import Play, as_answered, as_recorded
from bootlab.targets.replay.recordings import (
    CONFIG,
    KERNEL_CONFIG,
    OF_EVERY_BOOT,
    RecordedBoot,
    find_recordings,
    recorded_key,
)
from bootlab.targets.replay.script import SCRIPT, Script, ScriptedAnswer, read_script
from bootlab.targets.target import (
    NO_FILES,
    TRACE,
    BootRequest,
    ConsoleBytes,
    Ended,
    EndReason,
    LineStamps,
    OpenedMachine,
    Prepared,
)

_RUNS_ON = "replay"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPrepared(Prepared):
    """A system that recorded boots answer for: `by_seed` those of this very system, or `by_script` any."""

    by_seed: Mapping[int, RecordedBoot]
    by_script: Script | None
    recordings: Mapping[str, RecordedBoot]
    boots: Path
    """The folder that they are in."""
    profiled: bool

    @asynccontextmanager
    async def open(self, directory: Path, argv: list[str]) -> AsyncIterator[OpenedMachine]:
        recording, play = self._chosen()
        argv += [_RUNS_ON, str(recording.directory)]
        if play.trace is not None:
            (directory / TRACE).write_text(play.trace, encoding="ascii")
        if self.plugin_config is not None:
            # What its trace looked for, so that what is on record of this boot is whole, too.
            (directory / CONFIG).write_text(self.plugin_config, encoding="ascii")
        if self.profiled:
            for kept in recording.directory.iterdir():
                if kept.name not in OF_EVERY_BOOT and kept.is_file():
                    shutil.copyfile(kept, directory / kept.name)
        yield OpenedMachine(ReplaySession(play))

    @property
    def shared_parts(self) -> tuple[object, ...]:
        return tuple(self.recordings.values())

    def _chosen(self) -> tuple[RecordedBoot, Play]:
        if self.by_script is not None:
            answer = self.by_script.answer_for(self.system)
            recording = _named(self.recordings, answer, self.boots)
            return recording, as_answered(recording, self.system, answer)
        found = self.by_seed.get(self.system.seed)
        if found is None:
            raise BootFailed(f"no boot of this system is on record with seed {self.system.seed}")
        return found, as_recorded(found, self.system)


class ReplaySession:
    """One recorded boot, said again as fast as it is asked for."""

    byte_ns = 0
    doubts: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def __init__(self, play: Play) -> None:
        self._play = play
        self._stopped = asyncio.Event()
        self._power_on_ns = 0

    async def power_on(self) -> int:
        """Return the host's time in ns. Raises BootFailed for a boot that is not to start, or KeyboardInterrupt."""
        if self._play.refuses is not None:
            raise BootFailed(self._play.refuses)
        if self._play.interrupted:
            raise KeyboardInterrupt
        self._power_on_ns = time.monotonic_ns()
        return self._power_on_ns

    def events(self) -> AsyncIterator[ConsoleBytes | Ended]:
        return _Events(self._play, self._power_on_ns, self._stopped)

    def withheld_s(self) -> float:
        return 0.0

    async def stop(self) -> None:
        self._stopped.set()

    def stamps(self) -> LineStamps | None:
        return None


class _Events(AsyncIterator[ConsoleBytes | Ended]):
    # Not a generator: one that has raised gives nothing any more, and Ended still has to come.
    def __init__(self, play: Play, power_on_ns: int, stopped: asyncio.Event) -> None:
        self._console = [ConsoleBytes(power_on_ns + t_ns, data) for t_ns, data in play.console]
        self._play = play
        self._stopped = stopped
        self._hung = False
        self._last_ns = self._console[-1].t_ns if self._console else power_on_ns
        self._ended = False

    async def __anext__(self) -> ConsoleBytes | Ended:
        if self._ended:
            raise StopAsyncIteration
        if self._console:
            return self._console.pop(0)
        if self._play.hangs and not (self._hung or self._stopped.is_set()):
            self._hung = True
            raise TimeoutError
        if self._play.end is None:
            await self._stopped.wait()
        self._ended = True
        return Ended(self._last_ns, self._play.end or EndReason.STOPPED, self._play.detail)


class ReplayTarget:
    """Recorded boots: they can be of any machine, and of no other system than somebody recorded or wrote down."""

    fixed_machine = None

    def prepare(self, shop: Workshop, system: System, asked: BootRequest) -> ReplayPrepared:
        """Find what answers for `system`. Raises InputError where nothing does, BuildFailed by its script."""
        settings = system.target
        assert isinstance(settings, Replay)
        recordings = find_recordings(settings.boots)
        script = read_script(settings.boots)
        answer, by_seed = ScriptedAnswer(), dict[int, RecordedBoot]()
        if script is None:
            by_seed = _of_this_system(system, recordings, settings.boots)
            first = next(iter(by_seed.values()))
        else:
            answer = script.prepared_for(system)
            first = _named(recordings, answer, settings.boots)
            if answer.refused is not None:
                raise InputError(answer.refused)
            if answer.unbuilt is not None:
                raise BuildFailed(answer.unbuilt)
        if asked.profile is not None and not find_kept(first.directory / PROFILE).is_file():
            raise InputError(f"target: {first.directory} is not the boot of a profile")
        config = settings.boots / (answer.kernel_config or KERNEL_CONFIG)
        files = NO_FILES.model_copy(
            update={"kernel_config": config if config.is_file() else None, "kernel_build_s": answer.build_s}
        )
        return ReplayPrepared(
            system=system,
            files=files,
            hashes=first.record.hashes if script is None else _hashes_of(system, first),
            sizes={**first.record.sizes, **answer.sizes},
            runs_on=_RUNS_ON,
            symbols=first,
            plugin_config=first.plugin_config,
            by_seed=by_seed,
            by_script=script,
            recordings=recordings,
            boots=settings.boots,
            profiled=asked.profile is not None,
        )

    def tools(self, system: System) -> dict[str, str]:
        """Return nothing: what answers is on record."""
        return {}

    def telling(self, system: System) -> None:
        """Return None: a boot on record tells no more."""

    def lacks(self, before: System, after: System) -> str | None:
        """Return None: whether there are boots of `after` shows when it is prepared."""
        return None

    def doubts(self, system: System) -> list[str]:
        """Return nothing: a replayed boot repeats exactly."""
        return []


def _hashes_of(system: System, recording: RecordedBoot) -> dict[str, str]:
    """Return hashes of files that nobody made: another for each kernel, archive or medium that the system asks for.

    A boot is found again by them, not by how its files are made; a script may answer for one kernel and not another.
    """
    hashes = dict(recording.record.hashes)
    for name, made in recording.record.hashes.items():
        # The words of the command line are no part of the file.
        part = system.model_dump_json(include={name}, exclude={name: {"cmdline"}})
        hashes[name] = hashlib.sha256(f"{made} {part}".encode()).hexdigest()
    return hashes


def _of_this_system(system: System, recordings: Mapping[str, RecordedBoot], folder: Path) -> dict[int, RecordedBoot]:
    found = [one for one in recordings.values() if recorded_key(system, one.record.seed, one) == one.record.key]
    if not found:
        raise InputError(
            f"target.boots: no boot of this system is on record in {folder}",
            hint="the system as it was booted, with nothing else than the [target] changed, finds its boots",
        )
    hashes = found[0].record.hashes
    different = {name for one in found for name, _ in one.record.hashes.items() ^ hashes.items()}
    if different:
        raise InputError(
            f"target.boots: the boots on record of this system differ in {', '.join(sorted(different))}, and a replay "
            "cannot know which are meant",
            hint="give a folder with those of one kernel, initramfs and disks",
        )
    return {one.record.seed: one for one in found}


def _named(recordings: Mapping[str, RecordedBoot], answer: ScriptedAnswer, folder: Path) -> RecordedBoot:
    assert answer.boot is not None
    if answer.boot not in recordings:
        raise InputError(
            f"{folder / SCRIPT}:boot: {answer.boot!r} is none of the boots on record: {', '.join(recordings)}",
            hint="name the directory of a finished boot; a warm-up, or one moved aside, is none",
        )
    return recordings[answer.boot]
