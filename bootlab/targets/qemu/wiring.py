"""How one boot is connected to its host: files, sockets and descriptors that QEMU is given beside the machine."""

from dataclasses import dataclass
from pathlib import Path

from bootlab.system import Accelerator


@dataclass(frozen=True, slots=True)
class PluginFiles:
    """The plugin, its configuration, where it writes its trace, and its profile if it is to write one.

    `requests`, `writes`: where it writes what modelled disks were asked for, and what was written to them. `log`: where
    QEMU logs `logged`, one of its trace events, and the plugin its marks.
    """

    plugin: Path
    config: Path
    out: Path
    profile: Path | None = None
    requests: Path | None = None
    writes: Path | None = None
    pictures: Path | None = None
    """Where it writes what it sees on the screen."""
    state: Path | None = None
    """The folder where it keeps what it knows of a machine that others go on from."""
    resume: Path | None = None
    """The folder where another boot has kept that."""
    log: Path | None = None
    logged: str = ""


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """The file that is the guest's memory. `shared`: what the guest writes is in it, else it stays as it is."""

    path: Path
    shared: bool


@dataclass(frozen=True, slots=True)
class Overlays:
    """What was written to each disk, as files over what the disks began as. `kept`: what is written goes into them.

    `reads`: and what is read.
    """

    paths: tuple[Path, ...]
    kept: bool
    reads: bool = False


@dataclass(frozen=True, slots=True)
class SnapshotFiles:
    """Where QEMU finds or leaves what a snapshot is made of.

    `ram`: the file that is the guest's memory; None: it is in the state. `overlays`: what was written to each disk.
    `incoming`: it goes on from there; else it begins at power-on, and will be kept, with `reads` what it reads as well.
    """

    ram: Path | None
    overlays: tuple[Path, ...]
    incoming: bool
    reads: bool = False


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the guest is told to be: the file that says so, and the generation of its vmgenid device."""

    file: Path
    generation: str


@dataclass(frozen=True, slots=True)
class Wiring:
    """How this one boot is connected to the host; nothing in it can be seen by the guest."""

    qmp_socket: Path
    accelerator: Accelerator = Accelerator.TCG
    host_port: int | None = None
    """Host TCP port forwarded to `network.guest_port`."""
    plugin: PluginFiles | None = None
    wire: int | None = None
    """The descriptor of bootlab's network peer, which QEMU inherits; None where QEMU's own network answers."""
    snapshot: SnapshotFiles | None = None
    identity: Identity | None = None
    """Of a system that can be told who it is."""
    memory: MemoryFile | None = None
    """Of a boot that leaves its memory to another, or finds it."""
    overlays: Overlays | None = None
    """Of a boot that leaves its disks to another, or finds them."""
    words: str = ""
    """More of the kernel's command line."""
    device_tree: Path | None = None
    """In place of the one that QEMU makes."""
    lasting: bool = False
    """What the guest writes to its disk image and to UEFI's variables is kept: both files are this boot's alone."""

    @property
    def written(self) -> Overlays | None:
        """Return what was written to each disk, of this boot and of those before; None where nothing of it is kept."""
        if self.snapshot is None:
            return self.overlays
        return Overlays(self.snapshot.overlays, kept=not self.snapshot.incoming, reads=self.snapshot.reads)
