"""Machines that Cloud Hypervisor keeps and takes up, for real: in an emulated machine with AMD's SVM.

As test_cloud_hypervisor.py, which has what the machine is made of. BOOTLAB_VMM_BOOTS says how many clones there are.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bootlab.build import boot_files
from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import read_system
from tests.boot.machines.nested_kvm.host_tree import ROOT, HostTree
from tests.boot.machines.nested_kvm.verbs_inside import run_inside
from tests.boot.verbs.test_snapshots import INIT
from tests.boot.vmms.nested_vmms import (
    BOOTED,
    BOOTS,
    CLOUD_HYPERVISOR,
    CLOUD_HYPERVISOR_PROGRAM,
    DISK,
    debian,
    files_of,
    nested_host,
    put_files,
    require_vmm,
    write_systems,
)
from tests.boot.vmms.nested_vmms import told_document as the

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

TOLD = "[snapshot]\n"
# Its memory is read and hashed by each verb, in emulation.
MEMORY_MIB = 48
SMALL = f"[machine]\nmemory_mib = {MEMORY_MIB}\n"
FILES = {"ram", "state", "configuration"}


def add_systems(tree: HostTree, shop: Workshop, folder: Path) -> None:
    """Put the systems that are kept inside into the tree, with a cache that has all that is made of them."""
    warm = boot_files.prepare(shop, read_system(ROOT / "examples" / "cloud-hypervisor" / "snapshot.toml"))
    kept = debian(shop, INIT, folder, bus="pci", agent=True)
    put_files(tree, {"warm": warm, "kept": kept})
    tree.at("/systems/other-disk").write_bytes(kept.disks[0].read_bytes()[:-1] + b"x")
    small = files_of("warm")
    stock = files_of("kept", "console=ttyS0 panic=-1 cryptomgr.notests quiet")
    on_demand = CLOUD_HYPERVISOR + 'memory_restore_mode = "ondemand"\n'
    write_systems(
        tree,
        {
            "warm": CLOUD_HYPERVISOR + SMALL + small + TOLD + BOOTED,
            "ondemand": on_demand + SMALL + small + TOLD + BOOTED,
            "prefault": CLOUD_HYPERVISOR + "prefault = true\n" + SMALL + small + TOLD + BOOTED,
            "kept": CLOUD_HYPERVISOR + stock + DISK.format("disk") + TOLD + BOOTED,
            "other": CLOUD_HYPERVISOR + stock + DISK.format("other-disk") + TOLD + BOOTED,
            "untold": CLOUD_HYPERVISOR + SMALL + small + BOOTED,
        },
    )


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Keep and take up machines in the machine with SVM; gives what it told, by name."""
    program = require_vmm(CLOUD_HYPERVISOR_PROGRAM, "Cloud Hypervisor")
    folder = tmp_path_factory.mktemp("nested")
    tree = nested_host(folder, {"cloud-hypervisor": program}, ("cp", "setpriv"))
    add_systems(tree, Workshop(Cache.default()), folder)
    many = ["--from", "last", "--clones", str(BOOTS)]
    yield run_inside(
        tree,
        {
            "cold": ["boot", "/systems/warm.toml"],
            "prefault_keep": ["snapshot", "/systems/prefault.toml"],
            "prefault_clone": ["boot", "/systems/prefault.toml", "--from", "last"],
            "keep": ["snapshot", "/systems/warm.toml"],
            "clone": ["boot", "/systems/warm.toml", "--from", "last", "--clone", "7"],
            "clones": ["boot", "/systems/warm.toml", *many],
            "ondemand": ["boot", "/systems/ondemand.toml", *many],
            "beside": ["boot", "/systems/warm.toml", "--from", "last", "--clones", "4", "--parallel", "4"],
            "untold_keep": ["snapshot", "/systems/untold.toml", "--at", "snapshot"],
            "untold_clone": ["boot", "/systems/untold.toml", "--from", "last"],
            "disk_keep": ["snapshot", "/systems/kept.toml"],
            "disk_clones": ["boot", "/systems/kept.toml", "--from", "last", "--clones", "2"],
            "other_disk": ["boot", "/systems/other.toml", "--from", "last"],
            "other_machine": ["boot", "/systems/warm.toml", "--from", "last"],
        },
        folder,
        900 + 60 * BOOTS,
    )


def test_a_machine_is_kept_where_its_agent_waits(told: dict[str, Any]) -> None:
    kept = the(told, "keep")
    assert kept["told"] and kept["instructions"] is None and set(kept["bytes"]) == FILES
    assert kept["bytes"]["ram"] == MEMORY_MIB << 20 and 0 < kept["bytes_on_disk"] < MEMORY_MIB << 20
    assert 0 < kept["kept_ns"] < BootRecord.model_validate(the(told, "cold")).marks["ready"] * 10
    print(f"kept at {kept['kept_ns'] / 1e6:.1f} ms, {kept['late_ns'] / 1e6:.1f} behind; {kept['bytes_on_disk']} bytes")


@pytest.mark.parametrize(("name", "number"), [("clone", 7), ("prefault_clone", 1)])
def test_a_clone_goes_on_and_is_who_it_was_told_to_be(told: dict[str, Any], name: str, number: int) -> None:
    cold, clone = (BootRecord.model_validate(the(told, one)) for one in ("cold", name))
    assert clone.restored is not None and clone.restored.clone == number
    said, _, host = clone.facts["clone"].split()
    assert said == str(number) and host.endswith(f"-{number}")
    assert 0 < clone.marks["woke"] < clone.marks["ready_clone"] < cold.marks["ready"]
    print(f"cold: ready {cold.marks['ready'] / 1e6:.1f} ms; {name}: {clone.marks['ready_clone'] / 1e6:.1f} ms")
    assert clone.vmm is not None
    assert [step.name for step in clone.vmm.launch] == ["VMM start", "API", "snapshot load"]
    own = clone.vmm.own
    assert own["vm restoring"] < own["vm restored"] < own["vm resuming"] < own["vm resumed"]


@pytest.mark.parametrize("name", ["clones", "ondemand", "beside"])
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


def test_a_disk_that_is_mounted_goes_with_it(told: dict[str, Any]) -> None:
    assert set(the(told, "disk_keep")["bytes"]) == {*FILES, "disk0"}
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
