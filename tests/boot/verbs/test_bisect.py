"""A bisection on real boots: 64 commits of an image's recipe, of which one costs a millisecond and one saves half."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.ledger.bisect.repository import subjects

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

ROOT = Path(__file__).parents[3]
TINY = ROOT / "tests/boot/tiny_kernel"
TURNS = {0: 100, 23: 186, 46: 143}
"""Commit -> how often init's loop turns from there on: 86 turns of busybox sh take a millisecond."""
INIT = """#!/bin/busybox sh
# As of change {number}.
turn=0
while [ "$turn" -lt {turns} ]; do turn=$((turn + 1)); done
/sbin/bootlab-mark ready
/bin/busybox poweroff -f
"""


class Images:
    """A repository with a commit for each number, whose build packs an initramfs around that commit's init."""

    def __init__(self, folder: Path, commits: int) -> None:
        self.folder = folder / "image"
        self.runs = folder / "runs"
        self.folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "Ada Example")
        self.git("config", "user.email", "ada@example.org")
        kernel = (TINY / "tiny.toml").read_text().replace('"tiny.config"', f'"{TINY}/tiny.config"')
        # Null changes are words like that one: the second of a kind moves this kernel less than the first, 0.08 ms.
        kernel = kernel.replace('cmdline = "', 'cmdline = "quiet bootlab.base=1 ')
        (self.folder / "recipe.toml").write_text(kernel)
        packed = kernel.replace('init = "init"\ncompression = "none"', 'path = "out/initramfs.cpio"')
        assert packed != kernel
        (self.folder / "tiny.toml").write_text(packed)
        (self.folder / ".gitignore").write_text("out\n")
        turns = 0
        for number in range(commits):
            turns = TURNS.get(number, turns)
            (self.folder / "init").write_text(INIT.format(number=number, turns=turns))
            (self.folder / "init").chmod(0o755)
            self.git("add", "--all")
            self.git("commit", "--quiet", "--message", f"change {number}")

    def git(self, *words: str) -> str:
        return subprocess.run(["git", "-C", self.folder, *words], capture_output=True, text=True, check=True).stdout

    @property
    def build(self) -> str:
        pack = [sys.executable, "-m", "bootlab", "build", "initramfs", "recipe.toml", "-o", "out/initramfs.cpio"]
        return f"mkdir out && PYTHONPATH={shlex.quote(str(ROOT))} {shlex.join(pack)}"


def words(made: Images, *more: str) -> list[str]:
    """Return the command line of a bisection."""
    command = [sys.executable, "-m", "bootlab", "bisect", str(made.folder / "tiny.toml")]
    return [*command, *more, "--json", "--runs", str(made.runs)]


@pytest.mark.promise("bootlab bisect")
def test_two_commits_among_64_are_found_and_a_run_goes_on(tmp_path: Path) -> None:
    made = Images(tmp_path, 65)
    asked = ["--good", "HEAD~64", "--bad", "HEAD", "--repo", str(made.folder), "--build", made.build]
    begun = subprocess.Popen(
        words(made, *asked), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    deadline = time.monotonic() + 1500
    while len(list(made.runs.glob("*/boots/*/record.json"))) < 18 and begun.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    begun.send_signal(signal.SIGINT)
    _, errors = begun.communicate(timeout=60)
    assert begun.returncode == 130, errors
    assert f"--resume {made.runs}/0001-tiny-bisect" in errors
    assert made.git("worktree", "list").count("\n") == 1
    kept = {path: path.stat().st_mtime_ns for path in made.runs.glob("*/boots/*/record.json")}

    done = subprocess.run(
        words(made, "--resume", "last"), cwd=ROOT, capture_output=True, text=True, check=False, timeout=1500
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept, "finished boots are not booted again"
    assert [name for name, _ in subjects(found["steps"])] == ["change 23", "change 46"]
    cost, saving = (step["longer_ns"] for step in found["steps"])
    # A turn takes the same number of instructions wherever it is, so the steps are as their turns.
    assert cost == pytest.approx(1_000_000, rel=0.2)
    assert -saving / cost == pytest.approx(0.5, abs=0.03)
    assert abs(found["unexplained_ns"]) <= found["limit_ns"]
    # Both ends, six halvings for the first and five for the second; the first call has built some of them.
    assert len(found["measured"]) <= 13 and found["builds"] < 13
    # Whole families of both ends and of both sides of both steps, one boot of every other: 55 where all of it is plain.
    assert found["boots"] < 13 * 8
    assert all(step["functions"] for step in found["steps"]), "a profile of both sides says what grew"
    assert made.git("worktree", "list").count("\n") == 1
    assert made.git("status", "--porcelain") == ""
