"""KVM for real, on any x86-64 host: an emulated machine with AMD's SVM; in it kvm_amd, bootlab, QEMU and guests of KVM.

QEMU emulates SVM and nested paging (-cpu max has both), so this machine is a host on which KVM works: its times say
nothing about speed, but each line of bootlab that deals with KVM runs as it would on hardware. The machine's disk is
made of this host's own QEMU, Python and libraries; nothing is fetched but the kernel that the examples boot, too.
"""

import json
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
from bootlab.measure.boot import boot
from bootlab.measure.host_fit.result import HostFit
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.price.classes import CLASSES
from bootlab.price.host_model import read_host_model
from bootlab.system import System, read_system
from tests.boot.machines.nested_kvm.host_tree import FILES, HostTree

pytestmark = [pytest.mark.boot, pytest.mark.network]

DISK_MIB = 768
KERNEL = {"package": "linux-image-cloud-amd64", "suite": "bookworm"}
# The crypto self-tests are half of this kernel's boot.
CMDLINE = "console=ttyS0 panic=-1 cryptomgr.notests"

GUEST = """
[machine]
type = "microvm"
cpu = "host"
memory_mib = 128
options = {{ rtc = "on", pic = "off" }}      # without one, the kernel reads 20,000 times for it
[clock]
kind = "wall"
accelerator = "{accelerator}"
[kernel]
image = "vmlinuz"
entry = "{entry}"
cmdline = "{cmdline}"
[initramfs]
path = "initramfs"
[booted]
{booted}
deadline_s = 200
"""
CHECKED = """
[[disks]]
path = "disk"
[network]
guest_port = 7777
[check]
console = "bootlab: check ok"
send = "ping"
expect = "^pong"
deadline_s = 200
"""


def add_guests(tree: HostTree, cache: Cache) -> None:
    """Put the systems that KVM will boot into the tree, with a cache that holds all that is made of them."""
    built = boot_files.prepare(
        Workshop(cache),
        System.model_validate(
            {
                "name": "inner",
                "machine": {"type": "microvm"},
                "kernel": KERNEL,
                "initramfs": {
                    "init": FILES / "inner_init",
                    "modules": ["virtio_mmio", "virtio_blk", "virtio_net", "ext4"],
                    "compression": "none",
                },
                "disks": [{"size_mib": 4}],
                "booted": {"mark": "ready"},
            }
        ),
    )
    assert built.initramfs is not None
    for source, name in ((built.kernel, "vmlinuz"), (built.initramfs, "initramfs"), (built.disks[0], "disk")):
        tree.put(source, f"/systems/{name}")
    banner = {"booted": 'console = "Linux version"', "cmdline": "console=ttyS0 panic=-1 earlyprintk=ttyS0"}
    ready = {"booted": 'mark = "ready"', "cmdline": CMDLINE}
    systems = {
        "debian": GUEST.format(accelerator="auto", entry="pvh", **ready) + CHECKED,
        "image": GUEST.format(accelerator="kvm", entry="image", **banner),
        "pvh": GUEST.format(accelerator="kvm", entry="pvh", **banner),
    }
    inside = Cache(tree.at("/cache"))
    for name, text in systems.items():
        path = tree.at(f"/systems/{name}.toml")
        path.write_text(text)
        boot_files.prepare(Workshop(inside), read_system(path))
    guest.assemble_flat("kvm_probe_x86_64.S", inside)
    guest.make_host_fit(inside)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Boot the machine and let it do all its work; gives what it told, by name."""
    if platform.machine() != "x86_64":
        pytest.skip("the machine is made of this host's programs, and KVM's SVM needs those of x86-64")
    folder, cache = tmp_path_factory.mktemp("nested"), Cache.default()
    tree = HostTree(folder / "tree")
    tree.add_qemu()
    tree.add_python()
    tree.add_bootlab()
    add_guests(tree, cache)
    tree.to_disk(folder / "disk", DISK_MIB)
    shutil.rmtree(tree.root)
    machine = System.model_validate(
        {
            "name": "machine-with-svm",
            "machine": {"type": "q35", "cpu": "max", "memory_mib": 1024, "vcpus": 2},
            "clock": {"kind": "wall", "accelerator": "tcg"},
            "kernel": {**KERNEL, "entry": "pvh", "cmdline": f"{CMDLINE} loglevel=1"},
            "initramfs": {
                "init": FILES / "outer_init",
                "modules": ["virtio_pci", "virtio_blk", "ext4", "kvm_amd"],
                "compression": "none",
            },
            "disks": [{"path": folder / "disk"}],
            "booted": {"mark": "ready", "deadline_s": 120},
            "check": {"console": "bootlab: check ok", "deadline_s": 900},
        }
    )
    (folder / "boot").mkdir()
    record = boot(prepare(Workshop(cache), machine), folder / "boot")
    (folder / "disk").unlink()
    console = (folder / "boot" / "console.log").read_text(errors="replace")
    assert record.outcome is Outcome.READY, f"{record.detail}\n{console[-3000:]}"
    yield {name: json.loads(value) for name, value in record.facts.items()}


def test_the_probe_says_that_kvm_works(told: dict[str, Any]) -> None:
    for cpu in ("host", "max"):
        assert told[f"probe_{cpu}"] == {"works": True, "reason": "a probe guest ran and did its work"}


def test_a_guest_of_kvm_boots_and_does_its_work(told: dict[str, Any]) -> None:
    assert told["boot"]["code"] == 0, told["boot"]
    record = BootRecord.model_validate(told["boot"]["document"])
    assert (record.clock, record.accelerator, record.outcome) == ("wall", "kvm", Outcome.READY)
    assert "-accel kvm" in " ".join(record.argv)
    assert record.host["kvm"] == "a probe guest ran and did its work"
    # Only KVM offers this clock to its guests.
    assert record.facts["clocksource"] == "kvm-clock"
    assert (record.instructions, record.ns_per_instruction) == (None, None)
    times = [record.marks[mark] for mark in ("power_on", "kernel_banner", "init_exec", "ready")]
    assert times == sorted(set(times)), record.marks
    assert times[-1] < record.wall_s * 1e9
    assert sum(phase.duration_ns for phase in record.phases) == record.ready_ns
    assert record.guest_clock is not None


def test_a_series_under_kvm_ends_with_statistics(told: dict[str, Any]) -> None:
    assert told["compare"]["code"] == 0, told["compare"]
    compared = told["compare"]["document"]
    print(f"{compared['verdict']}: {compared['detail']}")
    assert compared["clock"] == "wall"
    assert len(compared["before_runs"]) == len(compared["after_runs"]) == 5
    assert compared["verdict"] in ("faster", "slower", "no difference shown"), compared["detail"]
    assert compared["saved_ns"] == compared["before_ns"] - compared["after_ns"]
    assert compared["spread_ns"] > 0


def test_a_host_is_fitted_by_its_own_round_trips(told: dict[str, Any], tmp_path: Path) -> None:
    """Each class has a figure of its own, and what the VMM does takes longer than what KVM does."""
    assert told["fit"]["code"] == 0, told["fit"]
    fit = HostFit.model_validate(told["fit"]["document"])
    ns = {one.name: one.ns for one in fit.figures}
    print("\n".join(f"{one.name}: {one.ns:,.1f} ns, {one.low_ns:,.1f} to {one.high_ns:,.1f}" for one in fit.figures))
    print(f"not timed: {fit.not_timed}; cautions: {fit.cautions}")
    assert (fit.name, fit.rules) == ("nested-host", "svm")
    assert set(CLASSES) <= {*ns, *fit.not_timed}
    assert ns["pio_kvm"] < ns["pio_vmm"] < ns["pio_string"] and ns["mmio_ioapic"] < ns["mmio_vmm"]
    assert ns["fault_4K"] > ns["fault_4K, memory there"]
    # The model that it wrote is one, and charges a boot.
    path = tmp_path / "fitted.toml"
    path.write_text(fit.model)
    model = read_host_model(str(path))
    assert model.exit["cpuid"].ns == round(ns["cpuid"]) and model.fault.small.ns == round(ns["fault_4K"])
