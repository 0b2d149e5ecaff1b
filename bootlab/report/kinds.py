"""Every kind of run, with what reads and shows one: for the verb that made it and for `bootlab report RUN` alike.

A new kind is a member of `RunKind`, a reader in experiments, a view in a room of report, and a line here.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeVar

from bootlab.experiments.audits import read_audit
from bootlab.experiments.comparing import read_compared
from bootlab.experiments.compression.result import CompressionResult
from bootlab.experiments.importing import read_import
from bootlab.experiments.lives.result import LivesResult
from bootlab.experiments.packages.result import PackagesResult
from bootlab.experiments.read_result import read_result
from bootlab.experiments.recorded_profiles import read_profiled
from bootlab.experiments.series import read_boot, read_series
from bootlab.experiments.snapshot.result import ClonesResult, SnapshotResult
from bootlab.experiments.store import Run, RunKind
from bootlab.experiments.storm.result import StormResult
from bootlab.experiments.sweep.result import SweepResult
from bootlab.experiments.tailor.result import TailorResult
from bootlab.experiments.trial.result import TryResult
from bootlab.findings.coldplug_result import ColdplugResult
from bootlab.findings.unused_result import UnusedResult
from bootlab.ledger.bisect.result import BisectResult
from bootlab.ledger.gate.result import GateResult
from bootlab.report.bisect.view import bisect_view
from bootlab.report.boots.view import boot_view, compare_view, series_view
from bootlab.report.compression.view import compression_view
from bootlab.report.findings.packages_view import packages_view
from bootlab.report.findings.view import audit_view, coldplug_view, unused_view
from bootlab.report.gate.view import gate_view
from bootlab.report.lives.view import lives_view
from bootlab.report.parts.view import View
from bootlab.report.profile.view import recorded_profile_view
from bootlab.report.recording.view import import_view
from bootlab.report.snapshot.view import clones_view, snapshot_view
from bootlab.report.storm.view import storm_view
from bootlab.report.sweep.view import sweep_view
from bootlab.report.tailor.view import tailor_view
from bootlab.report.trial.view import try_view

_Result = TypeVar("_Result")


def _kind(read: Callable[[Run], _Result], view: Callable[[Run, _Result], View]) -> Callable[[Run], View]:
    """Return what opens a run of one kind. Both must be of one result, which the type checker sees here."""
    return lambda run: view(run, read(run))


KINDS: Final[Mapping[RunKind, Callable[[Run], View]]] = {
    RunKind.BOOT: _kind(read_boot, boot_view),
    RunKind.MEASURE: _kind(read_series, series_view),
    RunKind.TRY: _kind(partial(read_result, form=TryResult), try_view),
    RunKind.COMPARE: _kind(read_compared, compare_view),
    RunKind.PROFILE: _kind(read_profiled, recorded_profile_view),
    RunKind.AUDIT: _kind(read_audit, audit_view),
    RunKind.IMPORT: _kind(read_import, import_view),
    RunKind.SWEEP: _kind(partial(read_result, form=SweepResult), sweep_view),
    RunKind.STUDY: _kind(partial(read_result, form=CompressionResult), compression_view),
    RunKind.TAILOR: _kind(partial(read_result, form=TailorResult), tailor_view),
    RunKind.UNUSED: _kind(partial(read_result, form=UnusedResult), unused_view),
    RunKind.COLDPLUG: _kind(partial(read_result, form=ColdplugResult), coldplug_view),
    RunKind.GATE: _kind(partial(read_result, form=GateResult), gate_view),
    RunKind.BISECT: _kind(partial(read_result, form=BisectResult), bisect_view),
    RunKind.SNAPSHOT: _kind(partial(read_result, form=SnapshotResult), snapshot_view),
    RunKind.CLONES: _kind(partial(read_result, form=ClonesResult), clones_view),
    RunKind.LIVES: _kind(partial(read_result, form=LivesResult), lives_view),
    RunKind.STORM: _kind(partial(read_result, form=StormResult), storm_view),
    RunKind.PACKAGES: _kind(partial(read_result, form=PackagesResult), packages_view),
}
"""Kind -> what reads a run of it and returns its view. Raises InputError for an interrupted run, StoreError for a
damaged one."""
