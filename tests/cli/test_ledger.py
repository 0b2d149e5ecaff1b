"""`bootlab ledger` on recorded boots: two states of a system, measured, added, and told apart."""

import json
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError
from bootlab.ledger.file import read_history
from tests.cli.test_compare import Place, placed

FAST = "plain"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("BOOTLAB_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.chdir(tmp_path)
    return placed(tmp_path)


def said(*words: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return what a verb of the ledger says in JSON."""
    capsys.readouterr()
    run(["ledger", *words, "--json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def shown(*words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what a verb of the ledger says to people, in one line."""
    capsys.readouterr()
    assert run(["ledger", *words]) == 0
    return " ".join(capsys.readouterr().out.split())


def two_states(place: Place) -> None:
    """Add two entries of one system: as it is, and 5 ms shorter."""
    for label, words in (("v1", ()), ("v2", (FAST,))):
        place.on_record("try", place.system("small", *words), "cmdline_quiet", "--no-stack")
        assert run(["ledger", "add", "--label", label, "--note", f"it is {label}", "--runs", str(place.runs)]) == 0


@pytest.mark.promise(*(f"bootlab ledger {verb}" for verb in ("add", "show", "log", "diff")))
def test_what_a_commit_saved_is_found_again(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    two_states(place)
    first, second = said("log", "small", capsys=capsys)["steps"]
    assert (first["entry"]["commit"], first["saved_ns"], first["verdict"]) == ("v1", None, None)
    assert (second["entry"]["commit"], second["saved_ns"], second["verdict"]) == ("v2", 5_000_000, "shorter")
    assert said("log", "small", "-n", "1", capsys=capsys)["steps"] == [second]
    (last,) = said("show", capsys=capsys)["steps"]
    assert last == second
    difference = said("diff", "small", "v1", "v2", capsys=capsys)["step"]
    assert difference["saved_ns"] == 5_000_000
    assert said("diff", "small", "last", "last~1", capsys=capsys)["step"]["verdict"] == "longer"
    assert "v2" in shown("show", capsys=capsys)
    assert "it is v1" in shown("log", "small", capsys=capsys)
    assert "verdict: shorter" in shown("diff", "small", capsys=capsys)


def test_the_run_is_not_needed_any_more(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    two_states(place)
    place.runs.rename(place.folder / "elsewhere")
    assert len(said("log", "small", capsys=capsys)["steps"]) == 2
    assert str(place.folder) not in (place.folder / "ledger" / "small.jsonl").read_text(), "no path of this machine"


def test_without_a_repository_the_entry_has_no_commit_and_that_is_said(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.on_record("measure", place.system("small"))
    assert run(["ledger", "add", "--runs", str(place.runs)]) == 0
    assert "the entry has no commit" in capsys.readouterr().err
    assert read_history(place.folder / "ledger", "small").entries[0].commit == ""


@pytest.mark.promise("bootlab ledger issues", "bootlab ledger import")
def test_a_dated_list_becomes_known_issues(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    two_states(place)
    dated = place.folder / "improvements"
    dated.write_text("2021-06-21 (524260db7683, by someone): Skip the 3 second wait. Faster by 3000 ms.\nwords\n")
    assert run(["ledger", "import", str(dated), "--system", "small"]) == 1, "a line was left out"
    assert "left out: words" in capsys.readouterr().out
    assert run(["ledger", "import", str(dated), "--system", "small"]) == 1
    assert "0 mended issues added" in capsys.readouterr().out
    (issue,) = said("issues", "small", capsys=capsys)["issues"]
    assert (issue["status"], issue["saved_ms"], issue["cost_ns"]) == ("fixed", 3000, None)
    assert "3000 ms, it is said" in shown("issues", "small", capsys=capsys)


def test_wrong_words_are_told(place: Place) -> None:
    place.on_record("measure", place.system("small"))
    with pytest.raises(InputError, match="--label: goes without --commit"):
        run(["ledger", "add", "--label", "a", "--commit", "HEAD"])
    with pytest.raises(InputError, match="--commit nothing-such"):
        run(["ledger", "add", "--commit", "nothing-such", "--runs", str(place.runs)])
    with pytest.raises(InputError, match="no ledger there"):
        run(["ledger", "show"])
    assert run(["ledger", "add", "--label", "a", "--runs", str(place.runs)]) == 0
    with pytest.raises(InputError, match="no known issue of small"):
        run(["ledger", "issues", "small"])
    with pytest.raises(InputError, match="no line of the form"):
        (place.folder / "x").write_text("nothing")
        run(["ledger", "import", str(place.folder / "x"), "--system", "small"])
    with pytest.raises(InputError, match="cannot be read"):
        run(["ledger", "import", str(place.folder / "missing"), "--system", "small"])
