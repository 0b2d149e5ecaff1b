"""What an audit makes of a boot that is written down here: who did what is known, so every figure can be too."""

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.kinds import audit


def test_what_was_not_there_is_said_too(evidence: AuditedBoot) -> None:
    found = audit(evidence)
    nothing = [
        "bootloader's menu", "work before the kernel", "delays", "devices probed for nothing",
        "modules that the kernel asks for",
        "waits for the network", "waits to be online", "IPv6 addresses", "cloud-init", "host keys", "disk is grown",
        "units that wait until nothing else starts", "terminals asked for their size", "console output",
        "longer in parallel than alone",
        "network locks at idle priority", "legacy ptys",
    ]  # fmt: skip
    assert found.nothing == nothing
    assert found.not_looked == {}
    assert found.goal == "goal"
    assert found.total_ns == evidence.analysis.record.marks["ready"]
