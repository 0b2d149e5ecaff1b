"""How VMMs keep a machine and go on from one: the disks, who a clone is, and what cannot be kept.

A VMM stops its guest from outside, some way behind the mark that the guest makes: so the clone agent waits at its mark
until somebody reads who it is anew (guest/clone). It reads that from a drive, which is another file in each clone.

A VMM remembers a drive by its path. All paths are relative to the folder that it runs in, which is another one in each
clone, and has copies of the disks as they were when the machine was kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.errors import InputError
from bootlab.snapshot.asked import KeepRequest, Restored
from bootlab.snapshot.identity import held, no_clone
from bootlab.snapshot.refusals import expect_room
from bootlab.system import System, VmmProgram
from bootlab.targets.vmm.disks import CLONE_DRIVE, copy_disk, held_file
from bootlab.targets.vmm.identity import Vmm

MEMORY_S: Final = 300.0
"""Of a request that writes or reads a machine's whole memory."""


def expect_keepable(target: VmmProgram, vmm: Vmm, more: Mapping[str, bool]) -> None:
    """Raise InputError that names every key of a system of which a snapshot would lack something.

    `more`: what is so of this VMM alone, each with whether the system asks for it.
    """
    reasons = {f"target.api: without its API nobody can ask {vmm.name} for a snapshot": not target.api, **more}
    if mistakes := [reason for reason, applies in reasons.items() if applies]:
        raise InputError(
            "\n".join(f"{mistake}: not in a snapshot" for mistake in mistakes),
            hint="docs/snapshots.md says what can be kept",
        )


@dataclass(frozen=True, slots=True)
class VmmSnapshot:
    """One boot's part in a snapshot, if any: `keeping` or `restored`. `folder`: of this boot alone; it runs there."""

    system: System
    keeping: KeepRequest | None
    restored: Restored | None
    folder: Path

    def put_disks(self, names: Sequence[str], disks: Sequence[Path]) -> None:
        """Copy each disk where the guest may write to it. Raises BootFailed: a full disk, say."""
        if self.keeping is not None:
            expect_room(self.keeping.folder, self.system.machine.memory_mib)
        kept = None if self.restored is None else self.restored.folder
        for name, disk in zip(names, disks, strict=True):
            copy_disk(name, disk if kept is None else kept / name, self.folder / name)
        if self.system.snapshot is not None:
            (self.folder / CLONE_DRIVE).write_bytes(self._identity())

    def keep_disks(self, names: Sequence[str]) -> None:
        """Copy each disk of a machine that stands still into its snapshot. Raises BootFailed."""
        assert self.keeping is not None
        for name in names:
            with held_file(self.folder / name) as disk:
                copy_disk(name, disk, self.keeping.folder / name)

    def _identity(self) -> bytes:
        if self.keeping is not None:
            return held(self.keeping.at)
        return no_clone() if self.restored is None or self.restored.identity is None else self.restored.identity.text
