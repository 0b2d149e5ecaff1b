"""How a VMM came to let its guest go: what it did before the first instruction, and how long each step took."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LaunchStep:
    """A part of what came before a machine's first instruction, on the host's monotonic clock."""

    name: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Launch:
    """How a VMM came to let its guest go. `steps`: in order, the last one ends at power-on.

    `own`: what the VMM itself says of this boot, by name, in ns.
    """

    vmm: str
    version: str
    steps: tuple[LaunchStep, ...]
    own: Mapping[str, int] = field(default_factory=dict)
