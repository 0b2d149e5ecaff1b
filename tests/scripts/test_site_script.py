"""`make site`: what it is asked is checked before anything is measured."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("words", "step", "says"),
    [
        (["0"], "1", "site: error: 0: not a number of commits"),
        (["all"], "1", "site: error: all: not a number of commits"),
        (["3"], "x", "site: error: x: not a number of commits"),
        (["3", "nothing-such"], "1", "site: error: examples/nothing-such.toml: no such example"),
    ],
)
def test_wrong_words_are_told(words: list[str], step: str, says: str) -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "site", *words],
        capture_output=True, text=True, check=False, timeout=60, env={**os.environ, "STEP": step},
    )  # fmt: skip
    assert (done.returncode, done.stderr.strip()) == (2, says)
