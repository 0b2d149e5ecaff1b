"""How QEMU keeps a machine and goes on from one: files, the words of its control socket, and what cannot be kept.

The guest's memory is a file that QEMU shares with us while the machine is made, so that nothing has to be copied, and
that each clone maps for itself. The rest goes through QEMU's migration into a file of some hundred KiB:

    migrate-set-capabilities x-ignore-shared; migrate file:state          migrate-incoming file:state; cont

The virtual clock and the count of instructions are in it: a clone goes on at the nanosecond at which it was kept.
"""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from qemu.qmp import QMPClient, QMPError

from bootlab.errors import BootFailed, InputError, StoreError
from bootlab.process import run
from bootlab.profile.recorded.trace import parse_trace
from bootlab.snapshot.asked import Beginning, KeepRequest, Restored
from bootlab.snapshot.blocks import BLOCK
from bootlab.snapshot.identity import NO_GENERATION, no_clone
from bootlab.snapshot.refusals import RAM, STATE, MemoryForm, expect_room
from bootlab.system import BootFiles, ClockKind, NetworkPeer, PageSize, System
from bootlab.targets.qemu.argv import uses_pmem
from bootlab.targets.qemu.wiring import Identity, SnapshotFiles

_WORDS_OF_A_CLONE: Final = ("arch", "guestmarks", "uart", "stop", "exactdisks")
"""What the plugin is told of a machine that goes on: all that comes before its first program is past."""
_POLL_S = 0.005
_MIGRATION_S = 300.0


def expect_keepable(system: System, *, goes_on: bool = False) -> None:
    """Raise InputError that names every key of a system of which a snapshot would lack something.

    `goes_on`: as the rest of its own boot, where the plugin takes up what it knew, and not as a clone.
    """
    machine, network = system.machine, system.network
    reasons = {
        'clock.kind: a snapshot is made at a moment of the virtual clock: clock.kind = "virtual"': system.clock.kind
        is not ClockKind.VIRTUAL,
        "image: a machine that boots from an image": system.image is not None,
        "machine.type: a board": system.board is not None,
        "clock.charges: what is charged to the clock": bool(system.clock.charges) or system.clock.host_model,
        "clock.tick_us: how far the ticks were moved": system.clock.tick_us is not None,
        "machine.hypervisor: the hypervisor that the guest sees": machine.hypervisor is not None,
        "machine.page_size: the memory is a file of its own": machine.page_size is not PageSize.AUTO,
        'rootfs.device: "pmem"': uses_pmem(system),
        'rootfs.device: "kept-ram"': system.rootfs is not None and system.rootfs.kept_ram is not None,
        "power_on: what the machine finds": system.power_on is not None,
        "network.peer: what bootlab's network remembers": network is not None and network.peer is NetworkPeer.BOOTLAB,
        "screen: what is typed and seen on it": system.screen is not None and not goes_on,
        "machine.devices: virtio-rng, whose next random number": goes_on
        and any(device.startswith("virtio-rng") for device in machine.devices),
        **{
            f"{drive}: a disk with a model, of whose requests some may be under way": not goes_on
            for drive in system.modelled_disks
        },
    }
    mistakes = [reason for reason, applies in reasons.items() if applies]
    if mistakes:
        raise InputError(
            "\n".join(f"{mistake} is not in a snapshot" for mistake in mistakes),
            hint="docs/snapshots.md says what can be kept",
        )


def expect_mark_of_guest(system: System, at: str) -> None:
    """Raise InputError for a mark that no instruction of the guest makes, at which it could be made to stand still."""
    if system.screen is not None and at in system.screen.after:
        raise InputError(
            f"{at}: a mark of the screen: it is seen while the guest stands at any instruction",
            hint="take a mark that the guest makes, with bootlab-mark or in its kernel",
        )


def restored_config(config: str) -> str:
    """Return what the plugin is told of a machine that goes on, from what it was told of its boot."""
    lines = [line for line in config.splitlines() if line.split(" ", 1)[0] in _WORDS_OF_A_CLONE]
    return "".join(f"{line}\n" for line in lines)


def past_lines(beginning: Beginning) -> str:
    """Return what the plugin is told of a boot that goes on from a mark: where the kernel lies, which marks there are.

    It is told all else as at power-on, because what comes later is to be seen as it would have been.
    """
    trace = parse_trace(beginning.trace, str(beginning.boot))
    slide = [] if trace.slide is None else [f"slide {trace.slide:x}"]
    return "".join(f"{line}\n" for line in (*slide, *(f"past {name}" for name in (*trace.marks, *trace.guest_marks))))


@dataclass(frozen=True, slots=True)
class SnapshotWiring:
    """One boot's part in a snapshot, if any: `keeping` or `restored`. `folder`: of this boot alone."""

    system: System
    keeping: KeepRequest | None
    restored: Restored | Beginning | None
    folder: Path

    def files(self, files: BootFiles) -> SnapshotFiles | None:
        """Return where QEMU has its memory and what is written to its disks; made first where it is to be kept.

        Raises BootFailed where the snapshot does not fit.
        """
        asked = self.keeping or self.restored
        if asked is None:
            return None
        ram = asked.folder / RAM if asked.form is MemoryForm.FILE else None
        overlays = tuple(asked.folder / f"disk{index}.qcow2" for index in range(len(files.disks)))
        if self.keeping is not None:
            self._make_room(asked.folder, ram)
            for path, below in zip(overlays, files.disks, strict=True):
                size = str(below.stat().st_size)
                words = ["-o", f"cluster_size={BLOCK}"] if self.keeping.reads else []
                run(["qemu-img", "create", "-q", "-f", "qcow2", *words, path, size], package="qemu-utils")
        reads = self.keeping is not None and self.keeping.reads
        return SnapshotFiles(ram, overlays, incoming=self.restored is not None, reads=reads)

    def identity(self) -> Identity | None:
        """Return who the guest is told to be; None for a system that cannot be told."""
        if self.system.snapshot is None:
            return None
        who = self.restored.identity if self.restored is not None else None
        path = self.folder / "identity"
        path.write_bytes(no_clone() if who is None else who.text)
        return Identity(path, NO_GENERATION if who is None else who.generation)

    async def load(self, qmp: QMPClient) -> None:
        """Have QEMU take up the machine that it goes on from, if it does. Raises BootFailed where it refuses it."""
        if self.restored is None:
            return
        words = {"uri": f"file:{self.restored.folder / STATE}"}
        if error := await _migrate(qmp, "migrate-incoming", words, self.restored.form):
            raise BootFailed(f"QEMU does not take up the machine of {self.restored.folder}: {error}")

    async def keep(self, qmp: QMPClient) -> None:
        """Have QEMU write down a machine that stands still. Raises StoreError."""
        assert self.keeping is not None
        path = self.keeping.folder / STATE
        if error := await _migrate(qmp, "migrate", {"uri": f"file:{path}"}, self.keeping.form):
            raise StoreError(f"{path}: the machine cannot be kept: {error}", hint="free some space, or --runs DIR")

    def _make_room(self, folder: Path, ram: Path | None) -> None:
        expect_room(folder, self.system.machine.memory_mib)
        if ram is not None:
            with ram.open("wb") as file:
                # A page that finds no room later would kill QEMU in mid-boot.
                os.posix_fallocate(file.fileno(), 0, self.system.machine.memory_mib << 20)


async def _migrate(qmp: QMPClient, command: str, words: dict[str, Any], form: MemoryForm) -> str | None:
    """Migrate and wait for its end; returns what went wrong, None where nothing did."""
    try:
        capability = {"capability": form.capability, "state": True}
        await qmp.execute("migrate-set-capabilities", {"capabilities": [capability]})
        # By default a saving machine is as slow as a network link, and one that goes on tells its network five times
        # where it is now, at times of its host's: virtio's card interrupts the guest for each (announce_self()).
        await qmp.execute("migrate-set-parameters", {"max-bandwidth": 1 << 40, "announce-rounds": 0})
        await qmp.execute(command, words)
        async with asyncio.timeout(_MIGRATION_S):
            while True:
                told = await qmp.execute("query-migrate")
                status = told.get("status") if isinstance(told, dict) else None
                if status == "completed":
                    return None
                if status in ("failed", "cancelled"):
                    assert isinstance(told, dict)
                    return str(told.get("error-desc", status))
                await asyncio.sleep(_POLL_S)
    except TimeoutError:
        return f"not done after {_MIGRATION_S:g} s"
    except (QMPError, OSError) as error:
        return str(error) or type(error).__name__
