"""A profiled boot written by hand, and the evidence that an audit takes from it."""

import stat

import pytest

from bootlab.build.formats.cpio import Entry
from bootlab.findings.audit.audited_boot import AuditedBoot, find_goal
from bootlab.findings.audit.finding import Finding
from bootlab.findings.audit.kinds import audit
from bootlab.findings.audit.process_costs import TaskCosts
from tests.findings.audit.told_boot import PLAN, RULES, analysis_of_the_boot


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> AuditedBoot:
    analysis = analysis_of_the_boot(tmp_path_factory.mktemp("boot"))
    costs = TaskCosts(analysis)
    # Of those that were loaded it is read what they need, and none of these is an ELF file: empty ones say nothing.
    sizes = {"lib/modules/6.1/xfs.ko": 500, "lib/modules/6.1/virtio_blk.ko": 0, "init": 500}
    return AuditedBoot(
        analysis,
        costs,
        [Entry(path, stat.S_IFREG, bytes(size)) for path, size in sizes.items()],
        [Entry("usr/lib/udev/rules.d/50-a.rules", stat.S_IFREG, RULES)],
        PLAN,
        find_goal(costs, PLAN, "up"),
        {},
        dict(analysis.record.facts),
    )


@pytest.fixture(scope="module")
def findings(evidence: AuditedBoot) -> dict[str, Finding]:
    return {one.kind: one for one in audit(evidence).findings}
