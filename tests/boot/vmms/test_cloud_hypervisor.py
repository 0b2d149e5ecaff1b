"""Cloud Hypervisor for real: in an emulated machine with AMD's SVM its machines boot beside others, by bootlab's verbs.

As test_firecracker.py, which has what the machine is made of. BOOTLAB_CLOUD_HYPERVISOR names the program (scripts/vmm
builds one), BOOTLAB_FIRECRACKER that of Firecracker: where it is there, series are compared. BOOTLAB_VMM_BOOTS says how
many boots a series has.
"""

import json
import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bootlab.build import boot_files
from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.record import Outcome
from bootlab.system import System, read_system
from tests.boot.machines.nested_kvm.host_tree import ROOT, HostTree
from tests.boot.machines.nested_kvm.verbs_inside import run_inside
from tests.boot.vmms.test_firecracker import (
    BOOTED,
    BOOTS,
    FILES_OF,
    FIRECRACKER,
    KERNEL,
    QEMU,
    QUIET,
    the_boot,
)
from tests.boot.vmms.test_firecracker import PROGRAM as OTHER

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

PROGRAM = os.environ.get("BOOTLAB_CLOUD_HYPERVISOR", "cloud-hypervisor")
TARGET = '[target]\nkind = "cloud-hypervisor"\nbinary = "/cloud-hypervisor"\nprobe = false\n'
# A Debian as it is, which writes to its disk and switches itself off.
DISK_INIT = """#!/bin/busybox sh
export PATH=/bin:/sbin
mount -t devtmpfs devtmpfs /dev
mount -t proc proc /proc
bootlab-mark ready
while read -r module; do insmod "$module"; done </etc/bootlab/modules
until [ -e /dev/vda ]; do usleep 10000; done
mount -t ext4 /dev/vda /mnt && echo written >/mnt/file && sync && umount /mnt && echo "bootlab: check ok"
poweroff -f
"""


def add_systems(tree: HostTree, cache: Cache, folder: Path) -> None:
    """Put the systems that are booted inside into the tree, with a cache that has all that is made of them."""
    inside, shop = Cache(tree.at("/cache")), Workshop(cache)
    small = boot_files.prepare(shop, read_system(ROOT / "examples" / "cloud-hypervisor.toml"))
    microvm = boot_files.prepare(shop, read_system(ROOT / "examples" / "firecracker" / "qemu.toml"))
    (folder / "init").write_text(DISK_INIT)
    debian = boot_files.prepare(
        shop,
        System.model_validate(
            {
                "name": "inner",
                "machine": {"type": "q35"},
                "kernel": {**KERNEL, "entry": "pvh"},
                "initramfs": {
                    "init": folder / "init",
                    "modules": ["virtio_pci", "virtio_blk", "ext4"],
                    "compression": "none",
                },
                "disks": [{"size_mib": 4}],
                "booted": {"mark": "ready"},
            }
        ),
    )
    for name, files in (("small", small), ("microvm", microvm), ("debian", debian)):
        assert files.initramfs is not None
        tree.put(files.kernel, f"/systems/{name}.vmlinux")
        tree.put(files.initramfs, f"/systems/{name}.initramfs")
    tree.put(debian.disks[0], "/systems/disk")
    own = FILES_OF.format(kernel="small.vmlinux", initramfs="small.initramfs", cmdline=QUIET)
    others = FILES_OF.format(kernel="microvm.vmlinux", initramfs="microvm.initramfs", cmdline=QUIET)
    stock = FILES_OF.format(
        kernel="debian.vmlinux", initramfs="debian.initramfs", cmdline="console=ttyS0 panic=-1 cryptomgr.notests"
    )
    systems = {
        "own": TARGET + own + BOOTED,
        "no-api": TARGET + "api = false\n" + own + BOOTED,
        "debian": TARGET + stock + '[[disks]]\npath = "disk"\n' + BOOTED,
        "firecracker": FIRECRACKER + others + BOOTED,
        "qemu": QEMU + others + BOOTED,
    }
    for name, text in systems.items():
        path = tree.at(f"/systems/{name}.toml")
        path.write_text(text)
        boot_files.prepare(Workshop(inside), read_system(path))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Boot the machine with SVM and let it do all its work; gives what it told, by name."""
    program, other = shutil.which(PROGRAM), shutil.which(OTHER)
    if program is None:
        pytest.skip("no Cloud Hypervisor here: scripts/vmm builds one, BOOTLAB_CLOUD_HYPERVISOR names it")
    if platform.machine() != "x86_64":
        pytest.skip("KVM's SVM needs an x86-64 host's own programs")
    folder, cache = tmp_path_factory.mktemp("nested"), Cache.default()
    tree = HostTree(folder / "tree")
    tree.add_qemu()
    tree.add_python()
    tree.add_bootlab()
    tree.add_binaries([Path(shutil.which(name) or name) for name in ("cp", "strace")])
    tree.put(Path(program), "/cloud-hypervisor")
    if other is not None:
        tree.put(Path(other), "/firecracker")
    add_systems(tree, cache, folder)
    n = str(max(5, BOOTS))
    verbs = {
        "boot": ["boot", "/systems/own.toml"],
        "no_api": ["boot", "/systems/no-api.toml"],
        "debian": ["boot", "/systems/debian.toml"],
        "profile": ["profile", "/systems/own.toml", "--pairs", "2"],
        "storm": ["storm", "/systems/own.toml", "-n", "6", "--overcommit"],
        "beside_qemu": ["compare", "/systems/own.toml", "/systems/qemu.toml", "-n", n],
    }
    if other is not None:
        verbs["beside_firecracker"] = ["compare", "/systems/own.toml", "/systems/firecracker.toml", "-n", n]
    yield run_inside(tree, verbs, folder, 900 + 120 * BOOTS)


def test_a_built_kernel_boots_under_it(told: dict[str, Any]) -> None:
    record = the_boot(told, "boot")
    assert (record.clock, record.accelerator, record.outcome) == ("wall", "kvm", Outcome.READY)
    assert record.vmm is not None and record.vmm.name == "Cloud Hypervisor"
    assert [step.name for step in record.vmm.launch] == ["VMM start", "API", "VM creation"]
    assert all(step.duration_ns > 0 for step in record.vmm.launch)
    assert record.host["cloud-hypervisor"] == record.vmm.version and len(record.hashes["cloud-hypervisor"]) == 64
    assert 0 < record.marks["ready"] < record.wall_s * 1e9
    # Its own events: it made the machine between these two.
    own = record.vmm.own
    assert 0 <= own["vmm starting"] < own["vm booting"] < own["vm booted"]
    creation = record.vmm.launch[-1].duration_ns
    assert creation <= own["vm booted"] - own["vm booting"] + 1_000_000


def test_without_an_api_it_boots_by_its_command_line(told: dict[str, Any]) -> None:
    record = the_boot(told, "no_api")
    assert record.vmm is not None and "--kernel" in record.argv and "--api-socket" not in record.argv
    assert [step.name for step in record.vmm.launch] == ["VMM start and configuration", "VM creation"]


def test_a_stock_debian_writes_to_its_disk(told: dict[str, Any]) -> None:
    record = the_boot(told, "debian")
    assert record.marks["ready"] > record.marks["init_exec"] > 0
    assert record.vmm is not None and "virtio-device activated disk0" in record.vmm.own


@pytest.mark.parametrize("other", ["qemu", "firecracker"])
def test_a_series_beside_others_is_split_into_its_parts(told: dict[str, Any], other: str) -> None:
    if f"beside_{other}" not in told:
        pytest.skip("no Firecracker here")
    assert told[f"beside_{other}"]["code"] == 0, told[f"beside_{other}"]
    compared = told[f"beside_{other}"]["document"]
    print(f"{compared['verdict']}: {compared['detail']}")
    for side in ("before", "after"):
        parts = compared["parts"][side]
        assert parts[-1]["name"] == "VMM start to ready" and len(parts) >= 4
        for part in parts:
            times = sorted(part["times_ns"])
            assert len(times) == max(5, BOOTS)
            middle, least, most = (ns / 1e6 for ns in (times[len(times) // 2], times[0], times[-1]))
            print(f"{side} {part['name']}: {middle:.2f} ms, {least:.2f} to {most:.2f}")


def test_every_request_to_kvm_is_timed(told: dict[str, Any]) -> None:
    assert told["profile"]["code"] == 0, told["profile"]
    (imported,) = told["profile"]["document"]["imported"]
    text = json.dumps(imported)
    for said in ("KVM_CREATE_VM took", "KVM_SET_USER_MEMORY_REGION", "page faults up to ready", "(KVM_RUN)"):
        assert said in text, text[:3000]


def test_a_storm_of_it_is_complete(told: dict[str, Any]) -> None:
    assert told["storm"]["code"] == 0, told["storm"]
    storm = told["storm"]["document"]
    assert (storm["ready"], storm["accelerator"]) == (6, "kvm")
    assert all(machine["pss_kib"] > 0 and machine["launch_ns"] > 0 for machine in storm["machines"])
    print(storm["p50_ns"], storm["p99_ns"], storm["serialised_by"])
