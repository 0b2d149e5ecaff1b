"""What of the models of disks, network and host enters a boot's key: the last column of docs/measuring.md's table."""

from pathlib import Path
from typing import Any

import pytest

from bootlab.system import System
from bootlab.targets.boot_key import boot_key
from bootlab.targets.qemu.exact_devices import modelled_lines
from bootlab.targets.qemu.host_charges import charge_lines, model_hash

DISK = {"size_mib": 16}
ROOT = {"path": Path("root.ext4")}
PC: dict[str, Any] = {
    "name": "x",
    "machine": {"type": "q35"},
    "kernel": {"image": Path("k")},
    "rootfs": ROOT,
    "disks": [DISK],
    "network": {"guest_port": 80},
    "booted": {"mark": "ready"},
}
IMAGE: dict[str, Any] = {
    "name": "x", "machine": {"type": "q35"}, "image": {"path": Path("i")}, "booted": {"console": "login:"}
}  # fmt: skip


def key(base: dict[str, Any], **changes: Any) -> str:
    """Return the key of a system as QEMU's target makes it, but for the content of files."""
    system = System.model_validate({**base, **changes})
    return boot_key(system, model_hash(system), modelled_lines(system) + charge_lines(system))


@pytest.mark.parametrize(
    ("base", "changes"),
    [
        (PC, {"clock": {"shift": 1}}),
        (PC, {"clock": {"charges": {"vfs_read": 1000}}}),
        (PC, {"clock": {"host_model": "lean"}}),
        (PC, {"clock": {"tick_us": 4000}}),
        (PC, {"storage": {"mb_s": 20.0}}),
        (PC, {"disks": [{**DISK, "model": "hdd"}]}),
        (PC, {"disks": [{**DISK, "attach": "nvme"}]}),
        (PC, {"rootfs": {**ROOT, "model": "hdd"}}),
        (PC, {"rootfs": {**ROOT, "device": "pmem"}}),
        (PC, {"network": {"guest_port": 80, "peer": "bootlab"}}),
        (PC, {"network": {"guest_port": 81}}),
        (IMAGE, {"image": {"path": Path("i"), "attach": "nvme"}}),
        (IMAGE, {"image": {"path": Path("i"), "model": "hdd"}}),
    ],
)
def test_a_model_is_in_the_key(base: dict[str, Any], changes: dict[str, Any]) -> None:
    assert key(base, **changes) != key(base)


def test_each_figure_of_a_disk_is_in_the_key() -> None:
    slow, fast = (
        key(PC, disks=[{**DISK, "model": {"like": "hdd", "turn_ns": turn_ns}}]) for turn_ns in (8_333_333, 11_111_111)
    )
    assert slow != fast


@pytest.mark.parametrize(
    "changes", [{"name": "y"}, {"description": "y"}, {"rootfs": {"path": Path("elsewhere/root.ext4")}}]
)
def test_names_and_places_are_not(changes: dict[str, Any]) -> None:
    assert key(PC, **changes) == key(PC)
