"""Commits on a command line: names are completed, and a hook's repository is not taken for the one that is named."""

import os
from pathlib import Path

import pytest

from bootlab.cli.options.commits import complete_revision, forget_hook
from tests.ledger.bisect.repository import Repository


def test_branches_and_tags_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Repository(tmp_path, later_us={}, commits=1)
    made.git("tag", "v1.0")
    made.git("branch", "v2-work")
    monkeypatch.chdir(made.folder)
    assert complete_revision("v") == ["v2-work", "v1.0"]
    monkeypatch.chdir(tmp_path)
    assert complete_revision("v") == []


def test_the_repository_of_a_hook_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Repository(tmp_path, later_us={}, commits=1)
    monkeypatch.chdir(made.folder)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert complete_revision("ma") == []
    forget_hook()
    assert complete_revision("ma") == ["main"] and "GIT_DIR" not in os.environ
