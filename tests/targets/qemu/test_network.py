"""The wire of a boot: which systems have one, what QEMU and the plugin are told, and what decides the boot."""

import socket
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import BootFailed
from bootlab.system import System
from bootlab.targets.qemu.network import connect_network, network_hashes


def system(clock: str = "virtual", **network: Any) -> System:
    parts = {"machine": {"type": "q35"}, "kernel": {"image": "k"}, "booted": {"mark": "ready"}}
    return System.model_validate({"name": "x", **parts, "clock": {"kind": clock}, "network": network})


def test_a_system_that_asks_for_the_hosts_network_has_no_wire(tmp_path: Path) -> None:
    assert connect_network(system(guest_port=80), tmp_path, 4000) is None
    assert network_hashes(system(guest_port=80)) == {}


def test_a_wire_has_its_ends_and_the_plugin_is_told(tmp_path: Path) -> None:
    wire = connect_network(system(peer="bootlab"), tmp_path, None)
    assert wire is not None
    with wire.serve(lambda name: None):
        own, plugin = wire.inherited
        assert own == wire.descriptor and wire.config_line == f"network {plugin} net0\n"
        wire.let_go()
    assert (wire.doubts, wire.remarks) == ((), ())


def test_without_a_plugin_there_is_one_end(tmp_path: Path) -> None:
    wire = connect_network(system("wall", peer="bootlab"), tmp_path, None)
    assert wire is not None
    with wire.serve(lambda name: None):
        assert (wire.inherited, wire.config_line) == ((wire.descriptor,), "")
        wire.let_go()


def test_a_port_that_is_taken_is_a_boot_that_does_not_start(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(BootFailed, match="network: "):
            connect_network(system(peer="bootlab", guest_port=80), tmp_path, taken.getsockname()[1])


def test_the_peer_and_its_metadata_decide_a_boot(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("1")
    asked = system(peer="bootlab", metadata=str(tmp_path))
    first = network_hashes(asked)
    assert set(first) == {"network_peer", "network_metadata"}
    (tmp_path / "x").write_text("2")
    second = network_hashes(asked)
    assert first["network_peer"] == second["network_peer"] and first["network_metadata"] != second["network_metadata"]
