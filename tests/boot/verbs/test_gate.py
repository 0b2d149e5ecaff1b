"""What is new or grew, named by a gate on real boots: a program, a unit, a file and functions of the kernel."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

ROOT = Path(__file__).parents[3]
TINY = ROOT / "tests/boot/tiny_kernel"
UNIT = "/etc/systemd/system/new.service"
TOOL = "/bin/new-tool"


def bootlab(*words: str, runs: Path, codes: tuple[int, ...] = (0,)) -> dict[str, Any]:
    command = [sys.executable, "-m", "bootlab", *words, "--json", "--runs", str(runs)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=900)
    assert done.returncode in codes, done.stdout + done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.fixture
def sides(tmp_path: Path) -> tuple[str, str]:
    """The tiny system, and one whose init asks for the system's name by a program of its own before it is ready."""
    for name in ("before", "after"):
        shutil.copytree(TINY, tmp_path / name)
    after = tmp_path / "after"
    (after / "tool").write_text("#!/bin/busybox sh\n/bin/busybox uname -r >/dev/null\n")
    (after / "tool").chmod(0o755)
    (after / "unit").write_text("[Service]\nExecStart=/bin/new-tool\n")
    init = (after / "init").read_text()
    (after / "init").write_text(init.replace("/sbin/bootlab-mark", f"{TOOL}\n/sbin/bootlab-mark"))
    text = (after / "tiny.toml").read_text()
    files = f'files = {{ "{TOOL}" = "tool", "{UNIT}" = "unit" }}\n'
    (after / "tiny.toml").write_text(text.replace('init = "init"\n', f'init = "init"\n{files}'))
    return str(tmp_path / "before/tiny.toml"), str(after / "tiny.toml")


def named(found: dict[str, Any], *, new: bool) -> set[tuple[str, str]]:
    return {(one["kind"], one["name"]) for one in found["grown"] if (one["before"] is None) is new}


def test_what_is_new_or_grew_is_named_and_nothing_of_a_system_that_did_not_change(
    sides: tuple[str, str], tmp_path: Path
) -> None:
    before, after = sides
    runs = tmp_path / "runs"
    same = bootlab("gate", before, "--against", before, "--explain", "--nulls", "3", runs=runs)
    assert (same["verdict"], same["grown"], same["not_looked_at"]) == ("unchanged", [], [])
    found = bootlab("gate", after, "--against", before, "--nulls", "3", runs=runs, codes=(1,))
    assert {("unit", UNIT), ("file", TOOL), ("process", TOOL)} <= named(found, new=True)
    assert ("function", "__do_sys_newuname") in named(found, new=True) or ("function", "__x64_sys_newuname") in named(
        found, new=True
    )
    assert ("file", "/init") in named(found, new=False)
    assert found["not_looked_at"] == []
    assert {label.name for label in Path(found["profile"]).glob("boots/*")} == {"1", "against", "null"}


def test_a_side_on_record_is_known_by_its_profile(sides: tuple[str, str], tmp_path: Path) -> None:
    before, after = sides
    runs = tmp_path / "runs"
    bootlab("boot", before, runs=runs)
    bootlab("profile", before, runs=runs)
    found = bootlab("gate", after, "--against", "1", "--explain", "--nulls", "3", runs=runs, codes=(2,))
    assert found["verdict"] == "cannot say", "of one boot nobody knows how far it moves"
    assert ("process", TOOL) in named(found, new=True)
    assert found["not_looked_at"] == ["files: what it is held against is on record, without them"]
