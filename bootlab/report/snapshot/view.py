"""A snapshot and its clones as views; neither has a page of its own."""

from bootlab.experiments.snapshot.result import ClonesResult, SnapshotResult
from bootlab.experiments.store import Run
from bootlab.report.parts.view import View
from bootlab.report.snapshot import text


def snapshot_view(run: Run, result: SnapshotResult) -> View:
    """Return how a snapshot is shown."""
    return View(result, tuple(text.kept(result)))


def clones_view(run: Run, result: ClonesResult) -> View:
    """Return how clones are shown; all is well when each was ready, all differ and one repeats."""
    return View(result, tuple(text.clones(result)), good=result.good)
