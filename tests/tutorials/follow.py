"""Follow tutorials from nothing, as a reader would: `python3 -m tests.tutorials.follow [--list] [NAME...]`.

Each begins in a copy of this checkout, with a home of its own that holds nothing else, and so with an empty cache. Its
own first lines set bootlab up; its files are written, its commands typed one by one into one shell, and what it
promises is held against what came of them (promises.py). `--list` says what would be run, and runs nothing.

Only Python's own library is used: `scripts/clean-root 13 tutorial-test` calls this on a machine made this minute.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.tutorials.promises import check_promises, expect_printed
from tests.tutorials.steps import Block, Kind, Tutorial, tutorials

ROOT = Path(__file__).resolve().parents[2]
LONGEST_S = 7200
COLUMNS = 120
# What would lead a reader's commands to this checkout, to its cache, or to the make that calls this.
_NOT_A_READERS = re.compile(r"BOOTLAB_|PYTHON|PYTEST|MAKE|MFLAGS|XDG_|VIRTUAL_ENV|COVERAGE")


@dataclass
class Reader:
    """Who follows a tutorial: where the shell stands, its variables, and what it has typed and read so far."""

    folder: Path
    environment: dict[str, str]
    ran: list[str] = field(default_factory=list)
    said: str = ""
    """All that was printed, each command before what it printed."""

    def type_line(self, line: str) -> str:
        """Run one line in the shell; returns what it prints. Raises AssertionError where it fails or never ends."""
        print(f"$ {line}", flush=True)
        with tempfile.TemporaryDirectory(prefix="bootlab-shell-") as scratch:
            state = Path(scratch) / "state"
            status, printed = self._run(f"{line}\nstatus=$?\n{_saving(state)}\nexit $status")
            said = f"$ {line}\n{printed}"
            self.said += said
            self.ran.append(line)
            assert status == 0, f"{line}: exit code {status}, and the tutorial says nothing of that\n{said[-6000:]}"
            where, *variables = state.read_bytes().decode(errors="surrogateescape").rstrip("\0").split("\0")
        self.folder = Path(where)
        self.environment = dict(variable.split("=", 1) for variable in variables)
        return printed

    def _run(self, script: str) -> tuple[int, str]:
        # `timeout` ends the whole process group, whatever a line has started.
        argv = ["timeout", "--kill-after=60", str(LONGEST_S), "bash", "-c", script]
        lines = []
        with subprocess.Popen(
            argv, cwd=self.folder, env=self.environment, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as shell:  # fmt: skip
            assert shell.stdout is not None
            try:
                for line in shell.stdout:
                    print(line, end="", flush=True)
                    lines.append(line)
            except BaseException:
                shell.terminate()
                raise
        return shell.returncode, "".join(lines)

    def write(self, block: Block) -> None:
        """Write a file of the tutorial where the shell stands."""
        (self.folder / block.path).write_text(block.text, encoding="utf-8")


def _saving(state: Path) -> str:
    return f"{{ printf '%s\\0' \"$PWD\"; env -0; }} >{shlex.quote(str(state))}"


def reader_environment(home: Path, cache: Path | None) -> dict[str, str]:
    """Return the variables of a reader whose home this is: none that leads back to this checkout or its cache.

    With `cache` bootlab's cache is that folder, and not the home's own.
    """
    kept = {name: value for name, value in os.environ.items() if not _NOT_A_READERS.match(name)}
    folders = [one for one in kept.get("PATH", os.defpath).split(":") if not Path(one).is_relative_to(ROOT)]
    kept |= {"HOME": str(home), "PATH": ":".join(folders), "COLUMNS": str(COLUMNS)}
    return kept if cache is None else kept | {"BOOTLAB_CACHE": str(cache)}


def copy_checkout(to: Path) -> None:
    """Copy the checkout that this file is in as it lies here, without what was built in it.

    What git ignores was built. A repository made for the question tells that, so the checkout needs none of its own.
    """
    with tempfile.TemporaryDirectory(prefix="bootlab-git-") as scratch:
        subprocess.run(["git", "init", "--quiet", "--bare", scratch], check=True)
        git = ["git", f"--git-dir={scratch}", f"--work-tree={ROOT}"]
        files = subprocess.run(
            [*git, "ls-files", "--others", "--exclude-standard", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE
        ).stdout
    to.mkdir(parents=True)
    packing = ["tar", "--create", "--null", "--files-from=-"]
    packed = subprocess.run(packing, cwd=ROOT, input=files, check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "--extract", f"--directory={to}"], input=packed, check=True)


def follow(tutorial: Tutorial, home: Path, cache: Path | None = None) -> Reader:
    """Follow a tutorial in a copy of the checkout, in a new home; returns the reader at its end.

    Raises AssertionError where a command fails, or does not print what the tutorial shows below it.
    """
    home.mkdir(parents=True)
    checkout = home / "bootlab"
    copy_checkout(checkout)
    reader = Reader(checkout, reader_environment(home, cache))
    printed = ""
    for block in tutorial.blocks:
        if block.kind is Kind.FILE:
            reader.write(block)
        elif block.kind is Kind.COMMANDS:
            typed = [command.line for command in block.commands if not command.is_aside]
            printed = "".join(reader.type_line(line) for line in typed)
        elif block.kind is Kind.OUTPUT:
            expect_printed(block.text, printed, f"{tutorial.name}.md, line {block.line}")
    return reader


def summary(tutorial: Tutorial) -> str:
    """Return which commands of a tutorial are run, and which are not, each with its reason."""
    run = [command.line for command in tutorial.commands if not command.is_aside]
    lines = [f"{tutorial.name}: {len(run)} commands are run, {len(tutorial.asides)} left out"]
    lines += [f"  run       {line}" for line in run]
    lines += [f"  left out  {one.line}    ({one.time}: {one.reason})" for one in tutorial.asides]
    return "\n".join(lines)


def main() -> int:
    """Follow the tutorials that are named, or all of them, each with its time; returns the exit code."""
    known = {tutorial.name: tutorial for tutorial in tutorials()}
    parser = argparse.ArgumentParser(prog="python3 -m tests.tutorials.follow", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(known)} (all of them)")
    parser.add_argument("--list", action="store_true", help="say what would be run, and run nothing")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in known]:
        parser.error(f"no such tutorial: {', '.join(unknown)}; there are {', '.join(known)}")
    for name in asked.names or known:
        if asked.list:
            print(summary(known[name]))
            continue
        began = time.monotonic()
        print(summary(known[name]), flush=True)
        with tempfile.TemporaryDirectory(prefix=f"bootlab-tutorial-{name}-") as folder:
            try:
                reader = follow(known[name], Path(folder) / "home")
                check_promises(name, reader.folder, reader.said)
            except AssertionError as error:
                print(f"tutorial-test: {name}: failed after {time.monotonic() - began:.0f} s: {error}", file=sys.stderr)
                return 1
        ran, left_out = len(reader.ran), len(known[name].asides)
        passed = f"passed in {time.monotonic() - began:.0f} s: {ran} commands run, {left_out} left out"
        print(f"tutorial-test: {name}: {passed}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
