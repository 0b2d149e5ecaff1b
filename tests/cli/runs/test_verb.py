"""`bootlab runs gc`: says what may go and how large it is, and removes it only where it is told to."""

import json
from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.experiments.store import RunKind, Store


@pytest.mark.promise("bootlab runs gc")
def test_runs_are_listed_first_and_removed_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / "of [red]\x1b")
    for _ in range(3):
        store.start(RunKind.BOOT, "alpha", {})
    words = ["runs", "gc", "--runs", str(store.root), "--older-than", "0", "--keep", "1"]
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "2 folders" in said and "--remove removes them" in said and "1 runs stay" in said
    assert "\x1b" not in said
    assert len(store.runs()) == 3
    assert run([*words, "--remove", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "bootlab.runs-gc/1" and document["removed"]
    assert [Path(one["path"]).name for one in document["removable"]] == ["0001-alpha-boot", "0002-alpha-boot"]
    assert [one.path.name for one in store.runs()] == ["0003-alpha-boot"]
