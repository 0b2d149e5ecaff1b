"""A trial's result as figures for the catalogue's page: what each technique did alone."""

from collections.abc import Mapping

from bootlab.experiments.trial import Judged, TryResult
from bootlab.techniques.measured_figures import MeasuredFigure

_HASH_SHOWN = 12


def figures(result: TryResult, facts: Mapping[str, str]) -> list[MeasuredFigure]:
    """Return a figure for each technique that was tried alone; one that does not apply has none.

    `facts`: of the baseline's boot, which say the kernel's version.
    """
    words = facts.get("kernel", "").split()
    # /proc/version begins "Linux version 6.12.117 (...".
    kernel = words[2] if words[:2] == ["Linux", "version"] and len(words) > 2 else ""
    kernel = kernel or result.hashes.get("kernel", "unknown")[:_HASH_SHOWN]
    return [_figure(result, one, kernel) for one in result.alone if one.verdict != "does not apply"]


def _figure(result: TryResult, one: Judged, kernel: str) -> MeasuredFigure:
    before, after = result.baseline.sizes.get("kernel"), one.sizes.get("kernel")
    saved = before - after if before is not None and after is not None and before != after else None
    return MeasuredFigure(
        technique=one.technique,
        system=result.system,
        kernel=kernel,
        clock=result.clock,
        baseline_ns=result.baseline.total_ns,
        saved_ns=one.saved_ns,
        spread_ns=one.spread_ns,
        verdict=one.verdict,
        kernel_bytes_saved=saved,
        command=f"bootlab try {result.system}.toml {one.technique}",
    )
