"""Sweeps and studies as page, terminal text and CSV. The results under data/report are real ones."""

import pytest

from bootlab.experiments.sweep.profiles import Point, Slope, Sweep
from bootlab.report.compression.page import compression_page
from bootlab.report.profile.sweep_page import profile_sweep_page
from bootlab.report.sweep.page import sweep_page
from tests.report.boots.test_page import Reader
from tests.report.sweep.results import MODELS, NOWHERE, STUDY, SWEEP

HOSTILE = "</script><script>window.stolen=1</script>"


def profile_sweep() -> Sweep:
    """Return a sweep of profiles with made-up figures; one boot was not ready."""
    points = [
        Point(value=value, outcome="ready", ready_ns=ready, instructions=ready, idle_ns=0, run=f"runs/1/boots/{value}")
        for value, ready in ((1, 10_000_000), (2, 14_000_000), (4, 22_000_000))
    ]
    points.append(Point(value=8, outcome="hung", ready_ns=None, instructions=None, idle_ns=None, run="runs/1/boots/8"))
    rows = [Slope(name=name, values_ns=[1_000_000, 3_000_000, 7_000_000], slope_ns=2e6) for name in ("head", "core")]
    ready = Slope(name="ready", values_ns=[10_000_000, 14_000_000, 22_000_000], slope_ns=4e6)
    return Sweep(
        system="made-up", axis="vcpus", asked=4, points=points, ready=ready, phases=rows, functions=rows,
        totals=rows, run="1",
    )  # fmt: skip


PAGES = {
    "sweep": sweep_page(SWEEP),
    "hostile": sweep_page(SWEEP.model_copy(update={"system": HOSTILE, "cautions": [HOSTILE], "run": HOSTILE})),
    "models": sweep_page(MODELS),
    "nowhere": sweep_page(NOWHERE),
    "study": compression_page(STUDY),
    "profile-sweep": profile_sweep_page(profile_sweep()),
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_is_complete_in_itself_and_well_formed(page: str) -> None:
    reader = Reader(page)
    assert reader.open == []
    names = [name for name, _ in reader.tags]
    assert names.count("script") == names.count("style") == names.count("main") == names.count("h1") == 1
    for _, attributes in reader.tags:
        assert "src" not in attributes and "style" not in attributes
        assert attributes.get("href") in (None, "#main", "data:,")
    identifiers = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))


def test_a_sweep_has_a_chart_an_axis_and_a_line_a_value_of_the_other() -> None:
    reader = Reader(PAGES["sweep"])
    charts = [attributes for name, attributes in reader.tags if name == "svg" and attributes.get("class") == "plot"]
    spots = [attributes for name, attributes in reader.tags if (attributes.get("class") or "").startswith("spot")]
    assert (len(charts), len(spots)) == (2, 2 * 9)
    said = " ".join(reader.said)
    for figure in ("1716.82", "1811.86", "+94.36", "By vCPUs", "By memory", "page fault"):
        assert figure in said


def test_values_without_a_distance_are_dots_with_their_phases_below() -> None:
    said = " ".join(Reader(PAGES["models"]).said)
    for figure in ("By rootfs.model", "read, MiB", "1772.77", "2554.99"):
        assert figure in said
