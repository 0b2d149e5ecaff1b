"""A state of what is bisected, a commit or a package's version, and where its system comes from."""

from collections.abc import Sequence
from typing import Protocol

from bootlab.document import Document
from bootlab.system import System


class BisectState(Document):
    """One commit, by its whole hash, or a version of a package. What it does not say is empty."""

    name: str
    subject: str = ""
    author: str = ""
    date: str = ""
    """ISO 8601, as the author's clock had it."""
    parents: list[str] = []
    package: str = ""
    """Of a package: NAME=VERSION, as apt names one."""
    suite: str = ""
    """Of a package: the Debian suite that has it."""

    @property
    def short(self) -> str:
        """Return how it is called: a hash by its first twelve digits."""
        return self.name if self.package else self.name[:12]


class Unusable(Exception):
    """A state that cannot be measured: it does not build, does not boot, or fails its check. Its neighbours may do."""

    def __init__(self, state: BisectState, reason: str, log: str = "") -> None:
        super().__init__(reason)
        self.state = state
        self.reason = reason
        self.log = log
        """The file with all that its build said, or its console; empty for none."""


class StateSource(Protocol):
    """What makes the system of a state."""

    @property
    def builds(self) -> int:
        """How many states were built so far; those in the cache do not count."""
        ...

    @property
    def build_s(self) -> float:
        """Host seconds that took."""
        ...

    def system(self, state: BisectState) -> System:
        """Return the system of a state, with all of its files made. Raises Unusable."""
        ...

    def bring_back(self, state: BisectState) -> None:
        """Bring back what the system of a state is made of, where that is kept for one state at a time only."""
        ...

    def inside(self, before: BisectState, after: BisectState) -> Sequence[Sequence[BisectState]]:
        """Return the histories that a step brought in one piece, oldest first; none for a step that has no inside."""
        ...
