"""One told boot for all tests of packages: reading a profile takes longer than any of them."""

import pytest

from bootlab.findings.audit.audited_boot import AuditedBoot
from tests.findings.packages.told_packages import evidence_of


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> AuditedBoot:
    return evidence_of(tmp_path_factory.mktemp("boot"))
