"""What a trial is to find out: which techniques, by which plan, how many boots, and which of the stages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bootlab.experiments.family import DEFAULT_NULLS
from bootlab.experiments.trial.plan import Plan
from bootlab.techniques.model.technique import Technique


@dataclass(frozen=True)
class TrialTask:
    """What a trial is to find out, whatever the system.

    Without `stack` nothing is stacked; without `alone`, which takes a plan that keeps every step, its ladder is climbed
    and nothing else. With `ablation` each technique of a finished stack is left out of it once.
    """

    techniques: Sequence[Technique]
    plan: Plan
    seeds: Sequence[int]
    nulls: int = DEFAULT_NULLS
    """Null changes that the spread is measured with."""
    alone: bool = True
    stack: bool = True
    ablation: bool = False
    facts: Mapping[str, str] = field(default_factory=dict)
    """What an audit gives techniques, besides what the baseline measures."""

    @cached_property
    def by_name(self) -> dict[str, Technique]:
        """Return name -> technique, in order."""
        return {technique.name: technique for technique in self.techniques}

    @property
    def watch(self) -> tuple[str, ...]:
        """Return the kernel symbols whose execution some technique's proof looks at."""
        return tuple(sorted({symbol for technique in self.techniques for symbol in technique.proof.watch}))
