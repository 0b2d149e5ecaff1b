"""Modules that a boot carried or loaded for nothing."""

from pathlib import Path

import pytest

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.finding import Audit, Finding
from bootlab.findings.audit.kinds import audit
from bootlab.findings.audit.process_costs import TaskCosts
from tests.findings.audit.told_boot import Story, analysis_of_the_boot


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


@pytest.fixture
def loading(tmp_path: Path) -> Audit:
    """What an audit finds in a boot whose kernel ran modprobe twice, and whose init did once."""
    story = Story()
    init = story.start(story.idler, "init", 1, "/sbin/init")
    kthreadd = story.start(story.idler, "kthreadd", 2, "")
    for pid, asked in ((23, "crypto-cbc(aes)"), (24, "bpf_preload")):
        loader = story.start(kthreadd, "modprobe", pid, f"/sbin/modprobe -q -- {asked}")
        story.run(loader, 200_000)
        story.exits(loader, init)
    unit = story.start(init, "modprobe", 25, "/sbin/modprobe -abq floppy")
    story.run(unit, 300_000)
    story.exits(unit, init)
    story.mark("up")
    story.marks["ready"] = story.t_ns
    analysis = analysis_of_the_boot(tmp_path, story)
    return audit(AuditedBoot(analysis, TaskCosts(analysis), facts=dict(analysis.record.facts)))


def test_who_ran_modprobe_and_what_systemd_ran_it_for(loading: Audit) -> None:
    (found,) = (one for one in loading.findings if one.kind == "modprobe calls")
    assert [(item.what, item.cost_ns, item.detail) for item in found.items] == [
        ("1 by /sbin/init", 300_000, "/sbin/modprobe -abq floppy")
    ]
    assert loading.facts["audit_modprobe_units"] == "floppy"
    assert found.technique == "cmdline_modules_load"


def test_what_the_kernel_asked_for_is_a_finding_of_its_own(loading: Audit) -> None:
    (found,) = (one for one in loading.findings if one.kind == "modules that the kernel asks for")
    assert {item.what: item.cost_ns for item in found.items} == {"1 x crypto": 200_000, "1 x bpf_preload": 200_000}
    assert found.technique == "cmdline_cryptomgr_notests", "its tests ask for most of these"
