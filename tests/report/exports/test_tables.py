"""Tables as CSV and JSON."""

import csv
import json
from pathlib import Path

from bootlab.report.exports.tables import flat, write_csv, write_json


def test_tables(tmp_path: Path) -> None:
    rows = [flat({"name": "a,b", "wait": {"task": 3, "waker": None}, "work": ["x", "y"], "parts": [{"n": 1}]})]
    assert rows == [{"name": "a,b", "wait.task": 3, "wait.waker": None, "work": "x; y"}]
    files = write_csv({"waits": [*rows, {"name": 'say "hi"', "more": 1}], "nothing": []}, tmp_path)
    assert [path.name for path in files] == ["waits.csv"]
    with files[0].open(newline="") as text:
        read = list(csv.DictReader(text))
    assert read[0] == {"name": "a,b", "wait.task": "3", "wait.waker": "", "work": "x; y", "more": ""}
    assert read[1]["name"] == 'say "hi"' and read[1]["more"] == "1"
    write_json({"waits": rows}, tmp_path / "tables.json")
    assert json.loads((tmp_path / "tables.json").read_text()) == {
        "schema": "bootlab.tables/1",
        "tables": {"waits": rows},
    }
