"""A profiled boot as a view, alone or against another; and profiles of one system with more and more of something."""

from collections.abc import Mapping
from typing import Any

from bootlab.experiments.recorded_profiles import Profiled, place_of
from bootlab.experiments.store import Run
from bootlab.experiments.sweep.profiles import Sweep
from bootlab.findings.analysis import Analysis
from bootlab.findings.profile_document import difference_document, profile_document
from bootlab.measure.record import Outcome
from bootlab.profile.recorded.about import PROFILE
from bootlab.profile.recorded.compressed import find_kept
from bootlab.report.parts.console import read_consoles
from bootlab.report.parts.view import Page, View
from bootlab.report.profile.markdown import advice_markdown
from bootlab.report.profile.page import differential_page, profile_page
from bootlab.report.profile.side_by_side_text import difference, sweep
from bootlab.report.profile.sweep_page import profile_sweep_page
from bootlab.report.profile.text import advice, profile


def recorded_profile_view(run: Run, found: Profiled | Sweep) -> View:
    """Return the view of a run of `bootlab profile`, of one boot or of several."""
    return profile_sweep_view(run, found) if isinstance(found, Sweep) else profile_view(run, found)


def profile_view(run: Run, found: Profiled, files: Mapping[str, str] | None = None) -> View:
    """Return the view of a profile, and of its difference from another. `files`: label -> file that was exported."""
    analysis, exported = found.analysis, dict(files or {})
    document = run_document(run, found, exported)
    return View(
        document,
        (profile(analysis), *(f"wrote {name}" for name in exported.values())),
        _profile_page(run, analysis, exported),
        good=analysis.record.outcome is Outcome.READY,
        markdown=lambda: advice_markdown(analysis),
        more=_difference_view(found.before, analysis, document["difference"]) if found.before is not None else None,
    )


def advice_view(analysis: Analysis) -> View:
    """Return the advice of a profile alone."""
    return View(analysis.advice, (advice(analysis.advice),), good=analysis.record.outcome is Outcome.READY)


def profile_sweep_view(run: Run, result: Sweep) -> View:
    """Return how a sweep of profiles is shown; all is well when it is whole."""
    page = Page(lambda elsewhere: profile_sweep_page(result))
    return View(result, (sweep(result),), page, good=result.whole)


def run_document(run: Run, found: Profiled, files: Mapping[str, str]) -> dict[str, Any]:
    """Return the document of a profile in its run, with what was exported and what differs from another."""
    document = profile_document(found.analysis)
    document["run"], document["files"] = str(run.path), dict(files)
    before = found.before
    document["difference"] = difference_document(before, found.analysis) if before is not None else None
    return document


def _profile_page(run: Run, analysis: Analysis, files: Mapping[str, str]) -> Page:
    place = place_of(analysis)
    home = run.path / place

    def make(elsewhere: bool) -> str:
        kept_profile = find_kept(analysis.directory / PROFILE).relative_to(home)
        kept = {"everything, as JSON": run.result.name, "the plugin's own file": str(kept_profile)}
        if elsewhere:
            # Beside the run's own page these are its neighbours.
            kept = {label: str((home / name).resolve()) for label, name in kept.items()}
        return profile_page(analysis, read_consoles([("console", str(analysis.directory))]), {**kept, **files})

    return Page(make, f"{place}report.html")


def _difference_view(before: Analysis, after: Analysis, document: dict[str, Any]) -> View:
    page = Page(
        lambda elsewhere: differential_page(before, after), f"{place_of(after)}difference.html", called="difference"
    )
    return View(document, (difference(before, after),), page)
