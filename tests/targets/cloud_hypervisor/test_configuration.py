"""What Cloud Hypervisor is told: its requests in order, and the same as words of its command line."""

from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.system import BootFiles, CloudHypervisor, System
from bootlab.targets.cloud_hypervisor.configuration import (
    BootPlaces,
    cloud_hypervisor_argv,
    configuring_calls,
    machine_document,
)

SYSTEM = {
    "name": "told",
    "target": {"kind": "cloud-hypervisor", "tap": "tap0", "mac": "06:00:ac:10:00:02", "huge_pages": "2M"},
    "machine": {"memory_mib": 256, "vcpus": 2},
    "kernel": {"image": "/vmlinux", "cmdline": "console=ttyS0 root=/dev/vda"},
    "network": {},
    "disks": [{"size_mib": 1}, {"size_mib": 1}],
    "booted": {"mark": "ready"},
}
FILES = BootFiles(kernel=Path("/vmlinux"), initramfs=Path("/initramfs"))
PLACES = BootPlaces(Path("/f"), Path("/f/log"), Path("/run/events"), Path("/f/api"))


def told(**target: object) -> tuple[System, CloudHypervisor]:
    system = System.model_validate({**SYSTEM, "target": {**SYSTEM["target"], **target}})  # type: ignore[dict-item]
    assert isinstance(system.target, CloudHypervisor)
    return system, system.target


def test_the_machine_names_every_file() -> None:
    system, target = told(prefault=True, thp=False)
    assert machine_document(system, target, FILES) == {
        "cpus": {"boot_vcpus": 2, "max_vcpus": 2},
        "memory": {
            "size": 256 << 20, "hugepages": True, "prefault": True, "shared": False, "thp": False,
            "hugepage_size": 2 << 20,
        },
        "payload": {"kernel": "/vmlinux", "cmdline": "console=ttyS0 root=/dev/vda", "initramfs": "/initramfs"},
        "serial": {"mode": "Tty"},
        "console": {"mode": "Off"},
        "disks": [
            {"id": "disk0", "path": "disk0", "image_type": "Raw"}, {"id": "disk1", "path": "disk1", "image_type": "Raw"}
        ],
        "net": [{"id": "net0", "tap": "tap0", "mac": "06:00:ac:10:00:02"}],
    }  # fmt: skip


def test_the_drive_that_says_who_a_clone_is_comes_last() -> None:
    for disks, names in ([{"size_mib": 1}], ["disk0", "clone"]), ([], ["clone"]):
        system, target = told()
        system = System.model_validate({**SYSTEM, "disks": disks, "snapshot": {}})
        drives = machine_document(system, target, FILES)["disks"]
        assert [one["path"] for one in drives] == names
        assert drives[-1] == {"id": "clone", "path": "clone", "image_type": "Raw", "readonly": True}
        words = cloud_hypervisor_argv(target, replace(PLACES, socket=None), {**machine_document(system, target, FILES)})
        assert "id=clone,path=clone,image_type=raw,readonly=on" in words


def test_the_requests_are_in_order() -> None:
    system, target = told()
    document = machine_document(system, target, FILES)
    calls = configuring_calls(document)
    assert [call.name for call in calls] == ["GET /api/v1/vmm.ping", "PUT /api/v1/vm.create"]
    assert calls[1].body == document


@pytest.mark.parametrize("seccomp", [True, False])
def test_its_command_line(seccomp: bool) -> None:
    system, target = told(seccomp=seccomp)
    argv = cloud_hypervisor_argv(target, PLACES, machine_document(system, target, FILES))
    assert argv[:3] == ["cloud-hypervisor", "--log-file", "/f/log"] and argv[-2:] == ["--api-socket", "/f/api"]
    assert argv[argv.index("--event-monitor") + 1] == "path=/run/events"
    assert ("--seccomp" not in argv) is seccomp and "--kernel" not in argv


def test_without_an_api_the_command_line_says_the_same() -> None:
    system, target = told(api=False)
    argv = cloud_hypervisor_argv(target, replace(PLACES, socket=None), machine_document(system, target, FILES))
    assert argv[argv.index("--cpus") :] == [
        "--cpus", "boot=2,max=2",
        "--memory", "size=268435456,hugepages=on,prefault=off,shared=off,thp=on,hugepage_size=2097152",
        "--kernel", "/vmlinux", "--cmdline", "console=ttyS0 root=/dev/vda", "--initramfs", "/initramfs",
        "--disk", "id=disk0,path=disk0,image_type=raw", "id=disk1,path=disk1,image_type=raw",
        "--net", "id=net0,tap=tap0,mac=06:00:ac:10:00:02",
        "--serial", "tty", "--console", "off",
    ]  # fmt: skip
