"""`scripts/try-package`: each way in has its make target, is tried in a clean root, and a wrong word is told."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/try-package"


@pytest.mark.parametrize("words", [[], ["rpm"], ["wheel", "deb"]])
def test_wrong_words_are_told(words: list[str]) -> None:
    done = subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: scripts/try-package wheel|pipx|deb\n")


def test_every_way_has_a_target_that_is_run_in_a_clean_root() -> None:
    makefile = (ROOT / "Makefile").read_text()
    ways = re.findall(r"^    (\w+)\)$", SCRIPT.read_text(), re.MULTILINE)
    targets = dict(re.findall(r"^([\w-]+):[^\n]*\n\tscripts/try-package (\w+)$", makefile, re.MULTILINE))
    assert len(ways) == 3 and sorted(targets.values()) == sorted(ways)
    (run,) = re.findall(r"^\tscripts/clean-root 13 (.*)$", makefile, re.MULTILINE)
    assert targets.keys() <= set(run.split())
    phony = makefile.partition("\n.PHONY:")[2].partition("\n\n")[0]
    assert targets.keys() <= set(phony.split())
