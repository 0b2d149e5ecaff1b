"""What follows from the boots of a sweep: lines and slopes."""

from bootlab.experiments.sweep.boots import trends
from bootlab.report.sweep import text as sweep_text
from bootlab.report.sweep.page import sweep_page
from tests.report.sweep.results import SWEEP, printed


def test_a_place_that_failed_has_no_line_and_no_figures() -> None:
    failed = SWEEP.cells[0].model_copy(
        update={
            "outcome": "hung",
            "detail": "not ready",
            "ready": None,
            "instructions": None,
            "idle": None,
            "phases": [],
        }
    )
    cells = [failed, *SWEEP.cells[1:]]
    lines = trends("memory_mib", cells)
    assert [line.values for line in lines] == [[0.25, 1], [0.125, 0.25, 1], [0.125, 0.25, 1]]
    assert lines[0].row("ready").straight is None
    broken = SWEEP.model_copy(update={"cells": cells, "trends": [*trends("vcpus", cells), *lines]})
    assert "hung: not ready" in printed(sweep_text.sweep(broken), 120)
    assert "hung: not ready" in sweep_page(broken)
