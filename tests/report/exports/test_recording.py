"""A recording in the formats of other tools."""

import json
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.report.exports.recording import FORMATS, export_recording
from tests.report.recordings import threads_recording, units_recording


def test_every_export_is_written(tmp_path: Path) -> None:
    for form in FORMATS:
        assert all(path.is_file() for path in export_recording(threads_recording(), "x", form, tmp_path).values())
    assert (tmp_path / "recording.folded").read_text().splitlines() == [
        "main;outer 2000000", "main;outer;inner 4000000", "other;alone 3000000",
    ]  # fmt: skip
    trace = json.loads((tmp_path / "recording.perfetto.json").read_text())["traceEvents"]
    assert sum(event["ph"] == "X" for event in trace) == 4
    with pytest.raises(InputError, match="no stacks"):
        export_recording(units_recording(), "x", "folded", tmp_path)
