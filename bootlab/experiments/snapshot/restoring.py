"""A snapshot that was asked for -> boots that go on from it: found, checked against this machine, as many as wanted."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bootlab.errors import InputError
from bootlab.experiments.store import RunKind, Store
from bootlab.snapshot.asked import Restored
from bootlab.snapshot.identity import WOKEN_S, CloneIdentity
from bootlab.snapshot.refusals import (
    MANIFEST,
    SnapshotManifest,
    expect_same_host,
    expect_same_machine,
    expect_whole,
    read_manifest,
)
from bootlab.system import ClockKind, System
from bootlab.targets.boot_key import boot_values
from bootlab.targets.target import Prepared

SNAPSHOT = "snapshot"
"""The folder of a run in which what was kept lies."""


@dataclass(frozen=True, slots=True)
class FoundSnapshot:
    """A snapshot on record: its folder, which is an absolute path, and what that says of itself."""

    folder: Path
    manifest: SnapshotManifest


def find_snapshot(name: str, store: Store) -> FoundSnapshot:
    """Return the snapshot that `name` means: a folder, a run of `bootlab snapshot`, or `last`, the latest of these.

    Raises InputError for what is none, StoreError for one that is damaged.
    """
    path = Path(name)
    # A name too long for a path is no path.
    if not os.path.exists(path / MANIFEST):
        if name == "last":
            made = [run for run in store.runs() if run.kind == RunKind.SNAPSHOT]
            if not made:
                raise InputError(f"--from last: no snapshot in {store.root}", hint="bootlab snapshot SYSTEM makes one")
            path = made[-1].path / SNAPSHOT
        elif os.path.isdir(path) and not os.path.exists(path / "run.json"):
            # The folder that was named is none, and its name is no run's.
            path = path.absolute()
        else:
            run = store.find(name)
            if run.kind is not RunKind.SNAPSHOT:
                raise InputError(
                    f"--from {name}: a run of bootlab {run.kind}, which kept no machine",
                    hint="bootlab snapshot SYSTEM makes a snapshot; bootlab report --list shows the runs there are",
                )
            path = run.path / SNAPSHOT
    path = path.absolute()
    return FoundSnapshot(path, read_manifest(path))


def restored_boots(
    found: FoundSnapshot, prepared: Prepared, numbers: Sequence[int], *, unread: bool = False
) -> list[Prepared]:
    """Return a boot for each clone of `numbers`, once the snapshot is known to be whole and of this very machine.

    `unread`: neither its files nor the machine's inputs are compared, only sizes; what the guest sees for itself is
    left to its agent. Raises InputError for another machine, StoreError for damaged files.
    """
    manifest = found.manifest
    prepared = prepared.with_seed(manifest.seed)
    expect_same_host(found.folder, manifest, prepared.kept_with)
    expect_whole(found.folder, manifest, unread=unread)
    if not unread:
        expect_same_machine(found.folder, manifest, boot_values(prepared.system), prepared.hashes)
    kept = Restored(found.folder, manifest.form, manifest.t_ns, manifest.instructions, None)
    kept_hash = {"snapshot": manifest.sha256}
    boots, has_card, woken_s = [], prepared.system.network is not None, _woken_s(prepared.system)
    for number in numbers:
        who = CloneIdentity(manifest.sha256, number, manifest.system, has_card, woken_s) if manifest.told else None
        one = prepared.numbered(number).from_snapshot(replace(kept, identity=who))
        boots.append(replace(one, hashes={**one.hashes, **kept_hash}))
    return boots


def _woken_s(system: System) -> int | None:
    """Return what time clones are told, less a second for each; None for that of this host as they wake."""
    if system.snapshot is not None and system.snapshot.woken_at is not None:
        return int(system.snapshot.woken_at.timestamp()) - 1
    return None if system.clock.kind is ClockKind.WALL else WOKEN_S
