"""How a guest's memory comes, beside what `price` predicts: its size, huge pages, transparent ones, and all at once.

Firecracker and QEMU's microvm boot one kernel by KVM in a machine with SVM (nested_kvm/traced_kvm.py). Which pages the
guest made KVM find, up to ready, its tracepoints say; the VMM's own page faults, to its end, the host's kernel counts.
Both counts are exact there; times would say nothing. BOOTLAB_FIRECRACKER names the program.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.price.rules import read_rule_set
from bootlab.profile.asked.request import ProfileRequest
from bootlab.report.parts.figures import count
from bootlab.report.parts.markdown import markdown_table
from bootlab.system import System
from tests.boot.machines.nested_kvm.comparison import NEAR
from tests.boot.machines.nested_kvm.traced_kvm import (
    PATIENCE,
    Case,
    Compared,
    Traced,
    count_case,
    trace_cases,
    traced_system,
)
from tests.boot.machines.test_kvm_exits import BUILT, MICROVM
from tests.boot.vmms.nested_vmms import FIRECRACKER_PROGRAM, require_vmm, vmm_words
from tests.boot.vmms.test_firecracker_exits import CPU
from tests.handed_over import Table

pytestmark = [pytest.mark.boot, pytest.mark.network]

SIZES_MIB = (128, 512)
CHUNKS_APART = 2
"""How far counts with huge pages may be apart: 2 % of Firecracker's 10 chunks would be none. Chosen after a boot."""
TITLES = ("", "predicted>", "counted>", "of these the same>", "faults in all>", "page faults of the VMM>")


@dataclass(frozen=True, slots=True)
class Row:
    """One case, counted."""

    case: Case
    compared: Compared
    minor_faults: int

    @property
    def pages(self) -> tuple[int, int]:
        """Return the first touches that were predicted, and those that were counted."""
        return len(self.compared.predicted.pages), len(self.compared.real.pages)

    @property
    def cells(self) -> list[str]:
        """Return it as the table has it, below TITLES."""
        predicted, counted = self.pages
        same = len(self.compared.predicted.pages.keys() & self.compared.real.pages.keys())
        figures = (predicted, counted, same, self.compared.real.faults, self.minor_faults)
        return [_words(self.case), *(count(one) for one in figures)]


def _words(case: Case) -> str:
    vmm = "Firecracker" if case.firecracker is not None else "QEMU microvm"
    backed = ['`huge_pages = "2M"`' if case.firecracker is not None else "THP `always`"] * case.huge
    backed += ["prefaulted"] * case.prefault
    return f"{vmm}, {case.system.machine.memory_mib} MiB, {' and '.join(backed) or 'pages of 4 KiB'}"


def make_cases(firecracker: Path) -> list[Case]:
    found = []
    for mib in SIZES_MIB:
        size: dict[str, object] = {"memory_mib": mib}
        under = traced_system(f"firecracker-{mib}", {"shape": "firecracker", "cpu": CPU, **size}, {"build": BUILT})
        qemu = traced_system(f"qemu-{mib}", {**MICROVM, **size}, {"build": BUILT})
        found += [
            Case(f"firecracker-{mib}-4k", under, firecracker=firecracker),
            Case(f"firecracker-{mib}-2m", under, huge=True, firecracker=firecracker),
            Case(f"qemu-{mib}-4k", qemu),
            Case(f"qemu-{mib}-thp", qemu, huge=True),
            Case(f"qemu-{mib}-prefault", qemu, prefault=True),
            Case(f"qemu-{mib}-thp-prefault", qemu, huge=True, prefault=True),
        ]
    return found


def predict(shop: Workshop, system: System, folder: Path) -> BootRecord:
    """Boot a system on the virtual clock, its pages counted."""
    folder.mkdir()
    record = boot(prepare(shop, system, profile=ProfileRequest(traps=True)), folder, patience=PATIENCE)
    assert record.outcome is Outcome.READY, record.detail
    return record


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory, table: Table) -> dict[str, Row]:
    """Count every case, and hand the table over."""
    program = require_vmm(FIRECRACKER_PROGRAM, "Firecracker")
    folder = tmp_path_factory.mktemp("pages")
    shop, rules = Workshop(Cache.default()), read_rule_set("svm")
    cases = make_cases(program)
    # One that is not predicted well would only be seen after all others have been traced.
    systems = {case.system.name: case.system for case in cases}
    predicted = {name: predict(shop, system, folder / name) for name, system in systems.items()}
    traced: list[Traced] = trace_cases(shop, cases, folder)
    found = {}
    for case, one in zip(cases, traced, strict=True):
        assert "work done" in one.console, one.console[-2000:]
        name = case.system.name
        compared = count_case(case, one, predicted[name], folder / name, rules)
        found[case.name] = Row(case, compared, one.minor_faults)
    boots = [(name, [record]) for name, record in predicted.items()]
    table(markdown_table(TITLES, [row.cells for row in found.values()]), boots=boots)
    table(vmm_words("Firecracker", program))
    return found


def test_first_touches_are_as_predicted(rows: dict[str, Row]) -> None:
    for row in rows.values():
        predicted, counted = row.pages
        allowed = CHUNKS_APART if row.case.huge else NEAR * counted
        assert counted > 0 and abs(predicted - counted) <= allowed, row.cells


def test_huge_pages_leave_few_and_prefaulting_spares_the_guest_none(rows: dict[str, Row]) -> None:
    for mib in SIZES_MIB:
        # QEMU's microvm has its first 2 MiB in pieces, which no huge page may back.
        for vmm, huge, times in (("firecracker", "2m", 100), ("qemu", "thp", 5)):
            assert rows[f"{vmm}-{mib}-{huge}"].pages[1] * times < rows[f"{vmm}-{mib}-4k"].pages[1]
        plain, ahead = rows[f"qemu-{mib}-4k"], rows[f"qemu-{mib}-prefault"]
        # KVM finds each page when the guest touches it first, be it there or not; what is spared is to clear it then.
        assert abs(plain.pages[1] - ahead.pages[1]) <= NEAR * plain.pages[1]
        assert ahead.minor_faults > plain.minor_faults + mib * 100
