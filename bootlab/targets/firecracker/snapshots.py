"""How Firecracker keeps a machine and goes on from one: the requests, the files, and what cannot be kept.

PATCH /vm Paused; PUT /snapshot/create          PUT /snapshot/load; PATCH /vm Resumed
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bootlab.errors import InputError
from bootlab.snapshot.refusals import RAM, STATE, MemoryForm, expect_room
from bootlab.system import Firecracker
from bootlab.targets.firecracker.configuration import CARD
from bootlab.targets.firecracker.jail import Jail
from bootlab.targets.vmm.api import ApiCall
from bootlab.targets.vmm.disks import CLONE_DRIVE
from bootlab.targets.vmm.snapshots import MEMORY_S, VmmSnapshot

PAUSE: Final = ApiCall("PATCH", "/vm", {"state": "Paused"})
RESUME: Final = ApiCall("PATCH", "/vm", {"state": "Resumed"})
LOAD: Final = "/snapshot/load"
PAGES: Final = "pages"
"""The socket of a page server, in a boot's folder."""
_SWAPS: Final = Path("/proc/swaps")


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
class SnapshotFolder(VmmSnapshot):
    """What Firecracker is asked for a snapshot.

    Into a jail its files are put before it is taken up, and out of one they are moved when it has been written down.
    """

    jail: Jail | None = None
    """Whose root the folder is."""

    def put_disks(self, names: Sequence[str], disks: Sequence[Path]) -> None:
        """Copy each disk where the guest may write to it, and into a jail what is meant for it. Raises BootFailed."""
        if self.keeping is not None and self.jail is not None:
            # Out of a jail the memory is moved when it has been written there.
            expect_room(self.folder, self.system.machine.memory_mib)
        super(SnapshotFolder, self).put_disks(names, disks)
        if self.jail is None:
            return
        for name in [*names, *([] if self.system.snapshot is None else [CLONE_DRIVE])]:
            self.jail.hand_over(self.folder / name)
        if self.restored is not None:
            for name in (STATE, RAM):
                self.jail.put(self.restored.folder / name, name)

    def creating(self) -> ApiCall:
        """Return the request that writes the machine down."""
        assert self.keeping is not None
        body = {
            "snapshot_type": "Diff" if self.keeping.form is MemoryForm.DIFF else "Full",
            "snapshot_path": self._seen(self.keeping.folder, STATE),
            "mem_file_path": self._seen(self.keeping.folder, RAM),
        }
        return ApiCall("PUT", "/snapshot/create", body, MEMORY_S)

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
        return ApiCall("PUT", LOAD, body, MEMORY_S)

    def keep_disks(self, names: Sequence[str]) -> None:
        """Copy each disk into the snapshot, and have there what lies in a jail. Raises BootFailed."""
        super(SnapshotFolder, self).keep_disks(names)
        if self.jail is not None:
            assert self.keeping is not None
            for name in (STATE, RAM):
                self.jail.take_out(name, self.keeping.folder / name)

    def _seen(self, folder: Path, name: str) -> str:
        if self.jail is not None:
            return self.jail.seen(self.folder / name)
        return str(folder.absolute() / name)
