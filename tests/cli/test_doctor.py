"""`bootlab doctor --fix`: what installs what is missing, and what is said when it does not."""

from pathlib import Path

import pytest

from bootlab.cli import doctor as module
from bootlab.cli.app import run
from bootlab.errors import MissingTool


def script(folder: Path, text: str) -> Path:
    path = folder / "setup"
    path.write_text(f"#!/bin/bash\n{text}\n")
    return path


def test_fix_runs_the_set_up_for_packages_alone_and_leaves_standard_output_to_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "SETUP", script(tmp_path, 'echo "given: $*"'))
    module._install("run")
    module._install("build")
    assert capfd.readouterr() == ("", "given: --packages run\ngiven: --packages build\n")


def test_a_set_up_that_fails_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SETUP", script(tmp_path, "exit 3"))
    with pytest.raises(MissingTool, match="could not be installed"):
        module._install("run")


def test_the_list_ends_with_what_is_not_here_and_the_command_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking = tmp_path / "bin"
    lacking.mkdir()
    for program in {path.name: path for path in (*Path("/usr/sbin").iterdir(), *Path("/usr/bin").iterdir())}.values():
        if program.name not in ("flex", "bison"):
            (lacking / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", str(lacking))
    assert run(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "absent   flex" in said
    assert said.splitlines()[-2] == "for every boot: all is here"
    assert said.splitlines()[-1] == ("for builds: 2 not here (make setup-build installs what apt has): flex, bison")
    assert run(["doctor", "--build"]) == 3
    assert "MISSING  flex" in capsys.readouterr().out
