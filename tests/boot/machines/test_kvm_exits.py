"""What a boot leaves its guest for, predicted on the virtual clock and counted by KVM: class by class, by function.

KVM runs in an emulated machine with AMD's SVM (nested_kvm/traced_kvm.py), which is on a virtual clock as well. The
counts are of KVM's own tracepoints, up to the guest's mark.
"""

import platform
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.price.rules import read_rule_set
from bootlab.report.parts.figures import count
from bootlab.report.parts.markdown import prose
from bootlab.system import read_system
from tests.boot.conftest import EXAMPLES
from tests.boot.machines.nested_kvm.comparison import Named, compare
from tests.boot.machines.nested_kvm.comparison import table as compared_table
from tests.boot.machines.nested_kvm.exits import BETWEEN_CPUS, OUTSIDE
from tests.boot.machines.nested_kvm.traced_kvm import KERNEL, Case, compare_case, traced_system
from tests.handed_over import Table

pytestmark = [pytest.mark.boot, pytest.mark.network]

MICROVM: dict[str, object] = {"type": "microvm", "options": {"acpi": "off", "rtc": "on", "pit": "on", "pic": "on"}}
WITH_ACPI: dict[str, object] = {**MICROVM, "options": {"acpi": "on", "rtc": "on", "pit": "on", "pic": "off"}}
Q35: dict[str, object] = {"type": "q35", "memory_mib": 256}
BUILT = read_system(EXAMPLES / "microvm.toml").kernel.build
CASES = (
    Case("microvm", traced_system("microvm", MICROVM, KERNEL)),
    Case("microvm-6.12", traced_system("microvm-6.12", MICROVM, {**KERNEL, "suite": "trixie"})),
    Case("microvm-built-6.12", traced_system("microvm-built-6.12", MICROVM, {"build": BUILT})),
    Case("q35", traced_system("q35", Q35, KERNEL), huge=True),
    Case("two-vcpus", traced_system("two-vcpus", WITH_ACPI | {"vcpus": 2}, KERNEL)),
)

_UNKNOWN = "a register of AMD's that KVM does not know: #GP, where QEMU's CPU says 0"
_TOPOEXT = "`topoext`, which TCG has not got: leaves b, 8000001d and 8000001e for 80000005 and 80000006"
_TICKS = "ticks of the PIT, four accesses each: as many as come"
_POLLS = "SeaBIOS waits for its disks' ports: as long as that takes"
_CR3 = "QEMU's SVM takes reads of CR3 and CR4 for reads of CR0, which stop while the caches are off"
NAMED = (
    Named("cpuid", ("native_cpuid", "init_amd_cacheinfo", "cpuid4_cache_lookup_regs"), 9, _TOPOEXT),
    Named("rdmsr", ("native_read_msr_safe",), 1, _UNKNOWN),
    Named("wrmsr", ("native_write_msr_safe", "msr_set_bit"), 1, _UNKNOWN),
    Named("pio_vmm", ("mask_and_ack_8259A", "enable_8259A_irq"), 80, _TICKS),
    Named("pio_string", (OUTSIDE,), 6, "rounds of one instruction: KVM takes several in one exit"),
    Named("mmio_vmm", (OUTSIDE,), 150, _POLLS),
    Named("pio_vmm", (OUTSIDE,), 60, _POLLS),
    Named("mmio_vmm", ("hpet_alloc.cold",), 0, "the HPET's calibration: as many rounds as fit its time", rounds=True),
    Named("cr0", ("native_flush_tlb_local", "prepare_set"), 6, _CR3),
)
"""What is known to differ, with the most that it may: each is in docs/price.md."""
_MTRR = "the second CPU's MTRRs: TCG's are not those of the first, and the kernel makes them alike"
NAMED_WITH_TWO = (
    Named("cpuid", ("native_cpuid",), 24, f"{_TOPOEXT}, of both CPUs"),
    Named("cpuid", (OUTSIDE,), 2, "SeaBIOS asks for two leaves once more"),
    Named("cr0", ("native_flush_tlb_local", "prepare_set"), 12, _CR3),
    Named("cr4", ("native_write_cr4",), 8, "flushes of the other CPU's TLB: of one that is not idle"),
    Named("wrmsr", ("native_write_msr_safe",), 16, f"{_UNKNOWN}, on both CPUs; and {_MTRR}"),
)
"""What differs where there are two."""
BY_TIME_WITH_TWO = frozenset({BETWEEN_CPUS})
"""A CPU interrupts another to wake it, or to have it flush its TLB, unless that one looks by itself as it is idle."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_exits_and_pages_are_as_predicted(case: Case, tmp_path: Path, table: Table) -> None:
    """Hand the table over, and fail on what has no name."""
    if platform.machine() != "x86_64":
        pytest.skip("the machine is made of this host's programs, and KVM's SVM needs those of x86-64")
    compared = compare_case(Workshop(Cache.default()), case, tmp_path, read_rule_set("svm"))
    assert "work done" in compared.console, compared.console[-2000:]
    if case.system.machine.vcpus == 1:
        rows = compare(compared.predicted, compared.real, NAMED)
    else:
        rows = compare(compared.predicted, compared.real, (*NAMED_WITH_TWO, *NAMED), BY_TIME_WITH_TWO)
    own = ", ".join(f"{count(number)} of {what}" for what, number in compared.real.host.most_common())
    said = prose(f"The host's own, which are not compared: {own}.")
    table(f"{compared_table(case.title, rows)}\n\n{said}", boots=[(case.name, [compared.record])])
    assert sum(row.counted for row in rows) > 1_000
    assert all(row.good for row in rows), compared_table(case.name, [row for row in rows if not row.good])
