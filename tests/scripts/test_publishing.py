"""`scripts/publish`: which runs a table is made of, what is kept, and whether a table comes out again as it stands.

The records are a fixture with made-up figures; no figure here was measured.
"""

import json
import subprocess
from pathlib import Path

import pytest

from bootlab.measure.record import BootRecord
from scripts.publishing import run as publishing
from scripts.publishing.measuring import measured
from scripts.publishing.tables import Published, command_line, commands, run_folder, text_hash
from scripts.publishing.techniques import takes_whole_catalogue

DATA = Path(__file__).parents[1] / "data" / "report"
RECORDS = DATA / "series-before.json"


def put(place: Path, **ready_ns: int) -> None:
    """Put a run with a boot for each label on record in a folder."""
    run = place / f"{1 + len(list(place.glob('0*')))}".rjust(4, "0")
    run.mkdir(parents=True)
    about = {"kind": "boot", "system": "x", "started": "2026-01-01T00:00:00+00:00", "asked": {}}
    (run / "run.json").write_text(json.dumps(about))
    (run / "result.json").write_text((DATA / "try.json").read_text())
    one = BootRecord.model_validate(json.loads(RECORDS.read_text())[0])
    for label, ns in ready_ns.items():
        boot = run / "boots" / label.replace("_s", "-s").replace("_null", "-null").replace("_fresh", "-fresh")
        boot.mkdir(parents=True)
        boot.joinpath("record.json").write_text(
            one.model_copy(update={"marks": {**one.marks, "ready": ns}}).model_dump_json(by_alias=True)
        )


def test_a_table_is_of_one_command_or_of_rows() -> None:
    rows = {"a": "boot a.toml", "b": "boot 'b c.toml'", "again": "boot a.toml"}
    table = Published(document="docs/x.md", inputs={}, rows=rows, columns={"ready": "ready"})
    assert commands(table) == [["boot", "a.toml"], ["boot", "b c.toml"]]
    assert not takes_whole_catalogue(table)
    assert command_line("x", table).split("\n") == ["    bootlab boot a.toml", "    bootlab boot 'b c.toml'"]
    script = Published(document="docs/x.md", inputs={}, printer=["scripts/x", "a b"])
    assert commands(script) == [] and command_line("x", script) == "`scripts/x 'a b'`:"
    many = table.model_copy(update={"rows": {str(one): f"boot {one}.toml" for one in range(13)}})
    assert command_line("x", many) == "`scripts/publish x`, which runs 13 commands; docs/published.json has them:"
    for wrong in ({}, {"command": ["boot"], "rows": rows}, {"rows": rows}, {"before": [["boot"]]}):
        with pytest.raises(ValueError, match="a table is of one command|rows go with columns"):
            Published.model_validate({"document": "x.md", "inputs": {}, **wrong})


def test_a_run_that_is_kept_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Published(
        document="docs/x.md", inputs={}, rows={"a": "boot a.toml", "b": "boot b.toml"}, columns={"ready": "ready"}
    )
    ran: list[str] = []

    def boot(argv: list[str], **_: object) -> None:
        ran.append(argv[2])
        put(Path(argv[-1]), **{"1": 2_000_000})

    monkeypatch.setattr(subprocess, "run", boot)
    put(run_folder(tmp_path, [["boot", "a.toml"]]), **{"1": 1_000_000})
    said = measured(table, tmp_path)
    assert ran == ["b.toml"] and "| a | 1.00 |" in said and "| b | 2.00 |" in said


def test_a_row_may_be_of_one_step_of_a_trial(tmp_path: Path) -> None:
    """Figures are of the seeds; the spread has null changes and fresh boots, too, and the verdict is the trial's."""
    name = "cmdline_cryptomgr_notests"
    trial = f"try a.toml {name}"
    columns = {"ready": "ready", "all": "spread", "saved": "saved", "verdict": "verdict"}
    rows = {"as it is": f"{trial} -> baseline", "changed": f"{trial} -> alone-{name}"}
    table = Published(document="docs/x.md", inputs={}, rows=rows, columns=columns)
    assert commands(table) == [trial.split()] and command_line("x", table) == f"`bootlab {trial}`:"
    boots = {"baseline_s1": 5_000_000, "baseline_null1_s1": 6_000_000, "baseline_s2": 5_000_000}
    put(
        run_folder(tmp_path, [trial.split()]),
        **boots,
        **{f"alone-{name}_s1": 4_000_000, f"alone-{name}_fresh1_s4": 3_000_000, f"alone-{name}2_s1": 1_000_000},
    )
    lines = measured(table, tmp_path).splitlines()
    assert lines[2] == "| as it is | 5.00 | 5.00 to 6.00, 3 boots | | |"
    assert lines[3].startswith("| changed | 4.00 | 3.00 to 4.00, 2 boots | ")
    assert lines[3].rpartition(" | ")[2] == "shorter, proven |"
    none = table.model_copy(update={"rows": {"changed": f"{trial} -> alone-nobody"}})
    steps = f"alone-{name}, alone-{name}2, baseline"
    with pytest.raises(ValueError, match=f"alone-nobody: no such step of .*; there are: {steps}"):
        measured(none, tmp_path)


def test_the_runs_of_a_command_are_kept_and_begun_anew_where_one_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Published(document="docs/x.md", inputs={}, before=[["audit", "a.toml"]], command=["try", "a.toml"])
    ran: list[str] = []

    def bootlab(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        ran.append(argv[1])
        if argv[1] != "report":
            put(Path(argv[-1]), **{"1": 1_000_000})
        return subprocess.CompletedProcess(argv, 0, "| a |\n")

    monkeypatch.setattr(subprocess, "run", bootlab)
    place = run_folder(tmp_path, commands(table))
    put(place, **{"1": 1_000_000})
    assert measured(table, tmp_path) == "| a |\n" and ran == ["audit", "try", "report"]
    assert sorted(one.name for one in place.iterdir()) == ["0001", "0002"]
    assert measured(table, tmp_path) == "| a |\n" and ran[3:] == ["report"]


def test_the_run_of_a_command_that_failed_is_put_aside_and_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`measure` has a result on record, too, where a boot was not ready."""
    tables = [
        Published(document="docs/x.md", inputs={}, command=["measure", "a.toml"]),
        Published(document="docs/x.md", inputs={}, rows={"a": "boot a.toml"}, columns={"ready": "ready"}),
    ]
    ran: list[str] = []

    def fail(argv: list[str], **_: object) -> None:
        ran.append(argv[1])
        put(Path(argv[-1]), **{"1": 1_000_000})
        raise subprocess.CalledProcessError(1, argv)

    monkeypatch.setattr(subprocess, "run", fail)
    for table in tables:
        for _ in range(2):
            with pytest.raises(subprocess.CalledProcessError):
                measured(table, tmp_path)
    assert ran == ["measure", "measure", "boot", "boot"]
    assert sorted(one.name[16:] for one in tmp_path.iterdir()) == ["-failed", "-failed"]


def test_a_table_that_was_written_meanwhile_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, theirs = (Published(document="x.md", inputs={}, printer=["scripts/x"]) for _ in range(2))
    kept: dict[str, Published] = {}
    (tmp_path / "x.md").write_text("<!-- measured: mine -->\n<!-- end: mine -->\n")
    monkeypatch.setattr(publishing, "ROOT", tmp_path)
    monkeypatch.setattr(publishing, "measured", lambda *_: "| a |\n")
    monkeypatch.setattr(publishing, "read_published", lambda: {"mine": mine, "theirs": theirs})
    monkeypatch.setattr(publishing, "write_published", kept.update)
    assert publishing._publish(["mine"], {"mine": mine}, None, None) == 0
    assert list(kept) == ["mine", "theirs"]
    assert kept["mine"].text_sha256 == text_hash("`scripts/x`:\n\n| a |\n")


def test_whether_a_table_comes_out_again_is_said_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stands = "<!-- measured: one -->\n`scripts/x`:\n\n| 1 |\n<!-- end: one -->\n"
    (tmp_path / "x.md").write_text(stands)
    one = Published(document="x.md", inputs={"bootlab/*.py": "0123456789abcdef"}, printer=["scripts/x"])
    monkeypatch.setattr(publishing, "ROOT", tmp_path)
    monkeypatch.setattr(publishing, "measured", lambda *_: "| 1 |\n")
    assert publishing._again(["one"], {"one": one}, None) == 0
    assert "one: comes out again as it stands in x.md, to the last digit" in capsys.readouterr().out
    monkeypatch.setattr(publishing, "measured", lambda *_: "| 2 |\n")
    assert publishing._again(["one"], {"one": one}, None) == 1
    said = capsys.readouterr().out
    assert "one: does not come out" in said and "  older than bootlab/*.py" in said and "  -| 1 |\n  +| 2 |" in said
    assert (tmp_path / "x.md").read_text() == stands


def test_a_table_without_a_place_costs_no_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.md").write_text("no comments here\n")
    monkeypatch.setattr(publishing, "ROOT", tmp_path)
    monkeypatch.setattr(publishing, "measured", lambda *_: pytest.fail("measured"))
    for document, why in (("x.md", "has not got its two comments"), ("y.md", "y.md: No such file")):
        one = Published(document=document, inputs={}, printer=["x"])
        with pytest.raises(publishing._NotMeasuredError, match=why):
            publishing._publish(["one"], {"one": one}, None, None)


def test_a_table_that_cannot_be_measured_again_is_told_and_the_others_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = [f"<!-- measured: {name} -->\n`x`:\n\n| 1 |\n<!-- end: {name} -->\n" for name in ("one", "two")]
    (tmp_path / "x.md").write_text("".join(blocks))
    tables = {name: Published(document="x.md", inputs={}, printer=["x"]) for name in ("one", "two")}

    def measure(table: Published, *_: object) -> str:
        if table is tables["one"]:
            raise FileNotFoundError(2, "No such file", "x")
        return "| 1 |\n"

    monkeypatch.setattr(publishing, "ROOT", tmp_path)
    monkeypatch.setattr(publishing, "measured", measure)
    assert publishing._again(["one", "two"], tables, None) == 1
    said = capsys.readouterr().out
    assert "one: cannot be measured here: one: [Errno 2] No such file" in said and "two: comes out again" in said


def test_a_document_stands_for_its_tables() -> None:
    there = {
        name: Published(document=document, inputs={}, printer=["x"])
        for name, document in (("a", "README.md"), ("b", "docs/x.md"), ("c", "README.md"))
    }
    assert publishing._of_documents(["./README.md", "b", "c", "nobody"], there) == ["a", "c", "b", "nobody"]


def test_what_is_booted_is_built_first_and_said_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = ["build", "image", "-o", "a.img"]
    table = Published(
        document="docs/x.md", inputs={}, builds=[build], rows={"a": "boot a.img"}, columns={"ready": "ready"}
    )
    assert command_line("x", table).split("\n") == ["    bootlab build image -o a.img", "    bootlab boot a.img"]
    ran: list[list[str]] = []

    def bootlab(argv: list[str], **_: object) -> None:
        ran.append(argv[1:])
        if argv[1] == "boot":
            put(Path(argv[-1]), **{"1": 1_000_000})

    monkeypatch.setattr(subprocess, "run", bootlab)
    measured(table, tmp_path)
    assert ran[0] == build and ran[1][:2] == ["boot", "a.img"]


def test_a_script_that_builds_is_run_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learn = ["examples/desktop/learn", "tuned"]
    table = Published(document="docs/x.md", inputs={}, builds=[learn], command=["boot", "build/x.toml"])
    assert command_line("x", table).split("\n") == ["    examples/desktop/learn tuned", "    bootlab boot build/x.toml"]
    ran: list[list[str]] = []

    def stop(argv: list[str], **_: object) -> None:
        ran.append(argv)
        raise subprocess.CalledProcessError(1, argv)

    monkeypatch.setattr(subprocess, "run", stop)
    with pytest.raises(subprocess.CalledProcessError):
        measured(table, tmp_path)
    assert ran == [learn]
