"""What a bisection found, as a document."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.ledger.bisect.state import BisectState
from bootlab.ledger.gate.judging import GateVerdict
from bootlab.timeline.event import Nanoseconds

SCHEMA: Final = "bootlab.bisect/1"

Share = Annotated[float, Field(allow_inf_nan=False)]


class GrownFunction(Document):
    """A function that differs between the profiles of two boots. ns up to ready, of its own and with all it called."""

    name: str
    before_ns: Nanoseconds
    after_ns: Nanoseconds
    total_before_ns: Nanoseconds
    total_after_ns: Nanoseconds

    @property
    def is_new(self) -> bool:
        return self.total_before_ns == 0 and self.before_ns == 0


class SkippedState(Document):
    """A state that could not be measured, and why."""

    state: BisectState
    reason: str
    log: str = ""
    """All that its build said, or the folder of its boot."""


class MeasuredState(Document):
    """A state that was booted. `time_ns`: the median of its seeds where there are several, else its one boot."""

    state: BisectState
    position: int | None
    """Its number between good (0) and bad; None for one that a merge brought."""
    time_ns: Nanoseconds
    boots: int


class BisectStep(Document):
    """Where the figure changed: from one measured state to the next one that differs."""

    before: BisectState
    after: BisectState
    kind: Literal["commit", "range", "gradual"]
    """`commit`: it is this one; `range`: one of those between, which could not be measured, or this one; `gradual`:
    some of those between, each by less than can be seen."""
    longer_ns: int
    share: Share | None
    """Of the whole difference between good and bad; None for what a merge brought."""
    verdict: GateVerdict
    why: str = ""
    spread_ns: int
    phases: dict[str, int] = {}
    """How much longer each phase of the median boot is."""
    changed: list[str] = []
    """Inputs with another hash, and those that came or went."""
    between: list[BisectState] = []
    """Of a range or a gradual change, all that may have made it, oldest first."""
    inside: "list[BisectStep]" = []
    """Of a merge, the steps in what it brought."""
    whole_merge: str = ""
    """Why a merge was not looked into further, or has no step inside; empty for what is none."""
    functions: list[GrownFunction] = []
    profile: str = ""
    """Directory of the run with both profiles; empty without one."""


class BisectResult(Document):
    """Every state between two that changed the figure by more than can be seen."""

    schema_: Literal["bootlab.bisect/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    of: Literal["commits", "packages"] = "commits"
    """What the states are."""
    repository: str
    """Its topmost folder; empty for packages."""
    good: BisectState
    bad: BisectState
    command: str | None = None
    """What built each commit; None where a commit's own files boot."""
    figure: str
    clock: str
    ns_per_instruction: int | None
    cpu: str
    accelerator: str
    seeds: list[int]
    verdict: GateVerdict
    """Of bad against good."""
    why: str = ""
    good_ns: Nanoseconds
    bad_ns: Nanoseconds
    longer_ns: int
    limit_ns: int
    smallest_ns: int
    spread_ns: int
    steps: list[BisectStep]
    unexplained_ns: int
    """Of `longer_ns`, what no step holds."""
    doubtful: list[BisectStep] = []
    """Seen in one boot of each side, and not confirmed by more."""
    states: int
    """How many there are from good to bad, both included."""
    thorough: bool
    not_looked_into: int
    """States inside of stretches whose ends are alike: changes that cancel each other there are not looked for."""
    measured: list[MeasuredState]
    skipped: list[SkippedState]
    builds: int
    """States built by this call; those in the cache do not count."""
    build_s: float
    boots: int
    """Boots on record in the run."""
    hashes: dict[str, str]
    """Of what good was booted from."""
    host: dict[str, Any] = {}
    run: str

    @property
    def explained(self) -> bool:
        """Return whether every change has its one state, and together they are the whole difference."""
        if self.verdict in (GateVerdict.CANNOT_SAY, GateVerdict.BROKEN):
            return False
        single = all(step.kind == "commit" for step in self.steps)
        return single and not self.doubtful and abs(self.unexplained_ns) <= self.limit_ns
