"""CONTRIBUTING.md's walks, followed to the letter in a copy of the tree: files written, commands run."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
WALKS = ("Adding a technique", "Adding an importer", "Adding a target", "Adding a kind of experiment")
COPIED = ("bootlab", "docs", "examples", "guest", "patches", "plugin", "scripts", "tests")
LONGEST_S = 600


@dataclass(frozen=True)
class Step:
    """A block of a walk: commands, or with `path` the text of a file."""

    path: str
    text: str


def steps_of(document: str, title: str) -> list[Step]:
    """Return the blocks below a heading."""
    section = re.split(r"\n##+ ", document.partition(f"\n### {title}\n")[2])[0]
    blocks = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert all(path or language == "sh" for language, path, _ in blocks), "a block that is neither commands nor a file"
    return [Step(path, text) for _, path, text in blocks]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this tree that uses this tree's Python."""
    copy = tmp_path_factory.mktemp("walk") / "bootlab"
    copy.mkdir()
    for name in COPIED:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"), symlinks=True)
    for file in ROOT.iterdir():
        if file.is_file() and file.name != ".git":
            shutil.copy2(file, copy / file.name)
    (copy / ".venv").symlink_to((ROOT / ".venv").resolve())
    return copy


def follow(tree: Path, title: str) -> str:
    """Write the files of a walk and run its commands; returns what they printed."""
    said = ""
    steps = steps_of((ROOT / "CONTRIBUTING.md").read_text(), title)
    assert steps
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "PYTEST"))}
    environment |= {"PYTHONPATH": str(tree)}
    for step in steps:
        if step.path:
            (tree / step.path).parent.mkdir(parents=True, exist_ok=True)
            (tree / step.path).write_text(step.text)
            continue
        done = subprocess.run(
            ["bash", "-e"], input=step.text, cwd=tree, env=environment, timeout=LONGEST_S, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert done.returncode == 0, f"{step.text}\n{done.stdout[-6000:]}"
        said += done.stdout
    return said


def test_there_is_nothing_between_the_walks_that_nobody_follows() -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("\n## Walks\n")[2].partition("\n## ")[0]
    assert re.findall(r"^### (.*)$", section, re.MULTILINE) == list(WALKS)


def test_all_walks_one_after_the_other(tree: Path) -> None:
    technique = follow(tree, WALKS[0])
    assert "leaves the power management of PCI Express links" in technique
    assert "cmdline_pcie_aspm_off" in (tree / "docs/techniques.md").read_text()
    importer = follow(tree, WALKS[1])
    assert "stopwatch.txt" in importer and "3 events" in importer
    target = follow(tree, WALKS[2])
    assert "ready" in target
    experiment = follow(tree, WALKS[3])
    assert re.search(r"program: ready twice, \d+\.\d{3} ms apart", experiment)
    linted = subprocess.run(
        [tree / ".venv/bin/ruff", "check", "bootlab", "tests"], cwd=tree, capture_output=True, text=True, check=False
    )
    assert linted.returncode == 0, linted.stdout
