"""`make site`: what it is asked is checked before anything is measured."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("words", "more", "says"),
    [
        (["0"], {}, "site: error: 0: not a number of commits"),
        (["all"], {}, "site: error: all: not a number of commits"),
        (["3"], {"STEP": "x"}, "site: error: x: not a number of commits"),
        (["3"], {"KERNELS": "1"}, "site: error: KERNELS=1: not all, 0, or a number from 2 on"),
        (["3", "nothing-such"], {}, "site: error: examples/nothing-such.toml: no such example"),
    ],
)
def test_wrong_words_are_told(words: list[str], more: dict[str, str], says: str) -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "site", *words],
        capture_output=True, text=True, check=False, timeout=60, env={**os.environ, **more},
    )  # fmt: skip
    assert (done.returncode, done.stderr.strip()) == (2, says)
