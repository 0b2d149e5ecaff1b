"""Sweeps in Markdown."""

from bootlab.report.sweep.markdown import sweep_markdown
from tests.report.sweep.results import MODELS, NOWHERE, SWEEP


def test_a_sweep_has_its_places_its_lines_and_the_phases_of_the_first() -> None:
    text = sweep_markdown(SWEEP)
    assert "| 4 vCPUs | 128 MiB | 1998.58 | 1998.47 | 2003.37 | 0.00 | ready |" in text
    assert "| 1 vCPU | 1716.82 | 1718.39 | 1737.24 | +23.97 | yes |" in text
    assert "| kernel core | 250.17 | 335.33 | 511.45 | +87.23 | 0.68 | off by 0.5 % |" in text
    assert text.count("| kernel core |") == len(SWEEP.swept)
    assert "Caution: vCPUs share one instruction stream" in text
    assert "virtual clock: 1 ns per instruction" in text.replace("\n", " ")


def test_a_place_that_was_not_ready_says_why() -> None:
    first = SWEEP.cells[0].model_copy(update={"outcome": "hung", "detail": "silent | for 5 s", "ready": None})
    text = sweep_markdown(SWEEP.model_copy(update={"cells": [first, *SWEEP.cells[1:]]}))
    assert "| 1 vCPU | 128 MiB | | | | 0.00 | hung: silent \\| for 5 s |" in text


def test_values_without_a_distance_stand_side_by_side() -> None:
    text = sweep_markdown(MODELS)
    assert "| rootfs.model | ready ms | from | to | idle ms | read MiB | disk busy ms | outcome |" in text
    assert "| ssd | 3220.03 | 3220.03 | 3220.03 | 74.89 | 33.4 | 117.61 | ready |" in text
    assert "Phases by rootfs.model, ms:" in text
    assert "| user space | 3444.99 | 2554.99 | 2605.00 |" in text
    # What all places have in common is said once.
    assert text.count("004ff15e4919") == 1 and "rootfs.model ssd:" not in text


def test_what_only_one_place_booted_is_said_of_it() -> None:
    name = "rootfs.model ssd"
    hashes = {**MODELS.hashes, name: {**MODELS.hashes[name], "rootfs": "f" * 64}}
    text = sweep_markdown(MODELS.model_copy(update={"hashes": hashes})).replace("\n", " ")
    assert "rootfs.model ssd: rootfs ffffffffffff" in text


def test_a_sweep_without_a_place_that_was_ready_has_its_outcomes() -> None:
    text = sweep_markdown(NOWHERE)
    assert text.count("hung") == 3 and "Phases" not in text
