"""The result of a tailoring, bootlab.tailor/2 (docs/formats.md): what its run, JSON and terminal view are made of."""

from typing import Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.experiments.comparing import Comparison
from bootlab.experiments.tailor.grown_code import GrownCode
from bootlab.experiments.tailor.kernel_use import Use
from bootlab.experiments.tailor.reasons import Followed, Needed
from bootlab.experiments.tailor.tailored import Tailored, TailorStep
from bootlab.experiments.tailor.unused_options import Kept
from bootlab.experiments.tailor.values import TriedValue

SCHEMA: Final = "bootlab.tailor/2"
_USES: Final = {
    Use.NEVER: "never ran",
    Use.INITCALL: "ran only in initcalls",
    Use.EARLY: "ran only before init",
    Use.ASIDE: "ran aside of the job",
    Use.JOB: "ran in the job",
}


class Dropped(Document):
    """An option that went, and what went with it."""

    option: str
    value: str
    """`n`, `y` for one that takes code out by being on, or a value that was tried and stays."""
    why: str
    bytes: int
    """Of the objects that are no longer built."""
    instructions: int
    """Of those objects in the record that condemned them; of a trial all that would not have run up to ready."""
    objects: list[str]
    with_it: list[str]
    """Other options that went too."""
    gained: list[str]
    """Options that came on in its place."""


class Tried(Document):
    """An option that would still take code out which ran."""

    option: str
    value: str
    at_once: bool
    """Whether it was tried with others, or alone."""
    instructions: int
    by_name: int
    """How many ways of the job into that code there are by a call that names it."""
    by_pointer: int
    """How many by a pointer or a system call."""
    example: str
    """The function of it that cost most, or nothing."""


class TailorResult(Document):
    """A kernel fitted to its job: each kernel on the way, and the reason for every option."""

    schema_: Literal["bootlab.tailor/2"] = Field(default=SCHEMA, alias="schema")
    system: str
    keep: list[str]
    give_up: list[str]
    """Options that the user has named."""
    options_before: int
    options_after: int
    """Options that are on."""
    gained: list[str]
    """Options that only the result has on."""
    builds: int
    steps: list[TailorStep]
    dropped: list[Dropped]
    followed: list[Followed] = []
    """Options that went with no single one of these. Empty in older results."""
    kept: list[Kept]
    """Every option of the result."""
    trials: list[Tried]
    needed: list[Needed]
    untried: list[str]
    grown: list[GrownCode] = []
    """Code that executed more since a cut, and what became of it. Empty in older results."""
    values: list[TriedValue] = []
    """What became of the values that the user wanted tried. Empty in older results."""
    comparison: Comparison
    """Of the first kernel and the last, plain boots."""
    config: str
    """The file with the tailored configuration."""
    reasons: str = ""
    """The file with a line for every option. Empty in older results."""
    kernel: str
    """The image, in the cache."""
    run: str

    @property
    def gone(self) -> int:
        """Options that were on and are off, by name or along with others."""
        return self.options_before - self.options_after + len(self.gained)


def tailor_result(
    tailored: Tailored, *, config: str, reasons: str, run: str, keep: list[str], give_up: list[str]
) -> TailorResult:
    """Return the result. `config`, `reasons`: where the tailored configuration and its reasons are written."""
    return TailorResult(
        system=tailored.rich.name,
        keep=keep,
        give_up=give_up,
        options_before=len(tailored.on_before),
        options_after=len(tailored.on_after),
        gained=sorted(tailored.on_after - tailored.on_before),
        builds=len({step.label for step in tailored.steps}),
        steps=list(tailored.steps),
        dropped=[
            Dropped(
                option=drop.option,
                value=drop.value,
                why=drop.why or _USES[drop.use],
                bytes=drop.bytes,
                instructions=drop.instructions,
                objects=list(drop.objects),
                with_it=list(drop.lost),
                gained=list(drop.gained),
            )
            for drop in tailored.drops
        ],
        followed=list(tailored.followed),
        kept=list(tailored.kept),
        trials=[
            Tried(
                option=one.option,
                value=one.value,
                at_once=one.is_passed_through,
                instructions=one.cost.instructions,
                by_name=one.cost.by_name,
                by_pointer=one.cost.by_pointer,
                example=one.cost.example,
            )
            for one in tailored.trials
        ],
        needed=list(tailored.needed),
        untried=list(tailored.untried),
        grown=list(tailored.grown),
        values=list(tailored.values),
        comparison=tailored.comparison,
        config=config,
        reasons=reasons,
        kernel=str(tailored.kernel.image),
        run=run,
    )
