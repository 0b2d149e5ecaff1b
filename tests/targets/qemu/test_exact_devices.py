"""Disks that answer at once: which they are, what QEMU is told of them, and why another one does not."""

from typing import Any

import pytest

from bootlab.system import System
from bootlab.targets.qemu.exact_devices import are_exact, device_options, inexact_disks, machine_options

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
