"""Connects QEMU's network card to bootlab's own network: the sockets of a boot, and what of it decides the boot."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import bootlab.network
from bootlab.errors import BootFailed
from bootlab.network.capture import CAPTURE
from bootlab.network.metadata import read_folder
from bootlab.network.peer import Peer
from bootlab.network.service import NetworkService
from bootlab.system import ClockKind, Network, NetworkPeer, System
from bootlab.targets.qemu.argv import NETDEV


@dataclass
class Wire:
    """The wire of one boot. `descriptor`: QEMU's end of it; `inherited`: all that QEMU has to have."""

    service: NetworkService

    @property
    def descriptor(self) -> int:
        return self.service.guest_end.fileno()

    @property
    def inherited(self) -> tuple[int, ...]:
        plugin = self.service.plugin_end
        return (self.descriptor, *([plugin.fileno()] if plugin is not None else []))

    @property
    def config_line(self) -> str:
        """Return what the plugin is told (plugin/trace_format.h); empty where no plugin is asked."""
        plugin = self.service.plugin_end
        return f"network {plugin.fileno()} {NETDEV}\n" if plugin is not None else ""

    @property
    def doubts(self) -> tuple[str, ...]:
        return (f"network: nobody answered any more: {self.service.error}",) if self.service.error else ()

    @property
    def remarks(self) -> tuple[str, ...]:
        return tuple(self.service.remarks)

    def let_go(self, told: Callable[[str], None]) -> None:
        """QEMU has its ends. `told` is called with each mark that a probe makes, from another thread."""
        self.service.told = told
        self.service.let_go()


@dataclass(frozen=True)
class GuestNetwork:
    """What answers the boots of a system, read once: a metadata file that changes later is not theirs."""

    settings: Network
    files: Mapping[str, bytes]
    virtual: bool

    @property
    def hashes(self) -> dict[str, str]:
        """Return the sha256 of what decides a boot besides the system file: who answers, and the metadata."""
        code = hashlib.sha256()
        for path in sorted(Path(bootlab.network.__file__).parent.glob("*.py")):
            code.update(path.read_bytes())
        hashes = {"network_peer": code.hexdigest()}
        if self.settings.metadata is not None:
            text = repr([(name, hashlib.sha256(data).hexdigest()) for name, data in self.files.items()])
            hashes["network_metadata"] = hashlib.sha256(text.encode()).hexdigest()
        return hashes

    @contextmanager
    def connect(self, directory: Path, port: int | None) -> Iterator[Wire]:
        """Answer one boot for as long as this lasts; `port` of this host is carried to the guest's.

        Raises BootFailed for a port or file that cannot be had.
        """
        with ExitStack() as stack:
            try:
                service = NetworkService(Peer(self.settings, self.files), directory / CAPTURE, virtual=self.virtual)
                stack.callback(service.close)
                if port is not None and self.settings.guest_port is not None:
                    service.listen(port, self.settings.guest_port)
            except OSError as error:
                raise BootFailed(f"network: {error.strerror or error}") from error
            service.start()
            yield Wire(service)


def read_network(system: System) -> GuestNetwork | None:
    """Return what answers a system's boots, None where QEMU's own network does. Raises InputError for its metadata."""
    network = system.network
    if network is None or network.peer is not NetworkPeer.BOOTLAB:
        return None
    files = read_folder(network.metadata) if network.metadata is not None else {}
    return GuestNetwork(network, files, system.clock.kind is ClockKind.VIRTUAL)
