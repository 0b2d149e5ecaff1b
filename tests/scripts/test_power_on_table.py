"""`scripts/power-on-table`: a line for each boot on record, with what somebody waits; and a run that has none.

The record is a fixture with made-up figures; no figure here was measured.
"""

import json
from pathlib import Path

import pytest

from bootlab.errors import BootlabError
from bootlab.experiments.store import Store
from bootlab.measure.record import BootRecord, EarlyWakeRecord, PowerOnRecord, RestoredRecord
from scripts.power_on_table import find, matrix, named_runs, table

RECORDS = Path(__file__).parents[1] / "data" / "report" / "series-before.json"


def cells(record: BootRecord) -> list[str]:
    return [cell.strip() for cell in table([record]).splitlines()[-1].strip("|").split("|")]


def test_each_kind_has_its_line_and_what_somebody_waits() -> None:
    cold = BootRecord.model_validate(json.loads(RECORDS.read_text())[0])
    ready = cells(cold)[3]
    assert cells(cold)[1] == "cold" and cells(cold)[3] == cells(cold)[4] and float(ready) > 0
    idle = cold.model_copy(update={"power_on": PowerOnRecord(kind="s2idle")})
    assert cells(idle)[1] == "s2idle" and cells(idle)[4] == ready and cells(idle)[-1].startswith("current of")
    wake = EarlyWakeRecord(by="rtc", slept_ns=10**9, ignition_ns=10**12, ignition_to_ready_ns=0, idle_awake_ns=0)
    early = cold.model_copy(update={"power_on": PowerOnRecord(kind="suspended", wake=wake)})
    assert cells(early)[1] == "suspended, by rtc" and cells(early)[3:5] == [ready, "0.00"]
    unlit = wake.model_copy(update={"ignition_ns": None, "ignition_to_ready_ns": None})
    nobody = cold.model_copy(update={"power_on": PowerOnRecord(kind="suspended", wake=unlit)})
    assert cells(nobody)[4] == ready


def test_a_clone_has_the_room_that_its_snapshot_takes_while_it_is_there(tmp_path: Path) -> None:
    cold = BootRecord.model_validate(json.loads(RECORDS.read_text())[0])
    (tmp_path / "state").write_bytes(bytes(3 << 20))
    (tmp_path / "ram").touch()
    (tmp_path / "ram").open("r+b").truncate(1 << 30)
    clone = cold.model_copy(update={"restored": RestoredRecord(snapshot=str(tmp_path), clone=1, kept_ns=1)})
    assert cells(clone)[1] == "snapshot" and cells(clone)[6] == "3.0", "holes of the memory take no room"
    gone = cold.model_copy(update={"restored": RestoredRecord(snapshot=str(tmp_path / "gone"), clone=1, kept_ns=1)})
    assert cells(gone)[6] == ""


def test_the_matrix_has_a_column_for_each_kind_and_the_share_of_the_cold_boot() -> None:
    cold = BootRecord.model_validate(json.loads(RECORDS.read_text())[0])
    other = cold.model_copy(update={"system": "other", "marks": {**cold.marks, "ready": 1_000_000}})
    half = cold.marks["ready"] // 2
    slept = cold.model_copy(
        update={"power_on": PowerOnRecord(kind="suspended"), "marks": {**cold.marks, "ready": half}}
    )
    text = matrix({"one": [cold, other, slept], "two": [other]})
    head, _, one, two = ([cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines())
    assert head == ["ready, ms", "cold", "suspended"], "no column for a kind that nothing is of"
    assert one[1].endswith(", 1.00") and one[2] == f"{half / 1e6:.2f} (50.0 %)"
    assert two == ["two", "1.00", ""], "a system without that kind has no figure"


def test_a_run_that_is_not_there_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(BootlabError, match="77"):
        find(Store(tmp_path), "77")


def test_a_row_has_a_name_of_its_own_and_runs() -> None:
    assert named_runs(["Debian=1,2", "window=runs/3"]) == {"Debian": ["1", "2"], "window": ["runs/3"]}
    for words in (["1"], ["=1"], ["Debian="], ["Debian=1", "Debian=2"]):
        with pytest.raises(BootlabError, match=f"--matrix {words[-1]}: "):
            named_runs(words)
