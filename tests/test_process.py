"""Children: what they write, how they fail, and that none of them outlives the wait for it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bootlab.errors import MissingTool
from bootlab.process import ProgramFailed, run


def test_output_input_and_environment_reach_the_child() -> None:
    output = run(["sh", "-c", "cat; echo $WORD; echo aside >&2"], input=b"given ", env={"WORD": "told"})
    assert output.text == "given told\n"
    assert output.stderr == b"aside\n"


def test_missing_program_names_the_package_that_holds_it() -> None:
    with pytest.raises(MissingTool, match="no-such-program: program not found") as caught:
        run(["no-such-program"], package="such-package")
    assert caught.value.hint == "apt-get install such-package"


def test_failure_names_program_status_and_last_lines() -> None:
    with pytest.raises(ProgramFailed) as caught:
        run(["sh", "-c", "for n in $(seq 100); do echo line $n >&2; done; exit 7"])
    assert caught.value.message.startswith("sh: exit status 7\n")
    assert caught.value.message.endswith("line 100")
    assert "line 50\n" not in caught.value.message
    assert caught.value.stderr.startswith("line 1\n")
    assert caught.value.exit_status == 7


def test_death_by_signal_is_named() -> None:
    with pytest.raises(ProgramFailed, match="killed by SIGTERM"):
        run(["sh", "-c", "kill -TERM $$"])


def test_deadline_ends_the_child_and_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    started = time.monotonic()
    with pytest.raises(ProgramFailed, match="not done after 0.5 s"):
        run(["sh", "-c", f"sleep 60 & echo $! $$ > {pids}; wait"], deadline_s=0.5)
    assert time.monotonic() - started < 10
    assert [pid for pid in pids.read_text().split() if _runs(int(pid))] == []


def test_ctrl_c_ends_the_child(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = f"from bootlab.process import run; run(['sh', '-c', 'echo $$ > {pids}; exec sleep 60'])"
    parent = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    while not (pids.exists() and pids.read_text()):
        assert parent.poll() is None
        time.sleep(0.01)
    # The child may be ahead of its parent, who has not come back from starting it.
    time.sleep(0.5)
    parent.send_signal(signal.SIGINT)
    _, stderr = parent.communicate(timeout=20)
    assert "KeyboardInterrupt" in stderr
    assert not _runs(int(pids.read_text()))


def _runs(pid: int) -> bool:
    # SIGKILL is sent to the whole group but only the child is waited for.
    for _ in range(200):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return False
        if state == "Z":
            return False
        time.sleep(0.01)
    return True
