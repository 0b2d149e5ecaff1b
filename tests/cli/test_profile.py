"""`bootlab profile` and `advise` as a user meets them, on profiles that are on record; boots are in tests/boot."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run
from bootlab.cli.ranges import parse_numbers
from bootlab.errors import InputError, StoreError
from bootlab.experiments.store import Run
from bootlab.measure.record import Outcome
from tests.cli.conftest import made_up_profile, write_profile_run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def document(profile_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run(["profile", "last", "--json", "--runs", str(tmp_path)]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_document_of_a_profile(document: dict[str, Any], profile_run: Run) -> None:
    assert document["schema"] == "bootlab.profile/1"
    account = document["account"]
    assert (account["instructions"], account["attributed_instructions"]) == (3_300_000, 3_300_000)
    assert (account["idle_ns"], account["virtual_ns"]) == (700_000, 4_000_000)
    assert account["named_kernel_share"] == 1.0
    assert 0 <= account["mismatched_return_share"] <= 1
    assert document["complete"] is True
    assert document["ready_ns"] == 4_000_000
    assert [one["name"] for one in document["slices"]][-2:] == ["ready", "end"]
    assert [one["name"] for one in document["initcalls"]["initcalls"]] == ["tpm_init"]
    assert document["initcalls"]["initcalls"][0]["level"] == "device"
    assert [phase["name"] for phase in document["activity"]["phases"]][:2] == ["firmware", "decompressor"]
    assert document["advice"]["schema"] == "bootlab.advise/1"
    assert document["run"] == str(profile_run.path)
    assert json.loads(profile_run.result.read_text()) == document


def test_the_page_and_the_terminal(profile_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "1", "--runs", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    for words in ("made-up  ready  4.00 ms virtual", "account closed", "phases up to ready", "slowest initcalls"):
        assert words in out
    assert "self-tests of the crypto API" in out
    assert str(profile_run.path / "report.html") in out
    page = (profile_run.path / "report.html").read_text()
    assert "profile.bin" in page and "result.json" in page


def test_exports_lie_beside_the_page_or_where_they_are_wanted(
    profile_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["profile", "1", "--runs", str(tmp_path)]
    assert run([*words, "--export", "folded", "--export", "json"]) == 0
    assert "wrote profile.instructions.folded" in capsys.readouterr().out
    folded = (profile_run.path / "profile.instructions.folded").read_text()
    assert sum(int(line.rpartition(" ")[2]) for line in folded.splitlines()) == 3_300_000
    elsewhere = tmp_path / "elsewhere"
    assert run([*words, "--export", "perfetto", "--export", "svg", "--export", "csv", "--to", str(elsewhere)]) == 0
    assert {path.name for path in elsewhere.iterdir()} >= {"profile.perfetto.json", "tables"}


def test_a_profile_against_another(profile_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["profile", "1", "--against", "1", "--runs", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "functions by the change of their own time" in out
    assert (profile_run.path / "difference.html").stat().st_size > 10_000


def test_advice(profile_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["advise", "1", "--json", "--runs", str(tmp_path)]) == 0
    advice = json.loads(capsys.readouterr().out)
    assert advice["items"][0]["remedy"]["technique"] == "cmdline_cryptomgr_notests"
    assert sum(item["cost_ns"] for item in advice["items"]) + advice["rest_ns"] == advice["total_ns"] == 4_000_000
    assert run(["advise", "1", "--runs", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = next(line for line in lines if re.match(r" *\d+\.\d\d ", line))
    assert "self-tests of the crypto API" in first
    assert any("the kernel image's decompressor (zstd)" in line for line in lines)


@pytest.mark.parametrize("part", [1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_a_profile_that_was_cut_off_is_shown_as_far_as_it_goes(
    part: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, _ = made_up_profile()
    write_profile_run(tmp_path, size=len(data) * part // 10, outcome=Outcome.TARGET_DIED)
    assert run(["profile", "1", "--runs", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "target died" in out
    assert "the profile was cut off" in out
    assert run(["profile", "1", "--json", "--runs", str(tmp_path)]) == 1
    assert json.loads(capsys.readouterr().out)["complete"] is False


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["profile", "nope.toml"], "nope.toml: no such file"),
        (["profile", "nope"], "nope: no such run"),
        (["profile", "1", "--seed", "2"], "1: a run on record is not booted"),
        (["profile", "1", "--vcpus", "2"], "1: a run on record is not booted"),
        (["profile", "{system}", "--vcpus", "0"], "--vcpus 0: expected 1 to 255"),
        (["profile", "{system}", "--vcpus", "two"], "--vcpus two: not a number"),
        (["profile", "{system}", "--vcpus", "1,2", "--memory", "256,512"], "a list of one of them at a time"),
        (["profile", "{system}", "--vcpus", "1,2", "--export", "svg"], "go with one boot"),
        (["profile", "{system}", "--symbols", "README.md"], "README.md: not a file of symbols"),
        (["profile", "{system}", "--symbols", "/none"], "/none: no such file"),
        (["profile", "{system}", "--export", "gif"], "--export"),
        (["profile", "{system}", "--span", "-1"], "--span"),
        (["profile", "{system}", "--against", "77"], "77: no such run"),
        (["advise", "77"], "77: no such run"),
    ],
)
def test_wrong_use(
    words: list[str], message: str, profile_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    words = [word.format(system="examples/debian-cloud.toml") for word in words]
    with pytest.raises(InputError, match=message):
        run([*words, "--runs", str(tmp_path)])


def test_other_runs_have_no_profile(tmp_path: Path) -> None:
    from bootlab.experiments.store import Store

    Store(tmp_path).start("measure", "x", {})
    with pytest.raises(InputError, match="a run of bootlab measure has no profile"):
        run(["advise", "1", "--runs", str(tmp_path)])


@pytest.mark.parametrize("name", ["profile.json", "profile.bin", "functions.txt", "record.json"])
@pytest.mark.parametrize("content", [b"", b"\xff{", b"{}"])
def test_damage_is_named(name: str, content: bytes, profile_run: Run, tmp_path: Path) -> None:
    (profile_run.path / "boots" / "1" / name).write_bytes(content)
    with pytest.raises((InputError, StoreError), match=name.replace(".", r"\.")):
        run(["profile", "1", "--runs", str(tmp_path)])


def test_lists_of_numbers() -> None:
    assert parse_numbers("--vcpus", "1,2,4", 1, 8) == [1, 2, 4]
    assert parse_numbers("--vcpus", "2..5", 1, 8) == [2, 3, 4, 5]
    assert parse_numbers("--vcpus", "1, 1..3", 1, 8) == [1, 2, 3]
    for text in ("", ",", "1,", "4..2", "9", "1..", "-1", "1e3", "1..255"):
        with pytest.raises(InputError, match="--vcpus"):
            parse_numbers("--vcpus", text, 1, 8 if text != "1..255" else 255)
