"""What follows from a study's sizes and times: totals, and what is best where."""

import json

from bootlab.experiments.compression.result import make_table
from tests.report.sweep.results import STUDY


def test_totals_and_ranges_follow_from_sizes_and_times() -> None:
    (table,) = STUDY.tables
    again = make_table(table.what, table.options, STUDY.speeds_mb_s, STUDY.latency_us)
    assert json.loads(again.model_dump_json()) == json.loads(table.model_dump_json())
    for index, speed in enumerate(STUDY.speeds_mb_s):
        best = min(table.totals_ns, key=lambda name: table.totals_ns[name][index])
        (now,) = [one for one in table.best if one.from_mb_s < speed and (one.to_mb_s is None or speed <= one.to_mb_s)]
        assert now.name == best
