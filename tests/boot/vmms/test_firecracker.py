"""Firecracker for real: in an emulated machine with AMD's SVM its microVMs boot beside QEMU's, by bootlab's verbs.

Nested in emulation its times say nothing about speed; each line of bootlab, of Firecracker and of KVM runs as it would
on hardware. BOOTLAB_FIRECRACKER names the program (scripts/vmm builds one). BOOTLAB_VMM_BOOTS says how many
boots a series has.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bootlab.build import boot_files
from bootlab.build.cache import Cache
from bootlab.build.programs import guest
from bootlab.build.workshop import Workshop
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import read_system
from tests.boot.machines.nested_kvm.host_tree import ROOT, HostTree
from tests.boot.machines.nested_kvm.verbs_inside import run_inside
from tests.boot.vmms.nested_vmms import (
    BOOTED,
    BOOTS,
    DISK,
    FIRECRACKER,
    FIRECRACKER_PROGRAM,
    QEMU,
    QUIET,
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

# A Debian as it is, with the boot timer that its init writes to, and a disk.
TIMER_INIT = """#!/bin/busybox sh
export PATH=/bin:/sbin
mount -t devtmpfs devtmpfs /dev
mount -t proc proc /proc
devmem 0xc0000000 8 123
bootlab-mark ready
while read -r module; do insmod "$module"; done </etc/bootlab/modules
until [ -e /dev/vda ]; do usleep 10000; done
mount -t ext4 /dev/vda /mnt && echo written >/mnt/file && sync && umount /mnt && echo "bootlab: check ok"
reboot -f
"""


def add_systems(tree: HostTree, shop: Workshop, folder: Path) -> None:
    """Put the systems that are booted inside into the tree, with a cache that has all that is made of them."""
    microvm = boot_files.prepare(shop, read_system(ROOT / "examples" / "firecracker" / "qemu.toml"))
    put_files(tree, {"microvm": microvm, "debian": debian(shop, TIMER_INIT, folder)})
    stock = files_of("debian", "console=ttyS0 panic=-1 reboot=t cryptomgr.notests")
    timer = BOOTED.replace('mark = "ready"', 'mark = "boot_timer"')
    systems = {
        "firecracker": FIRECRACKER + files_of("microvm") + BOOTED,
        "no-api": FIRECRACKER + "api = false\n" + files_of("microvm") + BOOTED,
        "qemu": QEMU + files_of("microvm") + BOOTED,
        "timer": FIRECRACKER + stock + DISK.format("disk") + timer,
        "broken": FIRECRACKER + files_of("microvm").replace(QUIET, "x" * 3000) + BOOTED,
    }
    guest.assemble_flat("kvm_probe_x86_64.S", write_systems(tree, systems))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Boot the machine with SVM and let it do all its work; gives what it told, by name."""
    program = require_vmm(FIRECRACKER_PROGRAM, "Firecracker")
    folder = tmp_path_factory.mktemp("nested")
    tree = nested_host(folder, {"firecracker": program}, ("cp", "strace"), qemu=True)
    add_systems(tree, Workshop(Cache.default()), folder)
    verbs = {
        "boot": ["boot", "/systems/firecracker.toml"],
        "no_api": ["boot", "/systems/no-api.toml"],
        "timer": ["boot", "/systems/timer.toml"],
        "broken": ["boot", "/systems/broken.toml"],
        "profile": ["profile", "/systems/firecracker.toml", "--pairs", "2"],
        "storm": ["storm", "/systems/firecracker.toml", "-n", "6", "--overcommit"],
        "compare": ["compare", "/systems/firecracker.toml", "/systems/qemu.toml", "-n", str(BOOTS)],
    }
    yield run_inside(tree, verbs, folder, 900 + 60 * BOOTS)


def test_the_microvm_kernel_boots_under_firecracker(told: dict[str, Any]) -> None:
    record = the_boot(told, "boot")
    assert (record.clock, record.accelerator, record.outcome) == ("wall", "kvm", Outcome.READY)
    assert record.vmm is not None and record.vmm.name == "Firecracker"
    assert [step.name for step in record.vmm.launch] == ["VMM start", "API", "VM creation"]
    assert all(step.duration_ns > 0 for step in record.vmm.launch)
    assert record.host["firecracker"] == record.vmm.version and len(record.hashes["firecracker"]) == 64
    assert 0 < record.marks["ready"] < record.wall_s * 1e9
    # It says itself how long its process took to start.
    assert record.vmm.own["process_startup_time"] > 0


def test_without_an_api_it_boots_by_its_configuration_file(told: dict[str, Any]) -> None:
    record = the_boot(told, "no_api")
    assert record.vmm is not None and "--no-api" in record.argv
    assert [step.name for step in record.vmm.launch] == ["VMM start and configuration", "VM creation"]


def test_a_stock_debian_is_ready_by_the_boot_timer_and_writes_to_its_disk(told: dict[str, Any]) -> None:
    record = the_boot(told, "timer")
    assert record.vmm is not None
    assert record.marks["ready"] == record.marks["boot_timer"] > record.marks["init_exec"]
    # The console's mark comes behind the device's, and says the same to what a fork and a serial line take.
    assert record.facts or record.marks["kernel_banner"] > 0
    # Its own figure counts from InstanceStart: the making of the VM is in it, and time 0 of bootlab's is behind that.
    creation = record.vmm.launch[-1].duration_ns
    assert abs(record.vmm.own["guest_boot"] - (record.marks["boot_timer"] + creation)) < 50_000_000


def test_what_it_refuses_is_told_in_its_own_words(told: dict[str, Any]) -> None:
    assert told["broken"]["code"] == 1
    record = BootRecord.model_validate(told["broken"]["document"])
    assert record.outcome is Outcome.NOT_STARTED
    assert "/boot-source: refused (400)" in record.detail and "ommand line" in record.detail


def test_a_series_beside_qemu_is_split_into_its_parts(told: dict[str, Any], table: Table) -> None:
    expect_split_series(told, "compare", ("Firecracker", "QEMU microvm"), table)


def test_every_request_to_kvm_is_timed(told: dict[str, Any]) -> None:
    expect_timed_requests(told_document(told, "profile"))


def test_a_storm_of_it_is_complete(told: dict[str, Any], table: Table) -> None:
    expect_whole_storm(told, 6, table)
