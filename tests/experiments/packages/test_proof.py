"""What boots without some packages took, beside what was predicted; boots on record answer for both systems."""

from pathlib import Path

import pytest

from bootlab.experiments.packages.proof import Removed, prove_removal
from bootlab.experiments.packages.result import PackagesProof
from bootlab.experiments.packages.without import Without
from bootlab.findings.packages.package_costs import cost_packages
from bootlab.techniques.model.verdict import Verdict
from tests.findings.packages.told_packages import evidence_of, owners_of
from tests.replayed import Answer, answer, engine, families, new_run, replayed

MS = 1_000_000


def proof_of(folder: Path, said: Answer) -> PackagesProof:
    system = replayed(folder, said)
    (folder / "told").mkdir()
    removals = cost_packages(evidence_of(folder / "told"), owners_of(), archive_goes=False).removals
    without = Without(system.with_cmdline("without"), ("late", "libsound"), ("libnoise",))
    boots = families(engine(new_run(folder)), system)
    return prove_removal(boots, system, Removed(["late"], without), removals, nulls=3)


@pytest.mark.parametrize(("later_ns", "verdict"), [(-5 * MS, Verdict.SHORTER), (0, Verdict.NO_DIFFERENCE_SHOWN)])
def test_what_was_measured_stands_beside_what_was_predicted(tmp_path: Path, later_ns: int, verdict: Verdict) -> None:
    proof = proof_of(tmp_path, answer("without", later_ns=later_ns))
    assert (proof.verdict, proof.comparison.verdict) == (verdict, verdict)
    assert (proof.predicted_ns, proof.comparison.saved_ns) == (5_497_000, -later_ns)
    assert (proof.removed, proof.along, proof.came) == (["late"], ["libsound"], ["libnoise"])
    # A plain difference is confirmed by fresh boots without the packages.
    assert len(proof.comparison.fresh_after_runs) == (2 if later_ns else 0)


def test_a_system_that_does_not_boot_without_them_is_broken(tmp_path: Path) -> None:
    proof = proof_of(tmp_path, answer("without", end="hung"))
    assert proof.verdict is Verdict.BROKE_IT
    assert "was not ready" in proof.comparison.detail
