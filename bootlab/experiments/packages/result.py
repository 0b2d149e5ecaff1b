"""What `bootlab packages` found: the rows of a boot, and what a boot without some of the packages took (JSON)."""

from typing import Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.experiments.comparing import Comparison
from bootlab.findings.packages.package_costs import PackageCosts
from bootlab.measure.record import Outcome
from bootlab.techniques.model.verdict import Verdict

SCHEMA: Final = "bootlab.packages/1"


class PackagesProof(Document):
    """The system without some packages, beside the system as it is."""

    removed: list[str]
    """What was chosen."""
    along: list[str]
    """What went along: what needs one of them, and what nothing needs any more."""
    came: list[str] = []
    """What took the place of one that is gone."""
    predicted_ns: int
    """What of the one profiled boot would not happen without all that is gone."""
    comparison: Comparison
    verdict: Verdict
    """Of the comparison; `broke it` where a boot without them was not ready, or failed its check."""


class PackagesResult(Document):
    """What each package cost one boot of a system, and the proof, if one was asked for."""

    schema_: Literal["bootlab.packages/1"] = Field(default=SCHEMA, alias="schema")
    costs: PackageCosts
    proof: PackagesProof | None = None
    profile: str
    """The directory of the boot that the costs are of."""
    run: str

    @property
    def good(self) -> bool:
        """Whether the boot was ready and well, and those without the packages too."""
        broken = self.proof is not None and self.proof.verdict in (Verdict.BROKE_IT, Verdict.NO_VERDICT)
        return self.costs.outcome == Outcome.READY.value and not broken
