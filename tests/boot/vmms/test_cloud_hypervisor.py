"""Cloud Hypervisor for real: in an emulated machine with AMD's SVM its machines boot beside others, by bootlab's verbs.

As test_firecracker.py, which has what the machine is made of. BOOTLAB_CLOUD_HYPERVISOR names the program (scripts/vmm
builds one), BOOTLAB_FIRECRACKER that of Firecracker: where it is there, series are compared. BOOTLAB_VMM_BOOTS says how
many boots a series has.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bootlab.build import boot_files
from bootlab.build.cache import Cache
from bootlab.build.programs import guest
from bootlab.build.workshop import Workshop
from bootlab.measure.record import Outcome
from bootlab.system import read_system
from tests.boot.machines.nested_kvm.host_tree import ROOT, HostTree
from tests.boot.machines.nested_kvm.verbs_inside import run_inside
from tests.boot.vmms.nested_vmms import (
    BOOTED,
    BOOTS,
    CLOUD_HYPERVISOR,
    CLOUD_HYPERVISOR_PROGRAM,
    DISK,
    FIRECRACKER,
    FIRECRACKER_PROGRAM,
    QEMU,
    debian,
    expect_split_series,
    expect_timed_requests,
    expect_whole_storm,
    files_of,
    nested_host,
    put_files,
    require_vmm,
    the_boot,
    told_document,
    write_systems,
)
from tests.handed_over import Table

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

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


def add_systems(tree: HostTree, shop: Workshop, folder: Path) -> None:
    """Put the systems that are booted inside into the tree, with a cache that has all that is made of them."""
    small = boot_files.prepare(shop, read_system(ROOT / "examples" / "cloud-hypervisor.toml"))
    microvm = boot_files.prepare(shop, read_system(ROOT / "examples" / "firecracker" / "qemu.toml"))
    put_files(tree, {"small": small, "microvm": microvm, "debian": debian(shop, DISK_INIT, folder, bus="pci")})
    stock = files_of("debian", "console=ttyS0 panic=-1 cryptomgr.notests")
    inside = write_systems(
        tree,
        {
            "own": CLOUD_HYPERVISOR + files_of("small") + BOOTED,
            "no-api": CLOUD_HYPERVISOR + "api = false\n" + files_of("small") + BOOTED,
            "debian": CLOUD_HYPERVISOR + stock + DISK.format("disk") + BOOTED,
            "firecracker": FIRECRACKER + files_of("microvm") + BOOTED,
            "qemu": QEMU + files_of("microvm") + BOOTED,
        },
    )
    guest.assemble_flat("kvm_probe_x86_64.S", inside)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Boot the machine with SVM and let it do all its work; gives what it told, by name."""
    vmms = {"cloud-hypervisor": require_vmm(CLOUD_HYPERVISOR_PROGRAM, "Cloud Hypervisor")}
    if (other := shutil.which(FIRECRACKER_PROGRAM)) is not None:
        vmms["firecracker"] = Path(other)
    folder = tmp_path_factory.mktemp("nested")
    tree = nested_host(folder, vmms, ("cp", "strace"), qemu=True)
    add_systems(tree, Workshop(Cache.default()), folder)
    verbs = {
        "boot": ["boot", "/systems/own.toml"],
        "no_api": ["boot", "/systems/no-api.toml"],
        "debian": ["boot", "/systems/debian.toml"],
        "profile": ["profile", "/systems/own.toml", "--pairs", "2"],
        "storm": ["storm", "/systems/own.toml", "-n", "6", "--overcommit"],
        "beside_qemu": ["compare", "/systems/own.toml", "/systems/qemu.toml", "-n", str(BOOTS)],
    }
    if other is not None:
        verbs["beside_firecracker"] = ["compare", "/systems/own.toml", "/systems/firecracker.toml", "-n", str(BOOTS)]
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
def test_a_series_beside_others_is_split_into_its_parts(told: dict[str, Any], other: str, table: Table) -> None:
    if f"beside_{other}" not in told:
        pytest.skip("no Firecracker here")
    names = {"firecracker": "Firecracker", "qemu": "QEMU microvm"}
    expect_split_series(told, f"beside_{other}", ("Cloud Hypervisor", names[other]), table)


def test_every_request_to_kvm_is_timed(told: dict[str, Any]) -> None:
    expect_timed_requests(told_document(told, "profile"))


def test_a_storm_of_it_is_complete(told: dict[str, Any], table: Table) -> None:
    expect_whole_storm(told, 6, table)
