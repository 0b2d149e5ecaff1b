"""A bisection over a history of Linux' own source: 64 commits, one costs a millisecond, another gives half of it back.

The tree is Debian's, whole; each commit changes a file that the tiny kernel is built from, or one that it is not.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bootlab.build.source.origin import require_source
from bootlab.build.workshop import Workshop
from bootlab.system import read_system
from tests.ledger.bisect.repository import subjects

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

ROOT = Path(__file__).parents[3]
TINY = ROOT / "tests/boot/tiny_kernel"
COMMITS = 65
TURNS = {23: 500_000, 46: 250_000}
"""Commit -> how often its loop turns: a turn is two instructions, of a nanosecond each."""
TOUCHED = ("kernel/fork.c", "Documentation/index.rst", "mm/page_alloc.c", "fs/namei.c", "drivers/usb/core/hub.c")
LOOP = """
static int __init ready_for_history(void)
{{
	unsigned long turn;

	for (turn = 0; turn < {turns}; turn++)
		barrier();
	return 0;
}}
late_initcall(ready_for_history);
"""


class KernelHistory:
    """A repository of a kernel's source, which no commit is checked out of: its objects and its history only."""

    def __init__(self, folder: Path, tree: Path) -> None:
        self.folder = folder
        self.folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        for key, value in (("name", "Ada Example"), ("email", "ada@example.org")):
            self.git("config", f"user.{key}", value)
        self.git(f"--work-tree={tree}", "add", "--all", "--force")
        self.git("commit", "--quiet", "--message", "change 0")

    def git(self, *words: str, said: str = "") -> str:
        command = ["git", f"--git-dir={self.folder}/.git", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True, input=said, cwd=self.folder)
        return done.stdout

    def commit(self, subject: str, path: str, text: str) -> None:
        """Add a commit that leaves one file with other words."""
        blob = self.git("hash-object", "-w", "--stdin", said=text).strip()
        self.git("update-index", "--cacheinfo", f"100644,{blob},{path}")
        self.git("commit", "--quiet", "--message", subject)

    def read(self, path: str) -> str:
        return self.git("show", f"HEAD:{path}")


def test_two_commits_of_a_kernel_among_64_are_found(shop: Workshop, tmp_path: Path) -> None:
    build = read_system(TINY / "tiny.toml").kernel.build
    assert build is not None
    began = time.monotonic()
    history = KernelHistory(tmp_path / "linux", require_source(shop, build).tree)
    main = history.read("init/main.c")
    for number in range(1, COMMITS):
        if number in TURNS:
            history.commit(f"change {number}", "init/main.c", main + LOOP.format(turns=TURNS[number]))
        else:
            path = TOUCHED[number % len(TOUCHED)]
            history.commit(f"change {number}", path, f"{history.read(path)}\n/* As of change {number}. */\n")
    print(f"\nrepository: {time.monotonic() - began:.0f} s")
    words = (TINY / "tiny.toml").read_text().replace('"tiny.config"', f'"{TINY}/tiny.config"')
    words = words.replace('package = "linux-source-6.12"\nsuite = "trixie"', f'source = "{history.folder}"')
    words = words.replace('init = "init"', f'init = "{TINY}/init"')
    # Null changes are words like that one: the second of a kind moves this kernel less than the first, 0.1 ms.
    words = words.replace('cmdline = "', 'cmdline = "quiet bootlab.base=1 ')
    system = tmp_path / "tiny.toml"
    system.write_text(words)
    command = [sys.executable, "-m", "bootlab", "bisect", str(system), "--repo", str(history.folder)]
    command += ["--good", "HEAD~64", "--json", "--runs", str(tmp_path / "runs")]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False, timeout=7200)
    found = json.loads(done.stdout)
    for state in found["measured"]:
        print(f"{state['state']['subject']}: {state['time_ns'] / 1e6:.6f} ms, {state['boots']} boots")
    print(f"{found['builds']} builds in {found['build_s']:.0f} s, {found['boots']} boots")
    assert done.returncode == 0
    assert [name for name, _ in subjects(found["steps"])] == ["change 23", "change 46"]
    cost, saving = (step["longer_ns"] for step in found["steps"])
    assert cost == pytest.approx(1_000_000, rel=0.1)
    assert -saving / cost == pytest.approx(0.5, abs=0.05)
    # Both ends and six halvings find the first change, five more the second; each of them is one build.
    assert len(found["measured"]) <= 13 and found["builds"] <= 13
    names = [{one["name"] for one in step["functions"]} for step in found["steps"]]
    assert all("ready_for_history" in one for one in names), "a profile of both sides says what grew"
