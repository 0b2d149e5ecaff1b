"""What a shell can do to the standard streams, and to the process: no traceback, and the exit code of the answer."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bootlab.experiments.store import Run, Store
from bootlab.measure.record import Outcome
from bootlab.measure.record_files import read_record
from tests.cli.conftest import write_profile_run
from tests.targets.replay.record_boots import DATA, SMALL

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def shell(command: str, runs: Path) -> "subprocess.CompletedProcess[str]":
    bootlab = f"{sys.executable} -m bootlab"
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("bootlab", bootlab, 1)],
        capture_output=True, text=True, check=False, env={**ENVIRONMENT, "BOOTLAB_RUNS": str(runs)},
    )  # fmt: skip


@pytest.mark.parametrize(
    "words", ["profile 1", "profile 1 --json", "advise 1", "report --list", "--help", "techniques"]
)
def test_a_full_disk_is_an_error_in_words(words: str, profile_run: Run, tmp_path: Path) -> None:
    done = shell(f"bootlab {words} > /dev/full", tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "bootlab: error: standard output: No space left on device"
    assert done.stderr.splitlines()[1].startswith("  hint: ")
    assert len(done.stderr.splitlines()) == 2


def test_a_full_disk_under_a_live_console_loses_no_boot(tmp_path: Path) -> None:
    """The boot goes on, and what is said of it, that it is on record, is so."""
    (tmp_path / "boots").symlink_to(DATA / "virtual")
    (tmp_path / "init").write_text("")
    system = tmp_path / "small.toml"
    system.write_text(f'{SMALL.read_text()}\n[target]\nkind = "replay"\nboots = "boots"\n')
    done = shell(f"bootlab boot {system} > /dev/full", tmp_path)
    assert done.returncode == 1
    assert "bootlab: error: standard output: No space left on device" in done.stderr
    (run,) = Store(tmp_path).runs()
    assert run.finished and read_record(run.path / "boots/1").outcome is Outcome.READY


def test_no_standard_input_is_an_error_in_words(tmp_path: Path) -> None:
    done = shell("bootlab import - <&-", tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "bootlab: error: -: standard input is closed"


@pytest.mark.parametrize("words", ["profile 1", "advise 1 --json"])
def test_no_standard_output_is_an_error_in_words(words: str, profile_run: Run, tmp_path: Path) -> None:
    done = shell(f"bootlab {words} >&-", tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "bootlab: error: standard output is closed"
    assert shell(f"bootlab {words} >&- 2>&-", tmp_path).returncode == 2
    assert shell(f"bootlab {words} 2>&- | tail -1", tmp_path).returncode == 0


@pytest.mark.parametrize("words", ["profile 1", "profile 1 --json", "advise 1", "techniques"])
def test_a_reader_that_leaves_changes_no_exit_code(words: str, profile_run: Run, tmp_path: Path) -> None:
    done = shell(f"bootlab {words} | head -1", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_a_bad_boot_stays_one_when_the_reader_leaves(tmp_path: Path) -> None:
    write_profile_run(tmp_path, outcome=Outcome.HUNG)
    done = shell("bootlab profile 1 | head -1", tmp_path)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_ends_a_verb_is_said(number: signal.Signals) -> None:
    code = (
        "import os, sys, time, bootlab.cli, bootlab.cli.app as verbs\n"
        "@verbs.app.command('wait')\n"
        f"def wait(): os.kill(os.getpid(), {int(number)}); time.sleep(20)\n"
        "sys.argv = ['bootlab', 'wait']\n"
        "bootlab.cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 130
    assert done.stderr == "bootlab: error: interrupted\n"
