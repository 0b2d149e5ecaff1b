"""A snapshot as a folder: what was kept, and every reason not to restore it, each in words.

    snapshot/
      snapshot.json     what it was made of, when, and the hash of each file beside it
      ram               the guest's memory, mapped by each clone for itself: read as it is touched, never written
      state             everything else of the machine, in QEMU's own form (with `mapped-ram` the memory too)
      disk0.qcow2       what was written to a disk since power-on; disk0: the disk as it was (VMMs)
      configuration     the machine as its VMM wrote it down (Cloud Hypervisor)

A machine that goes on from half of that, or beside another disk, would do harm that nobody sees: so nothing is tried.
"""

import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.errors import BootFailed, InputError, StoreError
from bootlab.kept_file import UNREADABLE, damaged, read_kept_json

MANIFEST: Final = "snapshot.json"
RAM: Final = "ram"
STATE: Final = "state"
_IN_USE: Final = "in-use"
_AGAIN: Final = "make it anew: bootlab snapshot SYSTEM; or boot cold instead in the same command: --or-cold"
_MOST_NAMED: Final = 4
_SPARE_BYTES: Final = 64 << 20
"""What a snapshot takes besides the guest's memory: the state of devices, and what was written to disks."""


class MemoryForm(StrEnum):
    """How the guest's memory is kept."""

    FILE = "file"
    """As a file that each clone maps for itself (QEMU's x-ignore-shared): a clone reads what it touches."""
    MAPPED_RAM = "mapped-ram"
    """In the state, each page at its place (QEMU's mapped-ram, from 9.0 on): a clone reads all of it."""
    DIFF = "diff"
    """As a file of the pages that were written to alone (Firecracker's diff snapshot): the rest are holes."""

    @property
    def capability(self) -> str:
        """Return what QEMU calls it."""
        return "x-ignore-shared" if self is MemoryForm.FILE else "mapped-ram"


class KeptFile(Document):
    """A file of a snapshot."""

    bytes: int
    sha256: str


class SnapshotManifest(Document):
    """What was kept, of what, and when."""

    schema_: Literal["bootlab.snapshot/1"] = Field(default="bootlab.snapshot/1", alias="schema")
    system: str
    at: str
    """The mark at which the machine stood still."""
    t_ns: int
    """Time of the machine's clock from power-on to there."""
    late_ns: int = Field(default=0, exclude_if=lambda value: not value)
    """How far past the mark it may have run before it stood still, on the wall clock."""
    instructions: int | None
    """Run up to there; None on the wall clock."""
    seed: int
    form: MemoryForm
    told: bool
    """Whether its clones are told who they are."""
    values: dict[str, Any]
    """All of the system file that decides a boot."""
    hashes: dict[str, str]
    """sha256 of every input, tools included."""
    host: dict[str, str] = Field(default_factory=dict, exclude_if=lambda value: not value)
    """What of the host its state depends on, by name; nothing of an emulated machine's."""
    files: dict[str, KeptFile]

    @property
    def sha256(self) -> str:
        """Return the hash of what was kept: that of a snapshot made twice alike is the same."""
        said = [f"{name} {file.sha256}" for name, file in sorted(self.files.items())]
        return hashlib.sha256("\n".join([str(self.t_ns), *said]).encode()).hexdigest()


def read_manifest(folder: Path) -> SnapshotManifest:
    """Return what a folder says of its snapshot. Raises InputError for a folder that holds none, StoreError."""
    path = folder / MANIFEST
    try:
        return SnapshotManifest.model_validate_json(read_kept_json(path))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(
            f"{folder}: holds no snapshot: there is no {MANIFEST}", hint="bootlab snapshot SYSTEM makes one"
        ) from error
    except UNREADABLE as error:
        raise damaged(path, error) from error


def hash_file(path: Path) -> KeptFile:
    """Return size and hash of a file. Raises OSError."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return KeptFile(bytes=os.fstat(file.fileno()).st_size, sha256=digest)


def expect_whole(folder: Path, manifest: SnapshotManifest, *, unread: bool) -> None:
    """Raise StoreError unless every file is there and as it was kept. `unread`: only sizes are looked at."""
    for name, kept in manifest.files.items():
        path = folder / name
        try:
            size = path.stat().st_size
            if size != kept.bytes:
                what = "cut off" if size < kept.bytes else "longer than it was"
                raise StoreError(f"{path}: {what}: {size} bytes, {kept.bytes} were kept", hint=_AGAIN)
            if not unread and hash_file(path).sha256 != kept.sha256:
                raise StoreError(f"{path}: not what was kept: its sha256 is another (a bit is enough)", hint=_AGAIN)
        except OSError as error:
            raise StoreError(f"{path}: cannot be read: {error.strerror or error}", hint=_AGAIN) from error


def expect_same_machine(
    folder: Path, manifest: SnapshotManifest, values: Mapping[str, Any], hashes: Mapping[str, str]
) -> None:
    """Raise InputError that names what the machine is made of now and was not, or the other way round."""
    changed = [
        f"{name}: {_what_changed(name, manifest.hashes.get(name), hashes.get(name))}"
        for name in sorted(manifest.hashes.keys() | hashes.keys())
        if manifest.hashes.get(name) != hashes.get(name)
    ]
    before, now = dict(leaves(manifest.values)), dict(leaves(values))
    changed += [
        f"{key}: {before.get(key, 'nothing')!r} when it was kept, {now.get(key, 'nothing')!r} now"
        for key in sorted(before.keys() | now.keys())
        if before.get(key) != now.get(key) and key != "seed"
    ]
    if changed:
        more = f"\n  and {len(changed) - _MOST_NAMED} more" if len(changed) > _MOST_NAMED else ""
        raise InputError(
            f"{folder}: kept of another machine than this one:\n  " + "\n  ".join(changed[:_MOST_NAMED]) + more,
            hint=_AGAIN,
        )


def expect_same_host(folder: Path, manifest: SnapshotManifest, host: Mapping[str, str]) -> None:
    """Raise InputError that names what this host has otherwise than the one where the machine was kept."""
    changed = [
        f"{name}: {manifest.host.get(name, 'nothing')} where it was kept, {host.get(name, 'nothing')} here"
        for name in sorted(manifest.host.keys() | host.keys())
        if manifest.host.get(name) != host.get(name)
    ]
    if changed:
        raise InputError(f"{folder}: kept on another host than this one:\n  " + "\n  ".join(changed), hint=_AGAIN)


def expect_room(folder: Path, memory_mib: int) -> None:
    """Raise BootFailed where a machine of so much memory cannot be kept in `folder`."""
    needed = (memory_mib << 20) + _SPARE_BYTES
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
    if free < needed:
        raise BootFailed(
            f"{folder}: no room for a snapshot: {needed >> 20} MiB are needed, {free >> 20} are free",
            hint="free some space, or put runs elsewhere with --runs DIR",
        )


@contextmanager
def claim_clones(folder: Path, numbers: Iterable[int]) -> Iterator[None]:
    """Have these clones to oneself: two machines of one identity must not run at once.

    Raises InputError for one that runs already, StoreError where that cannot be noted.
    """
    with ExitStack() as stack:
        for number in numbers:
            path = folder / _IN_USE / str(number)
            try:
                path.parent.mkdir(exist_ok=True)
                file = stack.enter_context(path.open("w"))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InputError(
                    f"{folder}: clone {number} runs already: two machines of one identity are refused",
                    hint="--clone N takes another number, or wait until that one has ended",
                ) from error
            except OSError as error:
                raise StoreError(
                    f"{path}: cannot note that clone {number} runs: {error.strerror or error}",
                    hint="the folder of a snapshot must be one that you may write to",
                ) from error
        yield


def _what_changed(name: str, before: str | None, now: str | None) -> str:
    if before is None or now is None:
        return "was not there when it was kept" if before is None else "is not there any more"
    words = {
        "qemu": "another QEMU",
        "firecracker": "another Firecracker",
        "cloud-hypervisor": "another Cloud Hypervisor",
        "plugin": "another build of the plugin",
        "kernel": "another kernel",
    }
    if name.startswith(("disk", "rootfs")):
        return "has changed: the guest had it mounted, perhaps, and would write what it remembers of it"
    return f"{words.get(name, 'another file')} ({now[:12]}, was {before[:12]})"


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value in a document by its key, such as `machine.type` or `disks.0.serial`."""
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from leaves(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list | tuple) and value:
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{key}.{index}")
    else:
        yield key, value if not isinstance(value, Mapping | list | tuple) else None
