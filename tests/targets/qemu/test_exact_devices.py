"""Disks that answer at once: which they are, what QEMU is told of them, and why another one does not."""

from typing import Any

import pytest

from bootlab.system import System
from bootlab.targets.qemu.exact_devices import (
    are_exact,
    device_options,
    inexact_disks,
    inexact_network,
    machine_options,
    modelled_lines,
    modelled_options,
)

KERNEL = {"kernel": {"image": "k"}, "booted": {"mark": "ready"}}
ROOT = {"path": "root.img"}


def system(**parts: Any) -> System:
    return System.model_validate({"name": "x", "machine": {"type": "q35"}, **KERNEL, **parts})


@pytest.mark.parametrize(
    ("parts", "exact"),
    [
        ({}, False),
        ({"rootfs": ROOT}, True),
        ({"rootfs": {**ROOT, "device": "pmem"}}, False),
        ({"rootfs": {**ROOT, "device": "nvme"}}, True),
        ({"rootfs": {**ROOT, "device": "scsi"}}, True),
        ({"disks": [{"size_mib": 16}]}, True),
        ({"disks": [{"size_mib": 16, "attach": "ahci"}]}, False),
        ({"disks": [{"size_mib": 16, "attach": "scsi"}]}, True),
        ({"disks": [{"size_mib": 16, "attach": "nvme"}]}, True),
        ({"disks": [{"size_mib": 16, "attach": "usb"}], "rootfs": ROOT}, True),
        ({"rootfs": ROOT, "clock": {"kind": "wall"}}, False),
    ],
)
def test_disks_on_virtio_and_nvme_answer_at_once_on_the_virtual_clock(parts: dict[str, Any], exact: bool) -> None:
    assert are_exact(system(**parts)) == exact


def test_a_device_that_answers_at_once_takes_one_request_and_is_asked_by_a_store() -> None:
    pci = device_options("virtio-blk-pci").split(",")
    assert {"num-queues=1", "queue-size=4", "indirect_desc=off", "ioeventfd=off", "disable-legacy=on"} == set(pci)
    mmio = device_options("virtio-blk-device").split(",")
    assert set(mmio) < set(pci) and machine_options("virtio-blk-device") == ["-global", "virtio-mmio.ioeventfd=off"]
    assert "cmd_per_lun=1" in device_options("virtio-scsi-pci") and "mqes=1" in device_options("nvme")
    assert device_options("ide-hd") == "" and machine_options("ide-hd") == machine_options("virtio-blk-pci") == []


def test_each_other_disk_is_named_with_its_reason() -> None:
    disks = [{"size_mib": 16}, {"size_mib": 16, "attach": "usb"}, {"size_mib": 16, "attach": "ahci"}]
    usb, ahci = inexact_disks(system(disks=disks))
    assert usb.startswith('disks.1.attach = "usb": a USB controller') and ahci.startswith('disks.2.attach = "ahci": an')
    assert all(line.endswith('attach = "virtio" does') for line in (usb, ahci))
    assert inexact_disks(system(disks=disks, clock={"kind": "wall"})) == []


@pytest.mark.parametrize(
    ("word", "parts", "doubted"),
    [
        ("ip=dhcp", {"network": {}}, True),
        ("ip=10.0.2.15::10.0.2.2:255.255.255.0::eth0:off", {"network": {}}, True),
        ("ip=off", {"network": {}}, False),
        ("noip=dhcp", {"network": {}}, False),
        ("ip=dhcp ip=off", {"network": {}}, False),
        ("ip=dhcp", {}, False),
        ("ip=dhcp", {"network": {"peer": "bootlab"}}, False),
        ("ip=dhcp", {"network": {}, "clock": {"kind": "wall"}}, False),
    ],
)
def test_the_host_answers_a_card_that_the_kernel_sets_up(word: str, parts: dict[str, Any], doubted: bool) -> None:
    doubts = inexact_network(system(**{**parts, "kernel": {"image": "k", "cmdline": f"quiet {word} panic=-1"}}))
    assert [line.startswith(f"kernel.cmdline: {word}: ") for line in doubts] == [True] * doubted


def test_a_modelled_disk_takes_as_many_requests_as_its_device_and_the_plugin_has_its_figures() -> None:
    modelled = system(rootfs={**ROOT, "model": "sd"}, disks=[{"size_mib": 16}, {"size_mib": 16, "model": "ssd"}])
    card, ssd = modelled.modelled_disks["rootfs"], modelled.modelled_disks["disk1"]
    pci = modelled_options(card, "virtio-blk-pci").split(",")
    assert {"queue-size=4", "event_idx=off", "ioeventfd=off", "disable-legacy=on"} < set(pci)
    assert modelled_options(ssd, "virtio-blk-device").startswith("num-queues=1,queue-size=32,")
    lines = modelled_lines(modelled).splitlines()
    assert lines[0] == "disk rootfs flash" and "figure disk1 depth 32" in lines
    assert not any(line.endswith(" 0") or " disk0 " in line for line in lines)
    assert modelled_lines(system(rootfs=ROOT)) == ""
    kept = system(rootfs={**ROOT, "model": "sd", "keep_writes": True})
    assert modelled_lines(kept).splitlines()[-1] == "keepwrites rootfs"
