"""Sweeps in Markdown."""

from bootlab.report.sweep.markdown import sweep_markdown
from tests.report.sweep.results import SWEEP


def test_a_sweep_has_its_places_its_lines_and_the_phases_of_the_first() -> None:
    text = sweep_markdown(SWEEP)
    assert "| 4 vCPUs, 128 MiB | 1998.58 | 1998.47 | 2003.37 | 0.00 | ready |" in text
    assert "| 1 vCPU | 1716.82 | 1718.39 | 1737.24 | +23.97 | yes |" in text
    assert "| kernel core | 250.17 | 335.33 | 511.45 | +87.23 | 0.68 | off by 0.5 % |" in text
    assert text.count("| kernel core |") == len(SWEEP.swept)
    assert "Caution: vCPUs share one instruction stream" in text
    assert "virtual clock: 1 ns per instruction" in text.replace("\n", " ")


def test_a_place_that_was_not_ready_says_why() -> None:
    first = SWEEP.cells[0].model_copy(update={"outcome": "hung", "detail": "silent | for 5 s", "ready": None})
    text = sweep_markdown(SWEEP.model_copy(update={"cells": [first, *SWEEP.cells[1:]]}))
    assert "| 1 vCPU, 128 MiB | | | | 0.00 | hung: silent \\| for 5 s |" in text
