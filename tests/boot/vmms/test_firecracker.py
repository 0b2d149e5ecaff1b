"""Firecracker for real: in an emulated machine with AMD's SVM its microVMs boot beside QEMU's, by bootlab's verbs.

Nested in emulation its times say nothing about speed; each line of bootlab, of Firecracker and of KVM runs as it would
on hardware. BOOTLAB_FIRECRACKER names the program (scripts/vmm builds one). BOOTLAB_VMM_BOOTS says how many
boots a series has.
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
from bootlab.build.programs import guest
from bootlab.build.workshop import Workshop
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System, read_system
from tests.boot.machines.nested_kvm.host_tree import ROOT, HostTree
from tests.boot.machines.nested_kvm.verbs_inside import run_inside

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

PROGRAM = os.environ.get("BOOTLAB_FIRECRACKER", "firecracker")
BOOTS = int(os.environ.get("BOOTLAB_VMM_BOOTS", "5"))
KERNEL = {"package": "linux-image-cloud-amd64", "suite": "bookworm"}
BOOTED = '[booted]\nmark = "ready"\ndeadline_s = 300\n[check]\nconsole = "bootlab: check ok"\ndeadline_s = 60\n'
FILES_OF = '[kernel]\nimage = "{kernel}"\nentry = "pvh"\ncmdline = "{cmdline}"\n[initramfs]\npath = "{initramfs}"\n'
QEMU = '[machine]\ntype = "microvm"\ncpu = "host"\nmemory_mib = 128\noptions = { acpi = "off" }\n'
QEMU += '[clock]\nkind = "wall"\naccelerator = "kvm"\n'
FIRECRACKER = '[target]\nkind = "firecracker"\nbinary = "/firecracker"\nprobe = false\n'
QUIET = "console=ttyS0,115200 panic=-1 reboot=t quiet"
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


def add_systems(tree: HostTree, cache: Cache, folder: Path) -> None:
    """Put the systems that are booted inside into the tree, with a cache that has all that is made of them."""
    inside = Cache(tree.at("/cache"))
    shop = Workshop(cache)
    microvm = boot_files.prepare(shop, read_system(ROOT / "examples" / "firecracker" / "qemu.toml"))
    (folder / "init").write_text(TIMER_INIT)
    debian = boot_files.prepare(
        shop,
        System.model_validate(
            {
                "name": "inner",
                "machine": {"type": "microvm"},
                "kernel": {**KERNEL, "entry": "pvh"},
                "initramfs": {
                    "init": folder / "init",
                    "modules": ["virtio_mmio", "virtio_blk", "ext4"],
                    "compression": "none",
                },
                "disks": [{"size_mib": 4}],
                "booted": {"mark": "ready"},
            }
        ),
    )
    for name, files in (("microvm", microvm), ("debian", debian)):
        assert files.initramfs is not None
        tree.put(files.kernel, f"/systems/{name}.vmlinux")
        tree.put(files.initramfs, f"/systems/{name}.initramfs")
    tree.put(debian.disks[0], "/systems/disk")
    small = FILES_OF.format(kernel="microvm.vmlinux", initramfs="microvm.initramfs", cmdline=QUIET)
    stock = FILES_OF.format(
        kernel="debian.vmlinux",
        initramfs="debian.initramfs",
        cmdline="console=ttyS0 panic=-1 reboot=t cryptomgr.notests",
    )
    disk = '[[disks]]\npath = "disk"\n'
    timer = BOOTED.replace('mark = "ready"', 'mark = "boot_timer"')
    systems = {
        "firecracker": FIRECRACKER + small + BOOTED,
        "no-api": FIRECRACKER + "api = false\n" + small + BOOTED,
        "qemu": QEMU + small + BOOTED,
        "timer": FIRECRACKER + stock + disk + timer,
        "broken": FIRECRACKER + small.replace(QUIET, "x" * 3000) + BOOTED,
    }
    for name, text in systems.items():
        path = tree.at(f"/systems/{name}.toml")
        path.write_text(text)
        boot_files.prepare(Workshop(inside), read_system(path))
    guest.assemble_flat("kvm_probe_x86_64.S", inside)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Boot the machine with SVM and let it do all its work; gives what it told, by name."""
    program = shutil.which(PROGRAM)
    if program is None:
        pytest.skip("no Firecracker here: scripts/vmm builds one, BOOTLAB_FIRECRACKER names it")
    if platform.machine() != "x86_64":
        pytest.skip("KVM's SVM needs an x86-64 host's own programs")
    folder, cache = tmp_path_factory.mktemp("nested"), Cache.default()
    tree = HostTree(folder / "tree")
    tree.add_qemu()
    tree.add_python()
    tree.add_bootlab()
    tree.add_binaries([Path(shutil.which(name) or name) for name in ("cp", "strace")])
    tree.put(Path(program), "/firecracker")
    add_systems(tree, cache, folder)
    verbs = {
        "boot": ["boot", "/systems/firecracker.toml"],
        "no_api": ["boot", "/systems/no-api.toml"],
        "timer": ["boot", "/systems/timer.toml"],
        "broken": ["boot", "/systems/broken.toml"],
        "profile": ["profile", "/systems/firecracker.toml", "--pairs", "2"],
        "storm": ["storm", "/systems/firecracker.toml", "-n", "6", "--overcommit"],
        "compare": ["compare", "/systems/firecracker.toml", "/systems/qemu.toml", "-n", str(max(5, BOOTS))],
    }
    yield run_inside(tree, verbs, folder, 900 + 60 * BOOTS)


def the_boot(told: dict[str, Any], name: str) -> BootRecord:
    assert told[name]["code"] == 0, told[name]
    return BootRecord.model_validate(told[name]["document"])


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


def test_a_series_beside_qemu_is_split_into_its_parts(told: dict[str, Any]) -> None:
    assert told["compare"]["code"] == 0, told["compare"]
    compared = told["compare"]["document"]
    print(f"{compared['verdict']}: {compared['detail']}")
    assert compared["clock"] == "wall" and compared["before_ns"] and compared["after_ns"]
    for side in ("before", "after"):
        parts = compared["parts"][side]
        names = [part["name"] for part in parts]
        assert names[-1] == "VMM start to ready" and len(names) >= 4
        for part in parts:
            times = sorted(part["times_ns"])
            assert len(times) == max(5, BOOTS)
            middle, least, most = (ns / 1e6 for ns in (times[len(times) // 2], times[0], times[-1]))
            print(f"{side} {part['name']}: {middle:.2f} ms, {least:.2f} to {most:.2f}")


def test_every_request_to_kvm_is_timed(told: dict[str, Any]) -> None:
    assert told["profile"]["code"] == 0, told["profile"]
    (imported,) = told["profile"]["document"]["imported"]
    text = json.dumps(imported)
    # Each request is a series of two boots; a note says which setting of the host its time hangs on, or that none does.
    for said in ("KVM_CREATE_VM took", "KVM_SET_USER_MEMORY_REGION", "page faults up to ready", "(KVM_RUN)"):
        assert said in text, text[:3000]


def test_a_storm_of_it_is_complete(told: dict[str, Any]) -> None:
    assert told["storm"]["code"] == 0, told["storm"]
    storm = told["storm"]["document"]
    assert (storm["ready"], storm["accelerator"]) == (6, "kvm")
    assert all(machine["pss_kib"] > 0 and machine["launch_ns"] > 0 for machine in storm["machines"])
    print(storm["p50_ns"], storm["p99_ns"], storm["serialised_by"])
