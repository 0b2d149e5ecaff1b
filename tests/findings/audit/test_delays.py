"""Loops in which the kernel waits for a device, in a boot that is told here."""

from pathlib import Path

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.delays import find_delays
from bootlab.findings.audit.process_costs import TaskCosts
from tests.findings.audit.told_boot import Chain, analysis_of_the_boot

MS = 1_000_000


def test_delays_of_drivers(tmp_path: Path) -> None:
    analysis = analysis_of_the_boot(tmp_path, Chain(700 * MS))
    found = find_delays(AuditedBoot(analysis, TaskCosts(analysis)))
    assert found is not None and found.cost_ns == found.executed_ns == 3 * MS and found.technique is None
    (item,) = found.items
    assert item.what.startswith("i8042_probe, in ") and item.detail.startswith("udelay, called ")


def test_no_delays(evidence: AuditedBoot) -> None:
    assert find_delays(evidence) is None
