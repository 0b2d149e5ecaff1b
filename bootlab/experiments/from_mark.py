"""Boots of a trial that begin at a mark: where the machine of another boot was kept that had begun alike.

Whether they began alike is no question of techniques. What decides a boot is its inputs, so all of them have to be the
same: kernel, initramfs, words, machine, firmware, QEMU, plugin, seed. Of disks every block has to be the same that the
other machine had read or written before the mark (`bootlab.snapshot.blocks`); what nobody has looked at may differ.
Then nothing that differs has had any part in what happened up to there, and what comes after is the changed system's
own. One boot of each trial is run both ways, as a check of all this; where the two differ nothing begins at a mark any
more.
"""

import hashlib
import json
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import Field

from bootlab.document import Document
from bootlab.errors import BootFailed, InputError
from bootlab.experiments.store import Run
from bootlab.measure.guest.heard_console import HeardConsole
from bootlab.measure.place import BootPlace
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.snapshot_boot import Places, keep_beginning
from bootlab.profile.recorded.trace import RANDOM, parse_trace, read_trace
from bootlab.snapshot.asked import Beginning
from bootlab.snapshot.blocks import ChangedDisk, compare_disks, known_blocks
from bootlab.snapshot.refusals import leaves
from bootlab.system.part import MARK
from bootlab.targets.boot_key import boot_values
from bootlab.targets.target import TRACE, Prepared

_DECIDE_LATER: Final = ("booted", "check", "timings")
"""Tables of the system file by which no guest is changed: who follows the boot looks for what they say."""
_CHECKED_SEED: Final = 1
"""Of the boots whose disk has changed the first with this seed is run both ways: each trial has it."""
_MOST_KEPT: Final = 32
_IN_VAIN: Final = 12
"""Boots that were powered on while none with another disk began at the mark: no more machines are worth keeping."""
_OF_THE_HOST: Final = {"argv", "started", "wall_s", "run", "host", "began"}
_SEEN_TO_THE_END: Final = ("looks", "frames", "lost")
_MOST_NAMED: Final = 4
_DREW: Final = "it draws random numbers of its processor behind the mark, and their row is in no machine that is kept"
FOLDER: Final = "from-mark"
"""Of a run: what its boots began with."""


class FromMarkResult(Document):
    """How many boots of a trial began at a mark, and the host time of that, in the call that ended it."""

    mark: str
    kept: int
    """Machines that were kept at it."""
    began: int
    """Boots that went on from one."""
    powered_on: dict[str, int]
    """Why other boots did not -> how many."""
    checked: str
    """What came of the boot that was run both ways: `equal`, how they differ, or empty where none could be."""
    skipped_s: float
    """Host seconds that the boots which went on had behind them without running, as the kept ones took them: what else
    the host did then is in them, so this less `spent_s` is no measured saving."""
    spent_s: float
    """Host seconds for keeping machines, comparing disks, and the boot that was run both ways."""
    given_up: str = Field(default="", exclude_if=lambda value: not value)
    """Why no boot began at the mark any more."""


@dataclass(slots=True)
class _Kept:
    """A machine that stands at the mark, and what decided it up to there."""

    beginning: Beginning
    prepared: Prepared
    known: list[list[tuple[int, int]]]
    compared: dict[tuple[str, ...], list[ChangedDisk]]


class FromMark:
    """The beginnings of one run's boots, at `mark`. Used from many threads; `close` throws the kept machines away."""

    def __init__(self, run: Run, mark: str, tell: Callable[[str], None]) -> None:
        self._run, self.mark, self._tell = run, mark, tell
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Lock] = {}
        self._kept: dict[str, _Kept | None] = {}
        self._met: set[str] = set()
        self._why: Counter[str] = Counter()
        self._began = self._changed = self._tried = 0
        self._skipped_s = self._spent_s = 0.0
        self._checked: str | None = None
        self._given_up = ""

    def boot(
        self, place: BootPlace, prepared: Prepared, label: str, cancelled: Callable[[], bool], *, keeps: bool
    ) -> BootRecord:
        """Boot as `place` does, from the mark where that is the same boot.

        `keeps`: others will begin as this one does, so that its machine is worth keeping.
        """
        kept, why, is_new = self._find(prepared, cancelled, keeps)
        if kept is not None:
            why, changed = self._why_not(kept, prepared)
        if kept is None or why:
            with self._lock:
                self._why[why] += 1
            return place.boot(prepared, self._run.boot_directory(label), cancelled)
        record = place.boot(prepared.from_mark(kept.beginning), self._run.boot_directory(label), cancelled)
        if _drew_random(record) or record.outcome is not Outcome.READY:
            # What is wrong may be the going on: a technique fails by a boot from power-on alone.
            why = _DREW if _drew_random(record) else f"from {self.mark} it was {record.outcome.value}"
            with self._lock:
                self._why[why] += 1
                if why is _DREW:
                    self._give_up(f"{label}: {_DREW}")
            self._spend(record.wall_s)
            return place.boot(prepared, self._run.boot_directory(label), cancelled)
        with self._lock:
            self._began += 1
            self._changed += changed
            self._skipped_s += 0.0 if is_new else kept.beginning.host_s
            check = self._checked is None and changed and prepared.system.seed == _CHECKED_SEED
            if check:
                self._checked = ""
        return self._run_both_ways(place, prepared, label, record, cancelled) if check else record

    def result(self) -> FromMarkResult:
        """Return what came of it, up to now."""
        return FromMarkResult(
            mark=self.mark,
            kept=sum(one is not None for one in self._kept.values()),
            began=self._began,
            powered_on=dict(self._why.most_common()),
            checked=self._checked or "",
            skipped_s=round(self._skipped_s, 1),
            spent_s=round(self._spent_s, 1),
            given_up=self._given_up,
        )

    def close(self) -> None:
        """Throw away the kept machines; what their boots said stays, as records name it."""
        for kept in self._kept.values():
            if kept is not None:
                shutil.rmtree(kept.beginning.folder, ignore_errors=True)

    def _find(self, prepared: Prepared, cancelled: Callable[[], bool], keeps: bool) -> tuple[_Kept | None, str, bool]:
        """Return the machine to go on from, or why there is none; whether it was kept now."""
        if self._given_up:
            return None, f"no more of them: {self._given_up}", False
        key = _digest(_decisive(prepared))
        with self._lock:
            turn = self._turns.setdefault(key, threading.Lock())
            is_met = key in self._met
            self._met.add(key)
        # Whoever begins alike waits until the machine stands there.
        with turn:
            if (kept := self._kept.get(key)) is not None:
                return kept, "", False
            if not (keeps or is_met) or key in self._kept:
                return None, self._what_differs(prepared), False
            with self._lock:
                if (number := self._tried) >= _MOST_KEPT:
                    return None, f"{_MOST_KEPT} machines are kept already", False
                if not self._changed and sum(self._why.values()) >= _IN_VAIN:
                    return None, f"no other disk began at {self.mark} in {_IN_VAIN} boots, so no more are kept", False
                self._tried += 1
            kept, why = self._keep(prepared, cancelled, number)
            with self._lock:
                self._kept[key] = kept
                if kept is None and not any(self._kept.values()):
                    self._give_up(why)
            return kept, why, True

    def _keep(self, prepared: Prepared, cancelled: Callable[[], bool], number: int) -> tuple[_Kept | None, str]:
        began_s = time.monotonic()
        folder = self._run.path / FOLDER / f"{number:03d}-s{prepared.system.seed}"
        shutil.rmtree(folder, ignore_errors=True)
        places = Places((folder / "kept").absolute(), (folder / "boot").absolute())
        try:
            places.boot.mkdir(parents=True)
            beginning = keep_beginning(prepared, self.mark, places, cancelled)
        except (BootFailed, InputError) as error:
            return None, error.message.splitlines()[0]
        finally:
            self._spend(time.monotonic() - began_s)
        # Up to the mark it was a boot as any other.
        self._spend(-beginning.host_s)
        overlays = [beginning.folder / f"disk{index}.qcow2" for index in range(len(prepared.files.disks))]
        return _Kept(beginning, prepared, [known_blocks(path) for path in overlays], {}), ""

    def _why_not(self, kept: _Kept, prepared: Prepared) -> tuple[str, bool]:
        """Return why a boot that was prepared alike cannot go on from there, "" where it can; whether disks differ."""
        began_s = time.monotonic()
        names = _disk_names(prepared)
        hashes = tuple(prepared.hashes[name] for name in names)
        if (found := kept.compared.get(hashes)) is None:
            pairs = zip(kept.prepared.files.disks, prepared.files.disks, kept.known, strict=True)
            found = kept.compared[hashes] = [compare_disks(before, after, known) for before, after, known in pairs]
        self._spend(time.monotonic() - began_s)
        if _is_ready_before(kept.beginning, prepared):
            return f"it is ready before {self.mark}", False
        for name, disk in zip(names, found, strict=True):
            if disk.known:
                return f"{name}: changed where it was read before {self.mark}", True
        return "", any(disk.changed for disk in found)

    def _what_differs(self, prepared: Prepared) -> str:
        """Return by which inputs a boot is none of those that begin alike with what is kept."""
        mine = _decisive(prepared)
        others = [_decisive(one.prepared) for one in list(self._kept.values()) if one is not None]
        differing = [sorted(key for key in mine.keys() | one.keys() if mine.get(key) != one.get(key)) for one in others]
        fewest = min(differing, key=len, default=["nothing was kept before"])
        more = f" and {len(fewest) - _MOST_NAMED} more" if len(fewest) > _MOST_NAMED else ""
        return f"another {', '.join(fewest[:_MOST_NAMED])}{more}" if others else fewest[0]

    def _run_both_ways(
        self, place: BootPlace, prepared: Prepared, label: str, record: BootRecord, cancelled: Callable[[], bool]
    ) -> BootRecord:
        whole = place.boot(prepared, self._run.boot_directory(f"both-ways-{label}"), cancelled)
        self._spend(whole.wall_s)
        if Outcome.TARGET_DIED in (record.outcome, whole.outcome):
            with self._lock:
                self._checked = None
            return record
        differing = differences(record, whole)
        with self._lock:
            self._checked = "; ".join(differing[:_MOST_NAMED]) or "equal"
            if differing:
                # What counts of this one is the boot from power-on; of those before nobody knows.
                self._began -= 1
                before = f"; {self._began} boots that began there are in the figures: try again without --from-mark"
                self._give_up(f"{label}, run both ways, differs: {self._checked}{before if self._began else ''}")
        return whole if differing else record

    def _give_up(self, why: str) -> None:
        if self._given_up:
            return
        self._given_up = why
        self._tell(f"no boot begins at {self.mark} any more: {why}")

    def _spend(self, seconds: float) -> None:
        with self._lock:
            self._spent_s += seconds


@contextmanager
def beginning_at(run: Run, mark: str | None, tell: Callable[[str], None]) -> Iterator[FromMark | None]:
    """Give the beginnings of a run's boots, and throw the kept machines away; None where none is to begin at a mark."""
    found = None if mark is None else FromMark(run, mark, tell)
    try:
        yield found
    finally:
        if found is not None:
            found.close()


def expect_mark(mark: str) -> None:
    """Raise InputError for a name that no mark can have."""
    try:
        MARK.func(mark)  # type: ignore[call-arg]
    except ValueError as error:
        hint = "bootlab boot SYSTEM shows the marks there are"
        raise InputError(f"--from-mark {mark!r}: {error}", hint=hint) from error


def differences(one: BootRecord, other: BootRecord) -> list[str]:
    """Return in what two boots differ that are one by their key, key by key; nothing of the host's is looked at."""
    mine, yours = (dict(leaves(_compared(record))) for record in (one, other))
    return [
        f"{key}: {mine.get(key)} from the mark, {yours.get(key)} from power-on"
        for key in sorted(mine.keys() | yours.keys())
        if mine.get(key) != yours.get(key)
    ]


def _compared(record: BootRecord) -> dict[str, Any]:
    value = record.model_dump(mode="json", exclude=_OF_THE_HOST)
    if (screen := value.get("screen")) is not None:
        # How far a machine comes that is ended from outside is the host's: what was seen of it behind ready, too.
        for key in _SEEN_TO_THE_END:
            screen.pop(key, None)
        until_ns = record.ready_ns
        screen["pictures"] = [one for one in screen["pictures"] if until_ns is None or one["t_ns"] <= until_ns]
    return value


def _drew_random(record: BootRecord) -> bool:
    trace = Path(record.run) / TRACE
    return trace.exists() and RANDOM in read_trace(trace).refused


def _is_ready_before(beginning: Beginning, prepared: Prepared) -> bool:
    """Return whether a boot would have been followed no further than to before the mark: ready, or failed."""
    heard = HeardConsole(prepared)
    heard.feed(beginning.console, 0)
    marks = parse_trace(beginning.trace, str(beginning.boot)).guest_marks
    # The mark of a check ends a boot wherever it comes.
    check = prepared.system.check.mark if prepared.system.check is not None else None
    return (
        heard.guest.ready
        or heard.guest.failed_early
        or not marks.keys().isdisjoint({prepared.system.booted.mark, check})
    )


def _decisive(prepared: Prepared) -> dict[str, Any]:
    """Return all that decides a boot from its first instruction on, but for the content of disks."""
    values = {key: value for key, value in boot_values(prepared.system).items() if key not in _DECIDE_LATER}
    names = _disk_names(prepared)
    config = (prepared.plugin_config or "").splitlines()
    return {
        **dict(leaves(values)),
        **{name: one for name, one in prepared.hashes.items() if name not in names},
        **{f"size of {name}": prepared.sizes[name] for name in names},
        "marks that are looked for": [line for line in config if not line.startswith("stop ")],
    }


def _disk_names(prepared: Prepared) -> list[str]:
    """Return what the disks are called among hashes and sizes, in their order."""
    count, root = len(prepared.files.disks), prepared.system.rootfs is not None
    return [*(["rootfs"] if root else []), *(f"disk{index}" for index in range(count - root))]


def _digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()
