"""What a boot under Firecracker leaves its guest for, counted by KVM, beside what `price` predicts without Firecracker.

The prediction is of QEMU's microvm with `machine.shape = "firecracker"` on the virtual clock, from the kernel's entry
on: Firecracker has no firmware. As test_kvm_exits.py, which has QEMU's machines; BOOTLAB_FIRECRACKER names the program.
"""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.price.rules import read_rule_set
from tests.boot.machines.nested_kvm.comparison import compare
from tests.boot.machines.nested_kvm.comparison import table as compared_table
from tests.boot.machines.nested_kvm.traced_kvm import Case, compare_case, traced_system
from tests.boot.machines.test_kvm_exits import BUILT
from tests.boot.vmms.nested_vmms import FIRECRACKER_PROGRAM, require_vmm, vmm_words
from tests.handed_over import Table

pytestmark = [pytest.mark.boot, pytest.mark.network]

# Firecracker shows its guest the CPU of its host, and the emulated host's is QEMU's `max`.
CPU = "max,tcg-cpuid=off,svm=off,monitor=off,x2apic=on"
PART, EXITS = 0.06, 15
"""How far a class may be apart, as a part of what was predicted or in exits: chosen after a boot, so that a later one
is seen to be another."""


def test_exits_and_pages_are_near_to_what_is_predicted(tmp_path: Path, table: Table) -> None:
    """Hand the table over, function by function, and fail on a class that is far from its prediction."""
    program = require_vmm(FIRECRACKER_PROGRAM, "Firecracker")
    system = traced_system("firecracker", {"shape": "firecracker", "cpu": CPU}, {"build": BUILT})
    case = Case("firecracker", system, firecracker=program)
    compared = compare_case(Workshop(Cache.default()), case, tmp_path, read_rule_set("svm"))
    assert "work done" in compared.console, compared.console[-2000:]
    rows = compare(compared.predicted, compared.real, ())
    table(compared_table(case.title, rows, functions=3), boots=[(case.name, [compared.record])])
    table(vmm_words("Firecracker", program))
    print(f"the host's own: {dict(compared.real.host)}")
    assert sum(row.counted for row in rows) > 1_000
    far = [row for row in rows if row.judged and abs(row.counted - row.predicted) > max(EXITS, PART * row.predicted)]
    assert not far, compared_table(case.name, far)
