"""`bootlab examples`: what it prints, and where its copies are."""

import json
from pathlib import Path

import pytest

from bootlab.cli.app import run


def test_one_example_says_where_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["examples", "debian-cloud"]) == 0
    assert "examples/debian-cloud.toml\n" in capsys.readouterr().out


@pytest.mark.promise("bootlab examples")
def test_a_copy_is_named_and_json_has_its_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["examples", "microvm", "--copy", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["path"] for row in document["examples"]] == [str(tmp_path / "microvm.toml")]
    assert (tmp_path / "microvm.toml").is_file()
