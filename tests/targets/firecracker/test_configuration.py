"""What Firecracker is told: its command line, its requests in order, and the same as one file."""

from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.system import BootFiles, Firecracker, System
from bootlab.targets.firecracker.configuration import (
    MachinePlaces,
    configuration_file,
    configuring_calls,
    firecracker_argv,
)
from bootlab.targets.firecracker.jail import Jail
from bootlab.targets.vmm.disks import drive_names

SYSTEM = {
    "name": "told",
    "target": {"kind": "firecracker", "tap": "tap0", "mac": "06:00:ac:10:00:02", "huge_pages": "2M"},
    "machine": {"memory_mib": 256, "vcpus": 2},
    "kernel": {"image": "/vmlinux", "cmdline": "console=ttyS0 root=/dev/vda"},
    "network": {},
    "disks": [{"size_mib": 1}, {"size_mib": 1}],
    "booted": {"mark": "ready"},
}
FILES = BootFiles(kernel=Path("/vmlinux"), initramfs=Path("/initramfs"))


def told(**target: object) -> tuple[System, Firecracker]:
    system = System.model_validate({**SYSTEM, "target": {**SYSTEM["target"], **target}})  # type: ignore[dict-item]
    assert isinstance(system.target, Firecracker)
    return system, system.target


@pytest.fixture
def places() -> MachinePlaces:
    root = Path("/f")
    disks = (Path("disk0"), Path("disk1"))
    return MachinePlaces(root, root / "log", root / "metrics", root / "api", root / "c.json", disks)


def test_the_requests_are_in_order_and_name_every_file(places: MachinePlaces, tmp_path: Path) -> None:
    system, target = told(mmds=tmp_path)
    calls = configuring_calls(system, target, FILES, places, {"a": "b"})
    assert [call.name for call in calls] == [
        "PUT /machine-config", "PUT /boot-source", "PUT /drives/disk0", "PUT /drives/disk1",
        "PUT /network-interfaces/net0", "PUT /mmds/config", "PUT /mmds",
    ]  # fmt: skip
    machine, source, first, _, card, _, metadata = (call.body for call in calls)
    assert machine == {
        "vcpu_count": 2, "mem_size_mib": 256, "smt": False, "track_dirty_pages": False, "huge_pages": "2M",
    }  # fmt: skip
    assert source == {
        "kernel_image_path": "/vmlinux", "boot_args": "console=ttyS0 root=/dev/vda", "initrd_path": "/initramfs",
    }  # fmt: skip
    assert first == {
        "drive_id": "disk0", "path_on_host": "disk0", "is_root_device": False, "is_read_only": False,
    }  # fmt: skip
    assert card == {"iface_id": "net0", "host_dev_name": "tap0", "guest_mac": "06:00:ac:10:00:02"}
    assert metadata == {"a": "b"} and drive_names(system) == ["disk0", "disk1"]


def test_the_file_says_the_same(places: MachinePlaces, tmp_path: Path) -> None:
    system, target = told(mmds=tmp_path)
    calls = configuring_calls(system, target, FILES, places, {"a": "b"})
    document = configuration_file(calls)
    assert sorted(document) == ["boot-source", "drives", "machine-config", "mmds-config", "network-interfaces"]
    assert [drive["drive_id"] for drive in document["drives"]] == ["disk0", "disk1"]
    assert document["machine-config"] == calls[0].body


def test_its_command_line(places: MachinePlaces) -> None:
    _, target = told(pci=True, seccomp=False)
    argv = firecracker_argv(target, places, 7)
    assert argv[:3] == ["firecracker", "--id", "bootlab"] and argv[argv.index("--api-sock") + 1] == "/f/api"
    assert argv[argv.index("--start-time-us") + 1] == "7" and "--boot-timer" in argv
    assert argv[-2:] == ["--enable-pci", "--no-seccomp"]


def test_without_an_api_it_reads_a_file(places: MachinePlaces, tmp_path: Path) -> None:
    _, target = told(api=False, mmds=tmp_path, boot_timer=False)
    argv = firecracker_argv(target, replace(places, socket=None))
    assert argv[argv.index("--no-api") + 1 :][:2] == ["--config-file", "/f/c.json"]
    assert argv[argv.index("--metadata") + 1] == str(tmp_path) and "--boot-timer" not in argv
    assert "--api-sock" not in argv


def test_in_a_jail_it_is_told_what_it_sees_there_and_the_jailer_all_else(tmp_path: Path) -> None:
    root = tmp_path / "firecracker" / "mine" / "root"
    jail = Jail(root, 12, 34, ())
    _, target = told(
        jailer="/jailer", uid=12, gid=34, cgroup_version=2, cgroups=["cpu.weight=100", "pids.max=9"],
        parent_cgroup="a/b", netns=Path("/run/netns/x"), resource_limits=["no-file=99"], binary="/bin/firecracker",
    )  # fmt: skip
    places = MachinePlaces(root, root / "log", root / "metrics", root / "api", root / "c.json", (), jail=jail)
    assert firecracker_argv(target, places, 5) == [
        "/jailer", "--id", "mine", "--exec-file", "/bin/firecracker", "--uid", "12", "--gid", "34",
        "--chroot-base-dir", str(tmp_path), "--cgroup-version", "2", "--parent-cgroup", "a/b",
        "--netns", "/run/netns/x", "--cgroup", "cpu.weight=100", "--cgroup", "pids.max=9",
        "--resource-limit", "no-file=99", "--",
        "--log-path", "/log", "--level", "Debug", "--show-level", "--metrics-path", "/metrics",
        "--api-sock", "/api", "--boot-timer",
    ]  # fmt: skip
