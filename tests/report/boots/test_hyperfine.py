"""Series in hyperfine's form, read back by the importer that reads hyperfine's own."""

import json

from bootlab.report.boots.hyperfine import hyperfine_document
from tests.cli.recorded_runs import boots
from tests.importers.samples import recording_of
from tests.measure.test_launch import launched


def test_a_series_is_read_back_as_it_was() -> None:
    series = [launched(one, ("VMM start", 5_000_000)) for one in boots("series-before.json")]
    document = hyperfine_document({"one.toml": series, "two.toml": boots("series-before.json")})
    one, two = document["results"]
    assert one["command"] == "bootlab boot one.toml" and len(one["times"]) == len(series)
    assert one["min"] - two["min"] == 0.005 or abs(one["min"] - two["min"] - 0.005) < 1e-9
    assert "user" not in one and one["exit_codes"] == [0] * len(series)
    read = recording_of(json.dumps(document, indent=1).encode())
    assert read.tool == "hyperfine" and [len(each.values) for each in read.series] == [len(series)] * 2


def test_a_series_without_a_boot_that_was_ready_is_left_out() -> None:
    assert hyperfine_document({"none": []}) == {"results": []}
