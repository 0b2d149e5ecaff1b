"""CONTRIBUTING.md's walks, followed to the letter in a copy of the tree: files written, commands run."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = "Outside of the package"
WALKS = ("Adding a technique", "Adding an importer", "Adding a target", "Adding a kind of experiment", OUTSIDE)
COPIED = ("bootlab", "debian", "docs", "examples", "guest", "patches", "plugin", "scripts", "tests")
LONGEST_S = 600
# What holds the documents to the tree: a walk that adds a model and forgets its keys leaves them red.
OF_THE_DOCUMENTS = ("tests/test_model_tables.py", "tests/test_documents.py")
# Their scripts install what they need themselves, on a machine that is thrown away.
INSTALLED_BY_SCRIPTS = {"wheel-test", "package-test", "deb-test", "clean-root-test"}


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
    _make_ready(copy)
    return copy


def _make_ready(copy: Path) -> None:
    # The walks begin where `make setup-dev` has been run, and this tree was set up, not its copy: to do it again would
    # take the network and minutes.
    make = copy.parent / "bin/make"
    make.parent.mkdir()
    make.write_text(f'#!/bin/sh\nexec {shutil.which("make")} --old-file=setup-dev "$@"\n')
    make.chmod(0o755)


def follow(tree: Path, title: str) -> str:
    """Write the files of a walk and run its commands; returns what they printed."""
    said = ""
    steps = steps_of((ROOT / "CONTRIBUTING.md").read_text(), title)
    assert steps
    for step in steps:
        if step.path:
            (tree / step.path).parent.mkdir(parents=True, exist_ok=True)
            (tree / step.path).write_text(step.text)
        else:
            said += run(tree, step.text)
    return said


def own_environment() -> dict[str, str]:
    """Return what commands see that are typed by nobody's `make` and in nobody's test."""
    outer = ("MAKE", "PYTEST", "BOOTLAB_GOLDEN")
    return {name: value for name, value in os.environ.items() if not name.startswith(outer)}


def run(tree: Path, commands: str) -> str:
    """Run commands at the top of a tree and return what they printed; each has to succeed."""
    environment = own_environment()
    environment |= {"PYTHONPATH": str(tree), "PATH": f"{tree.parent / 'bin'}:{environment['PATH']}"}
    done = subprocess.run(
        ["bash", "-e"], input=commands, cwd=tree, env=environment, timeout=LONGEST_S, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert done.returncode == 0, f"{commands}\n{done.stdout[-6000:]}"
    return done.stdout


def expect_told(tree: Path) -> None:
    """Hold a tree's documents, and their tables of keys, to what is in it now."""
    run(tree, f".venv/bin/python -m pytest -q -p no:cacheprovider {' '.join(OF_THE_DOCUMENTS)}")


def written_in(tree: Path) -> dict[Path, int]:
    """Return when each file of the package, its tests and its documents was written last."""
    files = (path for name in ("bootlab", "docs", "tests") for path in (tree / name).rglob("*") if path.is_file())
    return {path: path.stat().st_mtime_ns for path in files if "__pycache__" not in path.parts}


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
    assert "| `target.command` | list of text | required | Switches it on; " in (tree / "docs/systems.md").read_text()
    expect_told(tree)
    experiment = follow(tree, WALKS[3])
    assert re.search(r"program: ready twice, \d+\.\d{3} ms apart", experiment)
    assert "### bootlab.twice/1\n" in (tree / "docs/formats.md").read_text()
    assert (tree / "debian/man/bootlab-twice.1").is_file()
    expect_told(tree)
    run(tree, ".venv/bin/ruff check bootlab tests")
    before = written_in(tree)
    outside = follow(tree, OUTSIDE)
    assert "does without the memory controller of control groups" in outside
    assert re.search(r"bench\.sample +bench, written by bench\n3 events", outside), outside
    assert re.search(r"cmdline_memory_cgroup_off +function +5\.00 ", outside), outside
    assert written_in(tree) == before


def targets_of_the_table() -> list[str]:
    """Return the targets of make in CONTRIBUTING.md's table of commands."""
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("\n## Commands\n")[2].partition("\n## ")[0]
    cells = "".join(line.split(" | ")[0] for line in section.splitlines() if line.startswith("| "))
    return re.findall(r"`make ([a-z-]+)", cells)


def make(*words: str) -> str:
    """Run make in this tree, where it is to change nothing, and return what it printed."""
    done = subprocess.run(["make", *words], cwd=ROOT, env=own_environment(), check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.parametrize("target", sorted({*targets_of_the_table()} - INSTALLED_BY_SCRIPTS))
def test_a_command_sets_up_what_it_needs(target: str) -> None:
    # What a container is made with would be installed where it is missing.
    said = make("--dry-run", target, "NAME=x", "CONTAINER_TOOLS=mmdebstrap")
    assert re.match(r"scripts/setup (run|build|dev|web)\n|.*apt-get -qq update && ", said), said


def test_help_names_each_target_of_the_table() -> None:
    said = make("help")
    assert {*targets_of_the_table()} <= {*re.findall(r"^make ([a-z-]+) ", said, re.MULTILINE)}
