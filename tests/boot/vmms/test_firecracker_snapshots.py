"""Machines that Firecracker keeps and takes up, for real: in an emulated machine with AMD's SVM, by bootlab's verbs.

As test_firecracker.py, which has what the machine is made of. BOOTLAB_VMM_BOOTS says how many clones there are.
"""

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
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System, read_system
from tests.boot.machines.nested_kvm.host_tree import ROOT, HostTree
from tests.boot.machines.nested_kvm.verbs_inside import run_inside
from tests.boot.verbs.test_snapshots import INIT
from tests.boot.vmms.test_firecracker import BOOTED, FILES_OF, FIRECRACKER, KERNEL, PROGRAM, QUIET

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

CLONES = int(os.environ.get("BOOTLAB_VMM_BOOTS", "5"))
TOLD = "[snapshot]\n"
DISK = '[[disks]]\npath = "{}"\n'
# Its memory is read and hashed by each verb, in emulation.
MEMORY_MIB = 48
SMALL = f"[machine]\nmemory_mib = {MEMORY_MIB}\n"


def add_systems(tree: HostTree, cache: Cache, folder: Path) -> None:
    """Put the systems that are kept inside into the tree, with a cache that has all that is made of them."""
    inside, shop = Cache(tree.at("/cache")), Workshop(cache)
    warm = boot_files.prepare(shop, read_system(ROOT / "examples" / "firecracker" / "snapshot.toml"))
    (folder / "init").write_text(INIT)
    debian = boot_files.prepare(
        shop,
        System.model_validate(
            {
                "name": "kept",
                "machine": {"type": "microvm"},
                "kernel": {**KERNEL, "entry": "pvh"},
                "initramfs": {
                    "init": folder / "init",
                    "clone_agent": True,
                    "modules": ["virtio_mmio", "virtio_blk", "ext4"],
                    "compression": "none",
                },
                "disks": [{"size_mib": 4}],
                "booted": {"mark": "ready"},
            }
        ),
    )
    for name, files in (("warm", warm), ("kept", debian)):
        assert files.initramfs is not None
        tree.put(files.kernel, f"/systems/{name}.vmlinux")
        tree.put(files.initramfs, f"/systems/{name}.initramfs")
    tree.put(debian.disks[0], "/systems/disk")
    tree.at("/systems/other-disk").write_bytes(debian.disks[0].read_bytes()[:-1] + b"x")
    small = FILES_OF.format(kernel="warm.vmlinux", initramfs="warm.initramfs", cmdline=QUIET)
    stock = FILES_OF.format(
        kernel="kept.vmlinux",
        initramfs="kept.initramfs",
        cmdline="console=ttyS0 panic=-1 reboot=t cryptomgr.notests quiet",
    )
    tracked = FIRECRACKER + "track_dirty_pages = true\n"
    systems = {
        "warm": FIRECRACKER + SMALL + small + TOLD + BOOTED,
        "served": FIRECRACKER + 'pages = "served"\n' + SMALL + small + TOLD + BOOTED,
        "tracked": tracked + SMALL + small + TOLD + BOOTED,
        "kept": FIRECRACKER + stock + DISK.format("disk") + TOLD + BOOTED,
        "other": FIRECRACKER + stock + DISK.format("other-disk") + TOLD + BOOTED,
        "untold": FIRECRACKER + SMALL + small + BOOTED,
    }
    for name, text in systems.items():
        path = tree.at(f"/systems/{name}.toml")
        path.write_text(text)
        boot_files.prepare(Workshop(inside), read_system(path))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Keep and take up machines in the machine with SVM; gives what it told, by name."""
    program = shutil.which(PROGRAM)
    if program is None:
        pytest.skip("no Firecracker here: scripts/vmm builds one, BOOTLAB_FIRECRACKER names it")
    if platform.machine() != "x86_64":
        pytest.skip("KVM's SVM needs an x86-64 host's own programs")
    folder = tmp_path_factory.mktemp("nested")
    tree = HostTree(folder / "tree")
    tree.add_python()
    tree.add_bootlab()
    tree.add_binaries([Path(shutil.which(name) or name) for name in ("cp", "setpriv")])
    tree.put(Path(program), "/firecracker")
    add_systems(tree, Cache.default(), folder)
    many = ["--from", "last", "--clones", str(CLONES)]
    yield run_inside(
        tree,
        {
            "cold": ["boot", "/systems/warm.toml"],
            "keep": ["snapshot", "/systems/warm.toml"],
            "clone": ["boot", "/systems/warm.toml", "--from", "last", "--clone", "7"],
            "clones": ["boot", "/systems/warm.toml", *many],
            "served": ["boot", "/systems/served.toml", *many],
            "beside": ["boot", "/systems/warm.toml", "--from", "last", "--clones", "4", "--parallel", "4"],
            "diff_keep": ["snapshot", "/systems/tracked.toml", "--memory", "diff"],
            "diff_clones": ["boot", "/systems/tracked.toml", "--from", "last", "--clones", "2"],
            "untold_keep": ["snapshot", "/systems/untold.toml", "--at", "snapshot"],
            "untold_clone": ["boot", "/systems/untold.toml", "--from", "last"],
            "disk_keep": ["snapshot", "/systems/kept.toml"],
            "disk_clones": ["boot", "/systems/kept.toml", "--from", "last", "--clones", "2"],
            "other_disk": ["boot", "/systems/other.toml", "--from", "last"],
            "other_machine": ["boot", "/systems/warm.toml", "--from", "last"],
        },
        folder,
        900 + 60 * CLONES,
    )


def the(told: dict[str, Any], name: str) -> dict[str, Any]:
    assert told[name]["code"] == 0, told[name]
    document: dict[str, Any] = told[name]["document"]
    return document


def test_a_machine_is_kept_where_its_agent_waits(told: dict[str, Any]) -> None:
    kept = the(told, "keep")
    assert kept["told"] and kept["instructions"] is None and set(kept["bytes"]) == {"ram", "state"}
    assert kept["bytes"]["ram"] == MEMORY_MIB << 20 and 0 < kept["bytes_on_disk"] < MEMORY_MIB << 20
    assert 0 < kept["kept_ns"] < BootRecord.model_validate(the(told, "cold")).marks["ready"] * 10
    print(f"kept at {kept['kept_ns'] / 1e6:.1f} ms, {kept['late_ns'] / 1e6:.1f} behind; {kept['bytes_on_disk']} bytes")


def test_a_clone_goes_on_and_is_who_it_was_told_to_be(told: dict[str, Any]) -> None:
    cold, clone = (BootRecord.model_validate(the(told, name)) for name in ("cold", "clone"))
    assert clone.restored is not None and clone.restored.clone == 7
    number, _, host = clone.facts["clone"].split()
    assert number == "7" and host.endswith("-7")
    assert 0 < clone.marks["woke"] < clone.marks["ready_clone"] < cold.marks["ready"]
    print(f"cold: ready {cold.marks['ready'] / 1e6:.1f} ms; clone 7: {clone.marks['ready_clone'] / 1e6:.1f} ms")
    assert clone.vmm is not None
    assert [step.name for step in clone.vmm.launch] == ["VMM start", "API", "snapshot load"]


@pytest.mark.parametrize("name", ["clones", "served", "beside", "diff_clones"])
def test_clones_are_ready_and_all_different(told: dict[str, Any], name: str) -> None:
    found = the(told, name)
    assert found["alike"] == [] and found["again"] is None
    records = [BootRecord.model_validate(one) for one in found["boots"]]
    for mark in ("woke", "ready_clone"):
        times = sorted(record.marks[mark] / 1e6 for record in records)
        print(f"{name}, {len(times)}: {mark} {times[len(times) // 2]:.1f} ms, {times[0]:.1f} to {times[-1]:.1f}")
    for at, step in enumerate(("VMM start", "API", "snapshot load")):
        times = sorted(one.vmm.launch[at].duration_ns / 1e6 for one in records if one.vmm is not None)
        print(f"{name}: {step} {times[len(times) // 2]:.1f} ms, {times[0]:.1f} to {times[-1]:.1f}")


def test_a_page_server_has_the_working_set_ahead_from_the_second_clone_on(told: dict[str, Any]) -> None:
    first, *others = the(told, "served")["boots"]
    said = [next(remark for remark in one["remarks"] if "page server" in remark) for one in (first, *others)]
    print("\n".join(said))
    assert "working set from now on" in said[0]
    assert all("of the working set brought ahead" in one for one in said[1:])


def test_a_diff_snapshot_is_whole(told: dict[str, Any]) -> None:
    full, diff = the(told, "keep"), the(told, "diff_keep")
    assert diff["bytes"]["ram"] == full["bytes"]["ram"]
    print(f"on disk: full {full['bytes_on_disk']}, diff {diff['bytes_on_disk']}")


def test_a_disk_that_is_mounted_goes_with_it(told: dict[str, Any]) -> None:
    assert set(the(told, "disk_keep")["bytes"]) == {"ram", "state", "disk0"}
    one, two = the(told, "disk_clones")["boots"]
    for number, record in enumerate((one, two), 1):
        host, machine, year = record["facts"]["told"].split()
        assert host.endswith(f"-{number}") and len(machine) == 32 and year == "2027"
        assert record["facts"]["wrote"] == "11", "the disk is as it was kept, and can be written to"


def test_what_is_not_that_machine_is_refused(told: dict[str, Any]) -> None:
    assert told["other_disk"]["code"] == 2 and "disk0: has changed" in told["other_disk"]["error"]
    assert told["other_machine"]["code"] == 2 and "kept of another machine" in told["other_machine"]["error"]
    assert "another kernel" in told["other_machine"]["error"]


def test_one_that_is_not_told_goes_on_as_if_it_had_never_been_kept(told: dict[str, Any]) -> None:
    assert not the(told, "untold_keep")["told"]
    clone = BootRecord.model_validate(the(told, "untold_clone"))
    assert clone.outcome is Outcome.READY and clone.restored is not None and clone.restored.clone is None
