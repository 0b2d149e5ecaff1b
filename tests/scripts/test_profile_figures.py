"""Rows of a published table that are a phase or a timing of a profile: which one, and what its figures are made of.

The profile is a fixture with made-up figures; no figure here was measured.
"""

import json
from pathlib import Path

import pytest

from bootlab.experiments.recorded_profiles import read_profile_run
from bootlab.findings.profile_document import profile_document
from scripts.publishing.boots_table import Row, figure
from scripts.publishing.measuring import _row
from scripts.publishing.profile_figures import STRETCH_FIGURES, require_program, require_stretch, stretch_figure
from tests.cli.conftest import write_profile_run

READING = {
    "name": "user space", "start_ns": 100_000_000, "end_ns": 1_100_000_000, "bound": "io",
    "idle_ns": 600_000_000, "io_ns": 500_000_000, "idle_io_ns": 400_000_000,
    "devices": [
        {"disk": "vda", "operation": "read", "requests": 8, "bytes": 30_000_000, "in_flight_ns": 500_000_000},
        {"disk": "vda", "operation": "write", "requests": 2, "bytes": 2_000_000, "in_flight_ns": 0},
    ],
    "handlers": [
        {"name": "vring_interrupt [virtio_ring]", "count": 1000, "per_second": 1000.0, "instructions": 5, "share": 0.1},
        {"name": "serial8250_interrupt", "count": 7, "per_second": 7.0, "instructions": 5, "share": 0.1},
    ],
}  # fmt: skip


def test_what_the_cpu_did_while_it_read_is_that_time_without_its_idle_part() -> None:
    told = {kind: stretch_figure(kind, READING, []) for kind in STRETCH_FIGURES}
    assert told == {
        "stretch": "1000.00",
        "stretch-bound": "io",
        "stretch-idle": "600.00",
        "stretch-io": "500.00",
        "stretch-requests": "10",
        "stretch-mb-s": "64.0",
        "stretch-io-cpu": "20.0",
        "stretch-request-cpu": "10000.0",
    }
    assert stretch_figure("stretch-handled-s", READING, ["vring_interrupt"]) == "2,000"
    assert stretch_figure("stretch-handled-s", READING, ["vring_interrupted"]) == ""


def test_a_stretch_that_read_nothing_has_no_rates() -> None:
    still = {**READING, "io_ns": 0, "idle_io_ns": 0, "devices": [], "handlers": []}
    for kind in ("stretch-mb-s", "stretch-io-cpu", "stretch-request-cpu"):
        assert stretch_figure(kind, still, []) == ""
    assert stretch_figure("stretch-handled-s", still, ["vring_interrupt"]) == ""
    assert stretch_figure("stretch-requests", still, []) == "0"


def test_a_figure_takes_the_names_that_it_is_of_and_no_others() -> None:
    with pytest.raises(ValueError, match="of one interrupt handler"):
        stretch_figure("stretch-handled-s", READING, [])
    with pytest.raises(ValueError, match="stretch-io vda: no such figure"):
        stretch_figure("stretch-io", READING, ["vda"])


def test_a_row_is_of_a_phase_or_a_timing_of_the_profile(tmp_path: Path) -> None:
    run = write_profile_run(tmp_path)
    analysis = read_profile_run(run)
    run.result.write_text(json.dumps(profile_document(analysis)))
    first = analysis.activity.phases[0]
    row = _row("x", run.path.parent, first.name)
    assert figure("stretch", row, [row]) == f"{first.duration_ns / 1e6:.2f}"
    assert figure("stretch", Row("y", row.boots), [row]) == ""
    called = profile_document(analysis)["functions"][0]
    whole = _row("x", run.path.parent, "")
    assert figure(f"function {called['name']}, nobody", whole, [whole]) == f"{called['total_elapsed_ns'] / 1e6:.2f}"
    assert figure("function nobody", whole, [whole]) == figure("function nobody", Row("y", row.boots), []) == ""
    document = {"activity": {"phases": [READING], "timings": [{**READING, "name": "services"}]}}
    assert require_stretch(document, "services")["name"] == "services"
    with pytest.raises(ValueError, match="homely: no such phase or timing; there are: user space, services"):
        require_stretch(document, "homely")


def test_a_program_is_the_process_that_executed_it_first(tmp_path: Path) -> None:
    ran = {"running_ns": 3_000_000, "io_ns": 4_000_000}
    document = {
        "processes": {
            "processes": [
                {"name": "again", "programs": [[9_000_000, "/bin/x"]], "exited_ns": None, **ran},
                {"name": "x", "programs": [[1, "/bin/sh"], [2_000_000, "/bin/x"]], "exited_ns": 8_000_000, **ran},
            ]
        }
    }
    program = require_program(document, "/bin/x")
    row = Row("x", [], program=program)
    kinds = ("program-began", "program-ended", "program-ran", "program-io")
    assert [figure(kind, row, [row]) for kind in kinds] == ["2.00", "8.00", "3.00", "4.00"]
    assert figure("program-ran", Row("y", []), [row]) == ""
    with pytest.raises(ValueError, match="/bin/y: no process of the profile executed it"):
        require_program(document, "/bin/y")
    run = write_profile_run(tmp_path)
    analysis = read_profile_run(run)
    told = profile_document(analysis)
    run.result.write_text(json.dumps(told))
    path = next(one["programs"][0][1] for one in told["processes"]["processes"] if one["programs"])
    assert _row("x", run.path.parent, path).program == require_program(told, path)
