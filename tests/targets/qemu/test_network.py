"""The wire of a boot: which systems have one, what QEMU and the plugin are told, and what decides the boot."""

import socket
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import BootFailed
from bootlab.system import System
from bootlab.targets.qemu.network import GuestNetwork, read_network


def system(clock: str = "virtual", **network: Any) -> System:
    parts = {"machine": {"type": "q35"}, "kernel": {"image": "k"}, "booted": {"mark": "ready"}}
    return System.model_validate({"name": "x", **parts, "clock": {"kind": clock}, "network": network})


def network_of(asked: System) -> GuestNetwork:
    network = read_network(asked)
    assert network is not None
    return network


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_system_that_asks_for_the_hosts_network_has_none_of_ours() -> None:
    assert read_network(system(guest_port=80)) is None


def test_a_wire_has_its_ends_the_plugin_is_told_and_nothing_stays_open(tmp_path: Path) -> None:
    before = open_files()
    with network_of(system(peer="bootlab")).connect(tmp_path, None) as wire:
        own, plugin = wire.inherited
        assert own == wire.descriptor and wire.config_line == f"network {plugin} net0\n"
        wire.let_go(lambda name: None)
    assert (wire.doubts, wire.remarks, open_files()) == ((), (), before)


def test_without_a_plugin_there_is_one_end(tmp_path: Path) -> None:
    with network_of(system("wall", peer="bootlab")).connect(tmp_path, None) as wire:
        assert (wire.inherited, wire.config_line) == ((wire.descriptor,), "")


def test_a_boot_that_does_not_start_leaves_nothing_open(tmp_path: Path) -> None:
    asked = network_of(system(peer="bootlab", guest_port=80))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        before = open_files()
        with pytest.raises(BootFailed, match="network: "), asked.connect(tmp_path, taken.getsockname()[1]):
            pass
        with pytest.raises(RuntimeError), asked.connect(tmp_path, None):
            raise RuntimeError
        assert open_files() == before


def test_the_peer_and_its_metadata_decide_a_boot_as_they_were_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("1")
    asked = system(peer="bootlab", metadata=str(tmp_path))
    first = network_of(asked)
    assert set(first.hashes) == {"network_peer", "network_metadata"}
    (tmp_path / "x").write_text("2")
    second = network_of(asked)
    assert first.files == {"/x": b"1"} and first.hashes["network_metadata"] != second.hashes["network_metadata"]
    assert first.hashes["network_peer"] == second.hashes["network_peer"]
