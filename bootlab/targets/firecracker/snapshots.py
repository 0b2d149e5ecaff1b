"""How Firecracker keeps a machine and goes on from one: the requests, the files, and what cannot be kept.

    PATCH /vm Paused; PUT /snapshot/create          PUT /snapshot/load; PATCH /vm Resumed

It stops its guest from outside, some way behind the mark that the guest makes: so the clone agent waits at its mark
until somebody reads who it is anew (guest/clone). It reads that from a drive, which is another file in each clone.

Firecracker remembers a drive by its path. All paths are relative to the folder that it runs in, which is another one in
each clone, and has copies of the disks as they were when the machine was kept.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bootlab.errors import InputError
from bootlab.snapshot.asked import KeepRequest, Restored
from bootlab.snapshot.identity import held, no_clone
from bootlab.snapshot.refusals import RAM, STATE, MemoryForm, expect_room
from bootlab.system import Firecracker, System
from bootlab.targets.firecracker.configuration import CARD, CLONE_DRIVE
from bootlab.targets.firecracker.jail import Jail
from bootlab.targets.vmm.api import ApiCall
from bootlab.targets.vmm.disks import copy_disk

PAUSE: Final = ApiCall("PATCH", "/vm", {"state": "Paused"})
RESUME: Final = ApiCall("PATCH", "/vm", {"state": "Resumed"})
LOAD: Final = "/snapshot/load"
_MEMORY_S: Final = 300.0
"""Of a request that writes a machine's whole memory."""
PAGES: Final = "pages"
"""The socket of a page server, in a boot's folder."""
_SWAPS: Final = Path("/proc/swaps")


def expect_keepable(system: System, target: Firecracker) -> None:
    """Raise InputError that names every key of a system of which a snapshot would lack something."""
    reasons = {
        "target.api: without its API nobody can ask Firecracker for a snapshot": not target.api,
        'target.huge_pages = "2M": Firecracker maps no memory file of huge pages': target.huge_pages != "None",
    }
    if mistakes := [reason for reason, applies in reasons.items() if applies]:
        raise InputError(
            "\n".join(f"{mistake}: not in a snapshot" for mistake in mistakes),
            hint="docs/snapshots.md says what can be kept",
        )


def expect_form(form: MemoryForm, target: Firecracker) -> None:
    """Raise InputError for a diff snapshot that would lack pages: those that the host has swapped out."""
    if form is not MemoryForm.DIFF or target.track_dirty_pages:
        return
    if len(_SWAPS.read_text().splitlines()) > 1:
        raise InputError(
            "--memory diff: this host has swap, and Firecracker takes a page that is not in memory for one that was "
            "never written to",
            hint="target.track_dirty_pages = true has KVM keep account of them",
        )


@dataclass(frozen=True, slots=True)
class SnapshotFolder:
    """One boot's part in a snapshot, if any: `keeping` or `restored`. `folder`: of this boot alone; it runs there.

    Into a jail its files are put before it is taken up, and out of one they are moved when it has been written down.
    """

    system: System
    keeping: KeepRequest | None
    restored: Restored | None
    folder: Path
    jail: Jail | None = None
    """Whose root the folder is."""

    def put_disks(self, names: list[str], disks: tuple[Path, ...]) -> None:
        """Copy each disk where the guest may write to it. Raises BootFailed: a full disk, say."""
        if self.keeping is not None:
            # Out of a jail the memory is moved when it has been written there.
            for folder in (self.keeping.folder, *([] if self.jail is None else [self.folder])):
                expect_room(folder, self.system.machine.memory_mib)
        kept = None if self.restored is None else self.restored.folder
        for name, disk in zip(names, disks, strict=True):
            copy_disk(name, disk if kept is None else kept / name, self.folder / name)
        if self.system.snapshot is not None:
            (self.folder / CLONE_DRIVE).write_bytes(self._identity())
            names = [*names, CLONE_DRIVE]
        if self.jail is None:
            return
        for name in names:
            self.jail.hand_over(self.folder / name)
        if kept is not None:
            for name in (STATE, RAM):
                self.jail.put(kept / name, name)

    def creating(self) -> ApiCall:
        """Return the request that writes the machine down."""
        assert self.keeping is not None
        body = {
            "snapshot_type": "Diff" if self.keeping.form is MemoryForm.DIFF else "Full",
            "snapshot_path": self._seen(self.keeping.folder, STATE),
            "mem_file_path": self._seen(self.keeping.folder, RAM),
        }
        return ApiCall("PUT", "/snapshot/create", body, _MEMORY_S)

    def loading(self, target: Firecracker) -> ApiCall:
        """Return the request that takes the machine up, which then stands still."""
        assert self.restored is not None
        memory = {"backend_type": "File", "backend_path": self._seen(self.restored.folder, RAM)}
        if target.pages == "served":
            memory = {"backend_type": "Uffd", "backend_path": self._seen(self.folder, PAGES)}
        body: dict[str, Any] = {
            "snapshot_path": self._seen(self.restored.folder, STATE),
            "mem_backend": memory,
            "track_dirty_pages": target.track_dirty_pages,
            "resume_vm": False,
        }
        if target.tap is not None and target.tap != getattr(self.system.target, "tap", None):
            # One of its own, which is another one than that of the machine that was kept.
            body["network_overrides"] = [{"iface_id": CARD, "host_dev_name": target.tap}]
        return ApiCall("PUT", LOAD, body, _MEMORY_S)

    def keep_disks(self, names: list[str]) -> None:
        """Copy each disk of a machine that stands still into its snapshot. Raises BootFailed."""
        assert self.keeping is not None
        for name in names:
            copy_disk(name, self.folder / name, self.keeping.folder / name)
        if self.jail is not None:
            for name in (STATE, RAM):
                self.jail.take_out(name, self.keeping.folder / name)

    def _seen(self, folder: Path, name: str) -> str:
        if self.jail is not None:
            return self.jail.seen(self.folder / name)
        return str(folder.absolute() / name)

    def _identity(self) -> bytes:
        if self.keeping is not None:
            return held(self.keeping.at)
        return no_clone() if self.restored is None or self.restored.identity is None else self.restored.identity.text
