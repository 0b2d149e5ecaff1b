"""`bootlab import`: a file in, tables, page, exports and a run on record out."""

import json
import os
import re
import threading
from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError, MissingTool

DATA = Path(__file__).parents[1] / "data" / "importers"
LOG = str(DATA / "serial-initcall_debug.log")
HOSTILE = "\x1b]0;owned\x07\x1b[2J<script>window.stolen=1</script>\"' onload=x &amp; \u202e"


@pytest.mark.promise("bootlab import")
def test_a_kernel_log_becomes_tables_and_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", LOG, "--runs", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "Initcalls: 575" in said and "init_blk_tracer" in said
    page = (tmp_path / "0001-serial-initcall_debug.log-import" / "report.html").read_text()
    assert "init_blk_tracer" in page and 'id="profile-time"' in page
    assert run(["report", "--runs", str(tmp_path)]) == 0
    assert capsys.readouterr().out == said


def test_json_is_the_document_on_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", LOG, "--json", "--runs", str(tmp_path)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "bootlab.import/1"
    assert document == json.loads((Path(document["run"]) / "result.json").read_text())
    (one,) = document["imported"]
    assert [file["format"] for file in one["files"]] == ["dmesg"]
    assert {"start_ns": 573577000, "end_ns": 627634000}.items() <= next(
        span for span in one["recording"]["timeline"]["spans"] if span["name"] == "init_blk_tracer"
    ).items()
    assert run(["report", "--json", "--runs", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out) == document


def test_long_files_say_how_far_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where there is no terminal, a line every ten seconds; here at every read of 1 MiB.
    monkeypatch.setattr("bootlab.cli.import_._SAID_EVERY_S", 0.0)
    log = tmp_path / "long.log"
    log.write_bytes(Path(LOG).read_bytes() + b"nothing of the kernel's\n" * 100_000)
    assert run(["import", str(log), "--runs", str(tmp_path)]) == 0
    said = re.findall(r"([\d.]+) of ([\d.]+) MB read", capsys.readouterr().err)
    assert len(said) >= 2 and {whole for _, whole in said} == {f"{log.stat().st_size / 1e6:.0f}"}
    assert run(["import", str(log), "--json", "--runs", str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""


def test_exports_have_every_initcall(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    words = [word for form in ("perfetto", "csv", "json") for word in ("--export", form)]
    assert run(["import", LOG, *words, "--to", str(out), "--runs", str(tmp_path)]) == 0
    assert len((out / "tables" / "initcall.csv").read_text().splitlines()) == 576
    trace = json.loads((out / "recording.perfetto.json").read_text())["traceEvents"]
    assert any(event["ph"] == "X" and event["name"] == "init_blk_tracer" and event["dur"] == 54057 for event in trace)
    assert len(json.loads((out / "tables.json").read_text())["tables"]["initcall"]) == 575
    with pytest.raises(InputError, match="has no stacks"):
        run(["import", LOG, "--export", "folded", "--runs", str(tmp_path)])


def test_hostile_text_harms_neither_terminal_nor_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "bad.log"
    log.write_text(
        f"[    0.000000] Linux version {HOSTILE}\n[    0.000001] Command line: {HOSTILE}\n"
        f"[    0.100000] calling  {HOSTILE.replace(' ', '_')}+0x0/0x1 @ 1\n"
        f"[    0.200000] initcall {HOSTILE.replace(' ', '_')}+0x0/0x1 returned 0 after 9{'9' * 400} usecs\n"
        f"[    0.300000] Run {HOSTILE} as init process\n[    0.400000] {'x' * 5_000_000}\n"
    )
    assert run(["import", str(log), "--export", "perfetto", "--runs", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", said)
    page = next(tmp_path.glob("*-import/report.html")).read_text()
    assert "<script>window" not in page and "\x1b" not in page and "\u202e" not in page
    assert len(page) < 1_000_000


def test_several_files_are_one_boot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [
        str(DATA / "debian-13" / name) for name in ("dmesg.txt.xz", "systemd-analyze-plot.json", "systemctl-show.txt")
    ]
    assert run(["import", *files, "--runs", str(tmp_path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "58.166 ms ahead of the common one, +- 0.148 ms (53 moments in common with dmesg.txt.xz)" in said
    assert "Initcalls: 654" in said and "Units: 34" in said
    assert run(["report", "--json", "--runs", str(tmp_path)]) == 0
    (one,) = json.loads(capsys.readouterr().out)["imported"]
    assert [file["format"] for file in one["files"]] == ["dmesg", "systemd-plot", "systemd-show"]
    assert [placement["pairs"] for placement in one["placements"]] == [0, 53, 0]


def test_two_boots_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = tmp_path / "before.log", tmp_path / "after.log"
    text = Path(LOG).read_text(errors="replace")
    before.write_text(text)
    # What init_blk_tracer took is gone, and everything after it is 54.057 ms earlier.
    after.write_text("".join(_without_tracer(row) for row in text.splitlines(keepends=True)))
    assert run(["import", str(before), str(after), "--compare", "--runs", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "One boot a side" in said
    assert re.search(r"init_blk_tracer +54\.06 +-54\.06 +gone", said)
    assert re.search(r"in all +760\.73 +706\.67 +-54\.06 +-7\.1", said)
    assert run(["report", "--runs", str(tmp_path)]) == 0
    assert capsys.readouterr().out == said
    assert "init_blk_tracer" in next(tmp_path.glob("*-import/report.html")).read_text()


def _without_tracer(row: str) -> str:
    found = re.match(r"\[ *(\d+)\.(\d{6})\]", row)
    if "init_blk_tracer" in row:
        return ""
    if found is None or (at := int(found[1]) * 1_000_000 + int(found[2])) < 627_634:
        return row
    return f"[{(at - 54_057) // 1_000_000:5d}.{(at - 54_057) % 1_000_000:06d}]{row[found.end() :]}"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "which file"),
        ([LOG, "--compare"], "--compare: takes two files"),
        ([LOG, LOG, "--compare", "--export", "csv"], "goes without --export"),
        (["-", "-"], "one standard input"),
        (["none.log"], "none.log: No such file"),
        ([LOG, "--format", "frob"], "--format frob: no such format"),
        ([LOG, "--to", "x"], "--to: says where exports go"),
    ],
)
def test_wrong_use_is_said_in_words(words: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        run(["import", *words, "--runs", str(tmp_path)])
    assert not list(tmp_path.glob("*-import"))


def test_a_file_is_explained_and_nothing_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unknown = tmp_path / "unknown.txt"
    unknown.write_text("hello \x1b[2J\nworld\n")
    assert run(["import", "--explain", LOG, "--runs", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "read as dmesg, told by: " in said and re.search(r"[\d,]+ in all", said)
    assert run(["import", "--explain", str(unknown), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "bootlab.import-explanation/1" and len(document["files"][0]["nearest"]) == 3
    assert run(["import", "--explain", str(unknown)]) == 1
    assert "\x1b[" not in capsys.readouterr().out
    with pytest.raises(InputError, match="--explain: imports nothing"):
        run(["import", "--explain", LOG, "--export", "csv"])
    assert not list(tmp_path.glob("*-import"))


def test_a_trace_that_only_its_tool_can_read_goes_through_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "trace.dat"
    trace.write_bytes(b"\x17\x08Dtracing6\0")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr("bootlab.process._ADMIN_FOLDERS", ())
    with pytest.raises(MissingTool, match="trace-cmd is not here to read it") as caught:
        run(["import", str(trace), "--runs", str(tmp_path)])
    assert caught.value.hint is not None and f"trace-cmd report -i {trace} > trace.txt" in caught.value.hint
    tool = tmp_path / "bin" / "trace-cmd"
    tool.parent.mkdir()
    text = DATA / "traces" / "trace-cmd-report.txt"
    tool.write_text(f'#!/bin/sh\n[ "$*" = "report -i {trace}" ] && exec /bin/cat {text}\n')
    tool.chmod(0o755)
    assert run(["import", str(trace), "--json", "--runs", str(tmp_path)]) == 0
    (one,) = json.loads(capsys.readouterr().out)["imported"]
    assert one["recording"]["facts"]["made text by"] == f"trace-cmd report -i {trace}"
    assert one["files"][0]["size"] == trace.stat().st_size
    assert run(["import", str(trace), "--explain"]) == 0
    assert "read as ftrace" in capsys.readouterr().out


def test_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "--formats", "--json"]) == 0
    assert {"dmesg", "grabserial"} <= {one["name"] for one in json.loads(capsys.readouterr().out)["formats"]}


@pytest.mark.parametrize("word", [(), ("--explain",)])
def test_a_pipe_is_read_once_and_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], word: tuple[str, ...]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(Path(LOG).read_bytes(),), daemon=True)
    writer.start()
    assert run(["import", *word, str(pipe), "--runs", str(tmp_path / "runs")]) == 0
    writer.join(10)
    assert not writer.is_alive() and "dmesg" in capsys.readouterr().out


def test_a_folder_without_a_recording_says_what_would_be_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder, and none of a format"):
        run(["import", str(tmp_path), "--runs", str(tmp_path / "runs")])
