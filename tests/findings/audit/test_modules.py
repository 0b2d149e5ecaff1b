"""Modules that a boot carried or loaded for nothing."""

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.finding import Finding
from bootlab.findings.audit.kinds import audit


def test_modules_of_the_initramfs_that_were_not_loaded(findings: dict[str, Finding], evidence: AuditedBoot) -> None:
    found = findings["initramfs modules never used"]
    assert [item.what for item in found.items] == ["xfs"]
    assert audit(evidence).facts["audit_archive_modules"] == "virtio_blk"
    assert found.cost_ns == 500_000, "half of what is unpacked in 1 ms"
    assert (found.basis, found.technique) == ("by size", "initramfs_pruned")


def test_a_module_of_which_only_its_init_ran(findings: dict[str, Finding], evidence: AuditedBoot) -> None:
    found = findings["modules loaded for nothing"]
    assert [(item.what, item.cost_ns) for item in found.items] == [("floppy", 500_000)]
    assert found.technique == "cmdline_module_blacklist"
    assert audit(evidence).facts["audit_idle_modules"] == "floppy"
