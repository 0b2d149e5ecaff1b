"""What a bisection of commits and one of package versions have of their own: their line of states, and its systems."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.cli.options.arguments import open_cache, open_shop
from bootlab.document import Document
from bootlab.experiments.store import Store
from bootlab.ledger.bisect.checkout import Checkout
from bootlab.ledger.bisect.commit_systems import CommitSystems, Recipe
from bootlab.ledger.bisect.history import GitHistory
from bootlab.ledger.bisect.package_systems import PackageSystems, package_line, package_states
from bootlab.ledger.bisect.state import BisectState
from bootlab.system.file import parse_system

_LOGS = "builds"


class BisectRequest(Document):
    """What a bisection was asked, as its run keeps it."""

    system: str
    digest: str
    repository: str
    good: str
    bad: str
    command: str | None
    figure: str
    limit: str | None
    seeds: list[int]
    nulls: int
    first_parent: bool
    thorough: bool
    from_commit: bool
    incremental: bool
    rebuild: bool
    packages: list[BisectState] = []
    """The versions from good to bad, as they were on hand when it began; none for commits."""

    @property
    def of(self) -> Literal["commits", "packages"]:
        return "packages" if self.packages else "commits"


@dataclass(frozen=True, slots=True)
class StatesAsked:
    """What says which states there are."""

    system: Path
    text: bytes
    repo: Path | None
    good: str | None
    bad: str | None
    packages: bool


class OfCommits:
    """The states of a git history: what makes a bisection one of commits."""

    def __init__(self, asked: StatesAsked, history: GitHistory, cache: Cache, *, resumed: bool) -> None:
        self._asked = asked
        self._history = history
        self._cache = cache
        self.checkout = Checkout(history.top, history.common, cache)
        self.value = Recipe(_absolute(asked.system), asked.text).system(history.top)
        self.repository = str(history.top)
        self.good = history.commit(asked.good, "--good") if asked.good is not None else ""
        self.bad = "" if resumed else history.commit(asked.bad or "HEAD", "--bad")

    def between(self, asked: BisectRequest) -> list[BisectState]:
        """Return the line that is searched. Raises InputError where every commit would boot the same."""
        line = self._history.between(asked.good, asked.bad)
        self.source(asked, Path()).expect_moved()
        return line

    def source(self, asked: BisectRequest, run: Path) -> CommitSystems:
        """Return what makes the systems of commits; their builds' logs go into a run."""
        recipe = Recipe(
            _absolute(self._asked.system),
            self._asked.text,
            asked.from_commit,
            asked.command,
            asked.incremental,
            str(run.absolute()) if asked.rebuild else "",
        )
        return CommitSystems(
            self._history, self.checkout, recipe, self._cache, run / _LOGS, first_parent=asked.first_parent
        )

    def remark(self) -> str:
        """Return what a user should know before it begins."""
        dirty = self._history.is_dirty()
        return "the working tree has changes that are in no commit: they are not looked at" if dirty else ""

    def at_work(self, wait: Callable[[], None]) -> AbstractContextManager[object]:
        """Keep other bisections of this repository out."""
        return self.checkout.opened(wait)


class OfPackages:
    """The versions of a package: what makes a bisection one of these."""

    repository = ""

    def __init__(self, asked: StatesAsked, shop: Workshop, *, resumed: bool) -> None:
        self._shop = shop
        self.value = parse_system(asked.text, _absolute(asked.system))
        self.line: list[BisectState] = []
        if not resumed:
            self.line = package_line(package_states(shop, self.value), asked.good, asked.bad)
        self.good, self.bad = (self.line[0].name, self.line[-1].name) if self.line else ("", "")

    def between(self, asked: BisectRequest) -> list[BisectState]:
        """Return the line that is searched, as it was when the bisection began."""
        return asked.packages

    def source(self, asked: BisectRequest, run: Path) -> PackageSystems:
        """Return what makes the systems of versions."""
        return PackageSystems(self._shop, self.value)

    def remark(self) -> str:
        """Return nothing: there is no working tree."""
        return ""

    def at_work(self, wait: Callable[[], None]) -> AbstractContextManager[object]:
        """Let others work as well: nothing is shared but the cache."""
        return nullcontext()


def find_states(asked: StatesAsked, store: Store, resume: str | None, *, silent: bool) -> OfCommits | OfPackages:
    """Return the states of a new bisection, or of one that goes on."""
    before = store.find(resume).asked if resume is not None else {}
    if asked.packages or before.get("packages"):
        return OfPackages(asked, open_shop(silent=silent), resumed=resume is not None)
    said = before.get("repository")
    repository = Path(said) if isinstance(said, str) else asked.repo or Path()
    return OfCommits(asked, GitHistory(repository), open_cache(), resumed=resume is not None)


def _absolute(system: Path) -> Path:
    """Return where a system file lies. One that is a link lies where the link does: its paths are read from there."""
    return system.parent.resolve() / system.name
