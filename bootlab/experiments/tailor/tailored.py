"""What a tailoring came to: the fitted kernel, every kernel on the way to it, and the reason for each option."""

from dataclasses import dataclass

from bootlab.build.kernel.build import BuiltKernel
from bootlab.experiments.comparing import Comparison
from bootlab.experiments.tailor.attempts import Attempt
from bootlab.experiments.tailor.grown_code import GrownCode
from bootlab.experiments.tailor.reasons import Followed, Needed
from bootlab.experiments.tailor.unused_options import Drop, Kept
from bootlab.experiments.tailor.values import TriedValue
from bootlab.system import System


@dataclass(frozen=True, slots=True)
class TailorStep:
    """One kernel of a tailoring: what it was to show, and what became of it."""

    label: str
    dropped: int
    """Options turned off by name, in all."""
    on: int
    """Options that are on."""
    ready: bool
    detail: str
    """Why it was not ready, or what failed."""
    ready_ns: int | None
    kernel_bytes: int
    """What is loaded: the ELF kernel without symbols, or the image."""
    build_s: float
    """Host seconds of the build, whenever that was."""
    from_cache: bool
    price_ns: int | None = None
    """What it costs up to ready under the host model that is charged to the clock; None without one."""


@dataclass(frozen=True)
class Tailored:
    """What tailoring came to."""

    system: System
    """The system with the tailored kernel."""
    rich: System
    """What it began with: the user's system, its gates opened."""
    drops: tuple[Drop, ...]
    followed: tuple[Followed, ...]
    """Options that went with no one drop."""
    kept: tuple[Kept, ...]
    """Every option that is on."""
    trials: tuple[Attempt, ...]
    """Options that would still take code out which ran, most instructions first."""
    grown: tuple[GrownCode, ...]
    """Code that executed more since a cut, and what became of it."""
    steps: tuple[TailorStep, ...]
    needed: tuple[Needed, ...]
    untried: tuple[str, ...]
    """Options that may be droppable, and for which no build was left."""
    values: tuple[TriedValue, ...]
    """What became of the values that the user wants tried."""
    kernel: BuiltKernel
    on_before: frozenset[str]
    on_after: frozenset[str]
    """Options that are on."""
    comparison: Comparison
    """Plain boots of the `rich` kernel and of the tailored one, compared."""
