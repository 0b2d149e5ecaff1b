"""The table of promises in CONTRIBUTING.md and the tests that are marked with them say the same, and miss no verb.

The marked files are collected by pytest itself, so a mark on one parameter or on a fixture's counts as it does there.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from typer.core import TyperGroup

from bootlab.cli.app import VERBS, read_verb
from bootlab.system import MachineType

ROOT = Path(__file__).resolve().parent.parent
COLLECT = """
import json, sys, pytest

class Marked:
    def pytest_collection_finish(self, session):
        found = [(item.path.as_posix(), item.originalname, name)
                 for item in session.items for mark in item.iter_markers("promise") for name in mark.args]
        print("FOUND" + json.dumps(sorted(set(found))))

sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *sys.argv[1:]], [Marked()]))
"""


@cache
def kept() -> dict[str, dict[str, Path]]:
    """Return promise -> the tests that are marked with it, and their files."""
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if "mark.promise(" in path.read_text()]
    words = [sys.executable, "-c", COLLECT, *(str(path) for path in files if path != Path(__file__))]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, dict[str, Path]] = {}
    for path, test, promise in json.loads(done.stdout.partition("FOUND")[2].splitlines()[0]):
        found.setdefault(promise, {})[test] = Path(path)
    return found


def table() -> dict[str, set[str]]:
    """Return promise -> the tests that CONTRIBUTING.md names beside it."""
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("\n## The promises\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return {promise.replace("`", ""): set(re.findall(r"`(test_\w+)`", tests)) for promise, _, tests in rows[2:]}


def verbs() -> Iterator[str]:
    """Yield every command of the command line, as it is typed."""

    for name in VERBS:
        verb = read_verb(name)
        if isinstance(verb, TyperGroup):
            yield from (f"{name} {second}" for second in verb.commands)
        else:
            yield name


def command_lines(path: Path, test: str) -> Iterator[str]:
    """Yield how a test, and what it uses of its own file, begins lists, calls and what comes after "bootlab".

    A word that is no constant is "*".
    """
    tree = ast.parse(path.read_text())
    defined: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            defined[node.name] = node
        elif isinstance(node, ast.Assign):
            defined |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
    waiting, seen = [test], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in defined or name in seen:
            continue
        seen.add(name)
        for node in ast.walk(defined[name]):
            if isinstance(node, ast.Name):
                waiting.append(node.id)
            elif isinstance(node, ast.arg):
                waiting.append(node.arg)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from re.findall(r"-m bootlab ([a-z -]+)", node.value)
            elif isinstance(node, ast.Call | ast.List):
                parts = node.args if isinstance(node, ast.Call) else node.elts
                words = [str(one.value) if isinstance(one, ast.Constant) else "*" for one in parts]
                begin = words.index("bootlab") + 1 if "bootlab" in words else 0
                yield " ".join(words[begin : begin + 3])


def runs(verb: str, path: Path, test: str) -> bool:
    """Return whether a test runs a verb, both of whose words may be brought together by a function of its own."""
    lines = {f"{line} " for line in command_lines(path, test)}
    first, _, second = verb.partition(" ")

    def begins(words: str) -> bool:
        return any(line.startswith(f"{words} ") for line in lines)

    return begins(verb) or (bool(second) and begins(f"{first} *") and begins(second))


def test_the_table_and_the_marks_agree() -> None:
    marked = {promise: set(tests) for promise, tests in kept().items()}
    assert table() == marked


@pytest.mark.parametrize("verb", list(verbs()))
def test_every_verb_is_run_to_keep_its_promise(verb: str) -> None:
    tests = kept().get(f"bootlab {verb}", {})
    assert any(runs(verb, path, test) for test, path in tests.items()), (
        f"no test marked promise('bootlab {verb}') runs it, only: {', '.join(tests) or 'none'}"
    )


def test_every_emulated_machine_has_a_promise() -> None:
    emulated = {f"machine {one.value}" for one in MachineType if not one.is_real}
    assert emulated <= kept().keys()
