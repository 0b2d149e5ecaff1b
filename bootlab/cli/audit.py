"""`bootlab audit SYSTEM|RUN`: what a boot does for nothing, what each of it costs, and what removes it."""

from pathlib import Path

from bootlab.build.workshop import Workshop
from bootlab.cli.options.arguments import Json, Runs, names_system, open_shop, open_store, open_system
from bootlab.cli.options.settings import Settings, expect_none_set, set_in
from bootlab.cli.profile.boots import Subject, prepare_profile, profile_boot, save_profile, start_run
from bootlab.cli.profile.evidence import Goal, expect_goal, gather_evidence
from bootlab.cli.profile.verb import SystemOrRun
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import err
from bootlab.experiments.recorded_profiles import LABEL, Profiled, read_profile_run, require_profile
from bootlab.experiments.store import RunKind
from bootlab.findings.analysis import Analysis
from bootlab.findings.audit.finding import Audit
from bootlab.findings.audit.ipv6 import CALLS
from bootlab.findings.audit.kinds import audit as find_all
from bootlab.measure.record_files import write_json
from bootlab.profile.asked.request import ProfileRequest
from bootlab.report.findings.view import audit_view


def audit(
    system: SystemOrRun, goal: Goal = None, settings: Settings = None, json: Json = False, runs: Runs = None
) -> int:
    """Say what one boot of a distribution did for nothing: modules, devices, udev's events, waits, units.

    Each finding has its measured cost up to ready, instructions and idle time, and the technique that removes it, or
    what to do by hand. `bootlab try SYSTEM TECHNIQUE --audit RUN` then measures what that saves. A system is profiled
    first; a RUN is such a profile on record. Exit code 0: the boot was ready and well; 1: anything else.
    """
    store = open_store(runs)
    if names_system(system):
        subject = Subject(
            open_system(Path(system), silent=json, settings=settings),
            Path(system),
            ProfileRequest(paths=True, calls=CALLS),
        )
        prepared = prepare_profile(subject, silent=json)
        run = start_run(store, RunKind.AUDIT, {LABEL: subject}, {"paths": True, **set_in(settings)})
        with run.locked():
            analysis = profile_boot(subject, prepared, run, LABEL, silent=json)
            save_profile(run, Profiled(analysis))
    else:
        expect_none_set(settings, system)
        run, label = require_profile(store, system)
        analysis = read_profile_run(run, label)
    if not json:
        err.print("looking at what it booted from")
    found = _audit(open_shop(silent=json), analysis, str(run.path), goal)
    write_json(run.audit, found.model_dump(mode="json", by_alias=True))
    return show(run, audit_view(run, found), json=json)


def _audit(shop: Workshop, analysis: Analysis, run: str, goal: str | None) -> Audit:
    evidence = gather_evidence(shop, analysis, goal)
    expect_goal(evidence, goal)
    return find_all(evidence, run)
