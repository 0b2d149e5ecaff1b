"""A clock that is charged for exits of KVM repeats and adds up; counting moves nothing; and a guest that sees KVM."""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.findings.analysis import Analysis, analyse
from bootlab.findings.cost_tree import CostTree
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.price.classes import CLASSES
from bootlab.price.host_model import read_host_model
from bootlab.price.shape_corrections import FIRMWARE, XEN, XEN_CPUIDS
from bootlab.profile.asked.request import ProfileRequest
from bootlab.profile.recorded.trace import read_trace
from bootlab.system import System

INIT = Path(__file__).parents[1] / "machines" / "nested_kvm" / "traced_inner_init"

pytestmark = [pytest.mark.boot, pytest.mark.network]

PLAIN = System.model_validate(
    {
        "name": "priced",
        # With ACPI and MSI_EXT_DEST_ID a kernel that sees KVM goes to x2APIC, whose timer QEMU 10.0 trips over.
        "machine": {"type": "q35", "cpu": "EPYC,svm=off,monitor=off,x2apic=on", "memory_mib": 128},
        "kernel": {
            "package": "linux-image-cloud-amd64",
            "suite": "bookworm",
            "entry": "pvh",
            "cmdline": "console=ttyS0 panic=-1 quiet cryptomgr.notests",
        },
        "initramfs": {"init": INIT, "compression": "none"},
        "booted": {"mark": "ready"},
    }
)
CHARGED = PLAIN.with_part("machine", hypervisor="kvm").with_part("clock", host_model="lean")


def profiled(system: System, folder: Path, *, traps: bool = True) -> Analysis:
    """Boot with the profile on, and return what it says."""
    folder.mkdir()
    prepared = prepare(Workshop(Cache.default()), system, profile=ProfileRequest(traps=traps))
    record = boot(prepared, folder, patience=8)
    return analyse(system, record, folder, models=[read_host_model("lean")])


def test_counting_moves_nothing(tmp_path: Path) -> None:
    """The same boot with and without the count, to the instruction and to the console's last byte."""
    counted, plain = (profiled(PLAIN, tmp_path / str(traps), traps=traps) for traps in (True, False))
    assert counted.record.marks == plain.record.marks and counted.record.key == plain.record.key
    assert counted.record.console_sha256 == plain.record.console_sha256
    assert plain.price is None and counted.price is not None
    assert counted.price.account.not_counted == 0 and counted.price.account.n_pages > 1000
    assert not counted.price.prices[0].charged and counted.record.charged_ns == 0


@pytest.mark.parametrize("vcpus", [1, 2])
def test_a_charged_boot_repeats_and_adds_up(tmp_path: Path, vcpus: int) -> None:
    system = CHARGED.with_part("machine", vcpus=vcpus)
    first, second = (profiled(system, tmp_path / name) for name in ("first", "second"))
    texts = [(one.directory / "trace.txt").read_text() for one in (first, second)]
    assert texts[0] == texts[1]
    assert first.price is not None and second.price is not None
    assert first.price.account.by_class == second.price.account.by_class
    assert first.account.closed, first.account.faults

    price, record = first.price.prices[0], first.record
    assert price.charged
    # Every exit and every fault is on the clock, and nothing else is: it differs from instructions by just that.
    assert record.charged_ns == price.small.exits_ns + price.small.faults_ns
    assert record.ready_ns == (record.instructions or 0) + (record.idle_ns or 0) + record.charged_ns
    assert sum(one.ns for one in record.charges.values()) == record.charged_ns
    # What the boot says of itself is what its profile says, and its phases add up to it.
    assert record.price is not None and record.price.total_ns == price.small.total_ns
    assert sum(one.price_ns or 0 for one in record.phases) == record.price.total_ns
    assert record.counted_ns == (record.instructions or 0) + (record.idle_ns or 0)
    counts = {name: one.count for name, one in record.charges.items()}
    assert counts.pop("fault_4K") == first.price.account.n_pages
    assert counts == first.price.account.by_class
    assert read_trace(first.directory / "trace.txt").exact == ["charges", "traps"]


@pytest.mark.parametrize("vcpus", [1, 2])
def test_a_guest_sees_kvm_and_its_x2apic_does_not_end_qemu(tmp_path: Path, vcpus: int) -> None:
    system = CHARGED.with_part("kernel", cmdline="console=ttyS0 panic=-1 cryptomgr.notests")
    system = system.with_part("machine", vcpus=vcpus)
    seen = profiled(system, tmp_path / "seen")
    console = (seen.directory / "console.log").read_text()
    up = f"Brought up 1 node, {vcpus} CPU"
    for line in ("Hypervisor detected: KVM", "x2apic enabled", "Switched to clocksource kvm-clock", up):
        assert line in console, console[-2000:]
    assert seen.price is not None and seen.price.account.by_class["wrmsr"] > 50


def test_a_shape_takes_off_what_firecracker_has_not_got(tmp_path: Path) -> None:
    """Its firmware, and the search for Xen, which the profile counts where it is."""
    given = {"shape": "firecracker", "memory_mib": 128}
    system = System.model_validate({**dict(CHARGED), "machine": given})
    seen = profiled(system, tmp_path / "shaped")
    price = seen.record.price
    assert seen.price is not None and price is not None, seen.record.detail
    # Where the kernel calls through pv_ops they are a callee's.
    there = CostTree(seen.profile, seen.profile.up_to("ready"), ()).below(["xen_prepare_pvh"])
    assert seen.price.account.exits[there, list(CLASSES).index("cpuid")].sum() == XEN_CPUIDS
    assert price.corrections.keys() == {FIRMWARE, XEN}
    assert price.total_ns == seen.price.prices[0].small.total_ns + sum(price.corrections.values())
    phases = {one.name: one.price_ns for one in seen.record.phases}
    assert phases["firmware"] == 0 and sum(one or 0 for one in phases.values()) == price.total_ns
