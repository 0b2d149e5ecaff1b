"""`bootlab ledger publish` on recorded boots: what the site has, what it leads to, and what it leaves alone."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError
from bootlab.ledger.file import append_entry
from bootlab.ledger.site_folder import MANIFEST
from tests.cli.conftest import write_profile_run
from tests.cli.test_compare import Place, placed
from tests.cli.test_ledger import two_states
from tests.ledger.entries import MS, entry

HOSTILE = "</script><script>window.stolen=1</script><img src=x onerror=alert(1)>"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("BOOTLAB_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.chdir(tmp_path)
    return placed(tmp_path)


def published(place: Place, *words: str, capsys: pytest.CaptureFixture[str], code: int = 0) -> dict[str, Any]:
    """Publish into `site` and return what that said."""
    capsys.readouterr()
    words = ("publish", str(place.folder / "site"), "--runs", str(place.runs), *words)
    assert run(["ledger", *words, "--json"]) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def links(page: Path) -> set[Path]:
    """Return the files of the site that a page leads to."""
    found = re.findall(r'href="([^"#:]+)"', page.read_text())
    return {(page.parent / one).resolve() for one in found}


@pytest.mark.promise("bootlab ledger publish")
def test_each_entry_leads_to_the_page_of_its_run(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    two_states(place)
    done = published(place, capsys=capsys)
    assert (done["systems"], done["entries"], done["entries_with_report"]) == (1, 2, 2)
    site = place.folder / "site"
    system = site / "systems/small.html"
    assert links(site / "index.html") == {system.resolve()}
    reports = {path.resolve() for path in (site / "reports").iterdir()}
    assert len(reports) == 2 and links(system) == reports | {(site / "index.html").resolve()}
    text = system.read_text()
    assert "it is v1" in text and 'v2: <span class="verdict shorter">shorter</span>, saved +5.00 ms' in text
    again = published(place, capsys=capsys)
    assert (again["written"], again["unchanged"], again["removed"]) == (0, done["written"], 0)
    assert run(["ledger", "publish", str(site), "--runs", str(place.runs)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "2 entries of 1 systems; 2 with the page of their run" in said and "0 written, 4 unchanged" in said


def test_a_run_that_is_kept_nowhere_is_said_and_a_published_page_outlives_its_run(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    two_states(place)
    published(place, capsys=capsys)
    place.runs.rename(place.folder / "gone")
    assert published(place, capsys=capsys)["entries_with_report"] == 2
    append_entry(place.folder / "ledger", entry("c", 9, system="small"))
    assert published(place, capsys=capsys)["entries_with_report"] == 2
    assert "not kept here" in (place.folder / "site/systems/small.html").read_text()


def test_functions_outlive_their_profile_too(tmp_path: Path, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    profiled = write_profile_run(place.runs)
    words = ["ledger", "add", str(profiled.path), "--label", "v1", "--runs", str(place.runs)]
    assert run(words) == 0
    done = published(place, capsys=capsys)
    assert (done["entries_with_functions"], done["entries_with_report"]) == (1, 1)
    (functions,) = (tmp_path / "site/profiles").glob("*.json")
    assert json.loads(functions.read_text())["alg_test"] == [2_000_000, 2_000_000]
    place.runs.rename(tmp_path / "gone")
    assert published(place, capsys=capsys)["entries_with_functions"] == 1
    functions.write_text("{")
    done = published(place, capsys=capsys, code=1)
    assert done["entries_with_functions"] == 0, "another size: it is not the one that was published"
    assert functions.read_text() == "{"


def test_pages_of_profiles_may_be_left_out(tmp_path: Path, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    profiled = write_profile_run(place.runs)
    assert run(["ledger", "add", str(profiled.path), "--label", "v1", "--runs", str(place.runs)]) == 0
    done = published(place, "--no-profile-pages", capsys=capsys)
    assert (done["entries_with_functions"], done["entries_with_report"]) == (1, 0)
    assert not list((tmp_path / "site").glob("*/*-profile.html"))
    assert "left out" in (tmp_path / "site/systems/made-up.html").read_text()


def test_known_issues_stand_there_with_their_gains(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    folder = place.folder / "ledger"
    for name, cost in (("a", 40), ("b", 15)):
        append_entry(folder, entry(name, 100 - cost, issues_ns={"tests": cost * MS}))
    (folder / "known-issues.toml").write_text(
        '[[issue]]\ntitle = "tests"\ntechnique = "cmdline_quiet"\nlink = "https://example.org/1"\n'
        '[[issue]]\ntitle = "other"\ntechnique = "cmdline_quiet"\nlink = "javascript:alert(1)"\n'
    )
    published(place, capsys=capsys)
    for page in ("index.html", "systems/board.html"):
        text = (place.folder / "site" / page).read_text()
        assert "2026-01-02 bbbbbbbbbbbb: +25.00 ms" in text
        assert 'href="https://example.org/1"' in text and "javascript:" not in text


def test_what_cannot_be_read_is_left_out_and_said(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    folder = place.folder / "ledger"
    append_entry(folder, entry("a", 100))
    (folder / "conflict.jsonl").write_text("<<<<<<< HEAD\n")
    (folder / "empty.jsonl").write_text("")
    (folder / "half.jsonl").write_text('{"schema": "bootlab.ledger/9"}\n')
    done = published(place, capsys=capsys, code=1)
    assert done["systems"] == 1 and len(done["remarks"]) == 4
    text = (place.folder / "site/index.html").read_text()
    assert "a merge has left a conflict" in text and "an entry of bootlab.ledger/9" in text
    assert "empty: no entry of it can be read" in text


def test_words_of_others_are_no_markup(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = {"note": HOSTILE, "inputs": {HOSTILE: HOSTILE}, "phases": [{"name": HOSTILE, "duration_ns": 1}],
               "cpu": HOSTILE}  # fmt: skip
    for name in "ab":
        append_entry(place.folder / "ledger", entry(name, 100, **hostile))
    append_entry(
        place.folder / "ledger", entry("c", 1, seeds=[], seeds_ns=[], outcome="panicked", detail=HOSTILE, note=HOSTILE)
    )
    published(place, capsys=capsys)
    for page in (place.folder / "site").rglob("*.html"):
        assert "<img" not in page.read_text() and page.read_text().count("<script>") == 1


def test_entries_that_do_not_compare_have_charts_of_their_own(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    for name, cpu in (("a", "max"), ("b", "host"), ("c", "max")):
        append_entry(place.folder / "ledger", entry(name, 100, cpu=cpu))
    published(place, capsys=capsys)
    text = (place.folder / "site/systems/board.html").read_text()
    assert text.count('class="ledger-chart"') == 2 and "CPU model host" in text


def test_no_ledger_and_no_place_are_told(place: Place) -> None:
    with pytest.raises(InputError, match="no ledger there"):
        run(["ledger", "publish", str(place.folder / "site")])
    assert not (place.folder / "site").exists()
    with pytest.raises(InputError, match="DIR: empty"):
        run(["ledger", "publish", ""])
    append_entry(place.folder / "ledger", entry("a", 100))
    (place.folder / "site").mkdir()
    (place.folder / "site/index.html").write_text("mine")
    with pytest.raises(InputError, match="bootlab has not published it"):
        run(["ledger", "publish", str(place.folder / "site")])
    assert (place.folder / "site/index.html").read_text() == "mine"
    assert not (place.folder / "site" / MANIFEST).exists()
