"""Connects QEMU's network card to bootlab's own network: the sockets of a boot, and what of it decides the boot."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import bootlab.network
from bootlab.errors import BootFailed
from bootlab.network.capture import CAPTURE
from bootlab.network.metadata import read_folder
from bootlab.network.peer import Peer
from bootlab.network.service import NetworkService
from bootlab.system import ClockKind, NetworkPeer, System
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

    @contextmanager
    def serve(self, told: Callable[[str], None]) -> Iterator[None]:
        """Answer the guest for as long as this lasts; `told` is called with each mark that a probe makes."""
        self.service.told = told
        with self.service:
            yield

    def let_go(self) -> None:
        """QEMU has its ends."""
        self.service.let_go()


def connect_network(system: System, directory: Path, port: int | None) -> Wire | None:
    """Return the wire of a boot that bootlab answers, None for any other. `port`: of the host, for the guest's.

    Raises InputError for metadata that cannot be read, BootFailed for a port or file that cannot be had.
    """
    network = system.network
    if network is None or network.peer is not NetworkPeer.BOOTLAB:
        return None
    peer = Peer(network, read_folder(network.metadata) if network.metadata is not None else {})
    try:
        service = NetworkService(peer, directory / CAPTURE, virtual=system.clock.kind is ClockKind.VIRTUAL)
        if port is not None and network.guest_port is not None:
            service.listen(port, network.guest_port)
    except OSError as error:
        raise BootFailed(f"network: {error.strerror or error}") from error
    return Wire(service)


def network_hashes(system: System) -> dict[str, str]:
    """Return the sha256 of what decides a boot with bootlab's own network: who answers, and the metadata."""
    network = system.network
    if network is None or network.peer is not NetworkPeer.BOOTLAB:
        return {}
    code = hashlib.sha256()
    for path in sorted(Path(bootlab.network.__file__).parent.glob("*.py")):
        code.update(path.read_bytes())
    hashes = {"network_peer": code.hexdigest()}
    if network.metadata is not None:
        files = read_folder(network.metadata)
        text = repr([(name, hashlib.sha256(data).hexdigest()) for name, data in files.items()])
        hashes["network_metadata"] = hashlib.sha256(text.encode()).hexdigest()
    return hashes
