"""Git repositories whose commits boot as a test says: recorded boots answer, moved by what each commit's file has.

    made = Repository(tmp_path, later_us={20: 1000, 40: -500}, commits=64)
    made.bisect("--good", made.at(0), "--bad", made.at(63))

Every commit has a file `state`; `build.sh` makes of it what the system file names: the boots that answer, and an init,
by whose path the boots of two commits are told apart.
"""

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bootlab.cli.app import run
from bootlab.experiments.store import Store
from tests.replayed import Answer, replayed
from tests.targets.replay.record_boots import SMALL

BUILD = """set -e
. ./state
test "$FAILS" != yes || { echo "cannot compile: no such thing" >&2; exit 1; }
mkdir -p out
cp -r "$RECORDED" out/recorded
cp state out/init
printf '\\n[[answer]]\\nlater_ns = %s\\n%b' "$LATER_NS" "$MORE" >> out/recorded/replay.toml
"""


class Repository:
    """A repository below `folder`, its system file in it, and a store of runs beside it.

    `later_us`: commit -> by how many microseconds it is longer than the one before. `fails`: commits that do not build,
    `dies`: that panic, `more`: commit -> further lines of its answer, from that commit on alone.
    """

    def __init__(
        self,
        folder: Path,
        *,
        later_us: Mapping[int, int],
        commits: int = 16,
        fails: tuple[int, ...] = (),
        dies: tuple[int, ...] = (),
        more: Mapping[int, str] | None = None,
        answers: tuple[Answer, ...] = (),
    ) -> None:
        self.folder = folder / "repository"
        self.runs = folder / "runs"
        self.outside = folder / "outside"
        replayed(self.outside, *answers)
        self.folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "Ada Example")
        self.git("config", "user.email", "ada@example.org")
        (self.folder / "build.sh").write_text(BUILD)
        (self.folder / ".gitignore").write_text("out\n")
        self.system = self.folder / "mine.toml"
        self.write_system(self.system)
        self.later_us = 0
        self.before_build = ""
        for number in range(commits):
            self.later_us += later_us.get(number, 0)
            self.write_state(
                fails=number in fails,
                more='end = "panicked"\\n' if number in dies else (more or {}).get(number, ""),
            )
            self.commit(f"change {number}")

    def write_system(self, path: Path, *words: str) -> None:
        """Write the system file, with words on its command line; its files are those that a build makes."""
        cmdline = " ".join(("cryptomgr.notests", *words))
        text = SMALL.read_text().replace("cryptomgr.notests", cmdline).replace('init = "init"', 'init = "out/init"')
        path.write_text(f'name = "mine"\n{text}\n[target]\nkind = "replay"\nboots = "out/recorded"\n')

    def write_state(self, *, fails: bool = False, more: str = "") -> None:
        """Write what the next commit boots like."""
        text = f"LATER_NS={self.later_us * 1000}\nFAILS={'yes' if fails else 'no'}\nMORE='{more}'\n"
        (self.folder / "state").write_text(text)

    def commit(self, subject: str) -> str:
        """Commit all there is; returns the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        return self.at()

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", "-C", self.folder, *words], capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def at(self, number: int | None = None) -> str:
        """Return the commit with a number, by its subject; the last one without."""
        if number is None:
            return self.git("rev-parse", "HEAD")
        return self.git("log", "--all", "--format=%H", f"--grep=^change {number}$")

    @property
    def command(self) -> str:
        return f"{self.before_build} RECORDED={self.outside / 'recorded'} sh build.sh"

    def words(self, *more: str) -> list[str]:
        """Return the command line of a bisection, which begins a new run unless it goes on with one."""
        new = ["--repo", str(self.folder), "--build", self.command, "--no-explain"]
        # Of an option that is given twice the last one holds.
        return ["bisect", str(self.system), *(new if "--resume" not in more else []), *more, "--runs", str(self.runs)]

    def bisect(self, *more: str) -> tuple[int, dict[str, Any]]:
        """Return the exit code of a bisection and what it has on record."""
        code = run(self.words(*more))
        found: dict[str, Any] = json.loads(Store(self.runs).find("last").result_text())
        return code, found

    def ends(self, good: int, bad: int | None = None) -> list[str]:
        """Return the options that name two commits by number, the last one without."""
        return ["--good", self.at(good), "--bad", self.at(bad)]

    def worktrees(self) -> list[str]:
        """Return the working trees that git knows of."""
        return [line for line in self.git("worktree", "list", "--porcelain").splitlines() if "worktree " in line]

    def forget_builds(self, cache: Path) -> None:
        """Take what was built out of the cache."""
        shutil.rmtree(cache / "bisect-build", ignore_errors=True)


def subjects(steps: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """Return the subject of each step's commit, and by how many microseconds it is longer."""
    return [(step["after"]["subject"], round(step["longer_ns"] / 1000)) for step in steps]
