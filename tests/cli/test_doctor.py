"""`bootlab doctor --fix`: what installs what is missing, and what is said when it does not."""

from pathlib import Path

import pytest

from bootlab.cli import doctor as module
from bootlab.errors import MissingTool


def script(folder: Path, text: str) -> Path:
    path = folder / "setup"
    path.write_text(f"#!/bin/bash\n{text}\n")
    return path


def test_fix_runs_the_set_up_for_packages_alone_and_leaves_standard_output_to_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "SETUP", script(tmp_path, 'echo "given: $*"'))
    module._install()
    assert capfd.readouterr() == ("", "given: --packages\n")


def test_a_set_up_that_fails_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SETUP", script(tmp_path, "exit 3"))
    with pytest.raises(MissingTool, match="could not be installed"):
        module._install()
