"""What each process is called."""

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.process_costs import command_of


def test_a_script_is_called_by_its_own_name(evidence: AuditedBoot) -> None:
    names = {command_of(process) for process in evidence.costs.processes.values()}
    assert "/etc/init.d/late start" in names and "sleep 1" in names
