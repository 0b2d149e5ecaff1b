"""A published table of several runs: a row for each run, the figures asked for, and what all of it was booted on.

The records are a fixture with made-up figures; no figure here was measured.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.measure.record import BootRecord, Outcome
from scripts.publishing.boots_table import Row, boots_table, figure

RECORDS = Path(__file__).parents[1] / "data" / "report" / "series-before.json"


def record(ready_ns: int, **changes: object) -> BootRecord:
    one = BootRecord.model_validate(json.loads(RECORDS.read_text())[0])
    return one.model_copy(update={"marks": {**one.marks, "ready": ready_ns}, **changes})


def row(name: str, *ready_ns: int, **changes: object) -> Row:
    return Row(name, [record(one, **changes) for one in ready_ns])


def test_each_run_is_a_row_with_the_figures_asked_for() -> None:
    rows = [row("as it is", 9_000_000, 7_000_000, 8_000_000), row("changed", 4_000_000)]
    columns = {"boots": "boots", "ready": "ready", "from, to": "range", "saved": "saved", "times": "times-less"}
    lines = boots_table(rows, columns).splitlines()
    assert lines[:4] == [
        "| | boots | ready | from, to | saved | times |",
        "|---|---:|---:|---:|---:|---:|",
        "| as it is | 3 | 8.00 | 7.00 to 9.00 | | |",
        "| changed | 1 | 4.00 | 4.00 | 4.00 | 2.00x |",
    ]
    assert lines[4] == "" and lines[5].startswith("virtual clock:")


def test_a_boot_that_was_not_ready_is_an_error_and_no_empty_row() -> None:
    hung = Row("changed", [record(4_000_000, outcome=Outcome.HUNG, detail="the deadline passed", run="runs/7")])
    with pytest.raises(ValueError, match=r"changed: hung: the deadline passed \(runs/7\)"):
        boots_table([row("as it is", 8_000_000), hung], {"ready": "ready"})


def test_a_figure_that_none_of_the_boots_has_is_an_error_and_no_empty_column() -> None:
    with pytest.raises(ValueError, match="phase SPLL: no boot of the table has it"):
        boots_table([row("as it is", 8_000_000)], {"ready": "ready", "SPL": "phase SPLL"})


def test_a_turned_table_has_a_column_for_each_run() -> None:
    rows = [row("as it is", 8_000_000), row("changed", 4_000_000)]
    assert boots_table(rows, {"ready": "ready", "saved": "saved"}, turned=True).splitlines()[:4] == [
        "| | as it is | changed |",
        "|---|---:|---:|",
        "| ready | 8.00 | 4.00 |",
        "| saved | | 4.00 |",
    ]


def test_a_second_trial_of_a_table_saves_nothing_beside_the_first() -> None:
    rows = [row("slow disk", 9_000_000), replace(row("fast disk", 8_000_000), baseline=True)]
    assert [figure(words, rows[1], rows) for words in ("saved", "times-less")] == ["", ""]
    assert figure("saved", replace(rows[1], baseline=False), rows) == "1.00"


def test_what_all_rows_have_in_common_is_said_once_and_the_rest_of_each() -> None:
    hashes = {"kernel": "a" * 64, "qemu": "b" * 64}
    rows = [
        row("one", 1_000_000, hashes=hashes),
        row("[two](t.toml)", 1_000_000, hashes={**hashes, "kernel": "c" * 64}),
    ]
    made_of = " ".join(boots_table(rows, {"ready": "ready"}).splitlines()[4:])
    assert f"All: qemu {'b' * 12}. one: kernel {'a' * 12}. two: kernel {'c' * 12}." in made_of


def test_rows_on_other_clocks_or_processors_say_which_is_whose() -> None:
    rows = [row("one", 1_000_000), row("two", 1_000_000, cpu="host"), row("three", 1_000_000), row("one", 2_000_000)]
    made_of = boots_table(rows, {"ready": "ready"}).split("\n\n")[1].replace("\n", " ")
    assert made_of.startswith("one and three: virtual clock:") and "; two: virtual clock:" in made_of


def test_figures_of_phases_counts_and_sizes_are_those_of_the_middle_boot() -> None:
    one = record(5_000_000)
    phase = one.phases[0]
    middle = one.model_copy(update={"sizes": {"kernel": 4096}})
    only = Row("x", [middle])
    assert figure(f"phase {phase.name}", only, [only]) == f"{phase.duration_ns / 1e6:.2f}"
    assert figure("phase of nobody", only, [only]) == ""
    assert (figure("kib kernel", only, [only]), figure("bytes kernel", only, [only])) == ("4", "4,096")
    told = Row("x", [one.model_copy(update={"facts": {"cache_kib": "8036", "said": "as | it is"}})])
    assert figure("fact cache_kib, said, nothing", told, [told]) == "8,036, as \\| it is"
    assert figure("between ready, ready", only, [only]) == "0.00"
    assert figure("reads", only, [only]) == ""
    timed = Row("x", [one.model_copy(update={"timings_ns": {"home": ns}}) for ns in (3_000_000, 1_000_000, 2_000_000)])
    assert figure("timing home", timed, [timed]) == "2.00 (1.00 to 3.00)"
    assert (figure("timing home", only, [only]), figure("timing home", Row("y", timed.boots[:1]), [])) == ("", "3.00")


@pytest.mark.parametrize("words", ["reddy", "phase", "ready now", "between a", ""])
def test_a_figure_that_there_is_none_of_is_an_error_and_no_empty_cell(words: str) -> None:
    only = row("x", 1_000_000)
    with pytest.raises(ValueError, match=r"no such figure|between two marks"):
        figure(words, only, [only])


def test_bytes_read_are_those_of_phases_or_between_marks() -> None:
    one = record(5_000_000)
    phases = [phase.model_copy(update={"read_bytes": 1000 * (1 + index)}) for index, phase in enumerate(one.phases)]
    read = Row("x", [one.model_copy(update={"phases": phases, "read_up_to": {"root": 500}})])
    first, second = phases[:2]
    assert figure(f"read-in {first.name}, {second.name}", read, [read]) == "3,000"
    assert figure(f"read-between root, {second.end}", read, [read]) == "2,500"
    assert figure("read-between root, nowhere", read, [read]) == ""
    uncounted = Row("x", [one.model_copy(update={"phases": [first.model_copy(update={"read_bytes": None})]})])
    assert figure(f"read-in {first.name}", uncounted, []) == figure(f"read-between a, {first.end}", uncounted, []) == ""
    with pytest.raises(ValueError, match="read-between root: between two marks"):
        figure("read-between root", read, [read])


def test_what_a_host_model_charges_is_how_often_and_how_long() -> None:
    charges = {"hvc": {"count": 1200, "ns": 3_000_000}, "mmio_vmm": {"count": 1, "ns": 500_000}}
    charged = BootRecord.model_validate({**json.loads(RECORDS.read_text())[0], "charges": charges})
    only = Row("x", [charged])
    assert figure("charge hvc, mmio_vmm", only, [only]) == "1,201: 3.50"
    assert figure("charge sysreg_read", only, [only]) == figure("price", only, [only]) == ""
