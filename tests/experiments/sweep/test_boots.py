"""What follows from the boots of a sweep: lines, slopes, and what was booted where."""

from types import SimpleNamespace
from typing import Any

from bootlab.experiments.sweep.boots import hashes_of, trends
from bootlab.experiments.sweep.machines import SweptMachine
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


def test_what_was_booted_is_told_apart_where_it_differs_and_only_there() -> None:
    def place(memory_mib: int, text: str) -> SweptMachine:
        settings = ({"key": "power_on.kind", "text": text},)
        return SweptMachine.model_validate(
            {"vcpus": 1, "memory_mib": memory_mib, "page_size": "auto", "kernel": "k", "settings": settings}
        )

    prepared: Any = {
        place(128, "cold"): SimpleNamespace(hashes={"kernel": "k"}),
        place(256, "cold"): SimpleNamespace(hashes={"kernel": "k"}),
        place(128, "hibernated"): SimpleNamespace(hashes={"kernel": "k", "found": "1"}),
        place(256, "hibernated"): SimpleNamespace(hashes={"kernel": "k", "found": "2"}),
    }
    assert hashes_of(prepared, ("memory_mib", "power_on.kind")) == {
        "power_on.kind cold": {"kernel": "k"},
        "power_on.kind hibernated, 1 vCPUs, 128 MiB, auto": {"kernel": "k", "found": "1"},
        "power_on.kind hibernated, 1 vCPUs, 256 MiB, auto": {"kernel": "k", "found": "2"},
    }
