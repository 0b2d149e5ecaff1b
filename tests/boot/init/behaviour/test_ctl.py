"""bootlab-ctl: it waits for what it has asked for, tells states as data, and completes its words in bash."""

import json
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.boot.init.namespace import CTL, InitNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_UNITS = {
    "slow": "exec /bin/worker work 600 0\nready exit\nenable no\n",
    "slow-to-stop": "exec /bin/worker stay\nstop /bin/worker work 500 0\n",
    "fails": "exec /bin/worker exit 3\nready exit\nenable no\n",
    "blocked": "exec /bin/worker stay\nneeds fails\nenable no\n",
    "left": "exec /bin/worker stay\ncondition not path /\nenable no\n",
    "loops": "exec /bin/worker exit 1\nready notify\nrestart always\nrestart-delay 1h\nenable no\n",
    "told": "exec /bin/worker hears\nreload /bin/worker hup\n",
    "untold": "exec /bin/worker hears\nreload /bin/worker exit 4\n",
    "never": "exec /bin/worker stay\nready notify\ntimeout infinity\nenable no\n",
}


def call(init: InitNamespace, *words: str) -> tuple[int, str, str]:
    """Return the exit status of bootlab-ctl, and what it says on both streams."""
    done = subprocess.run(
        ["chroot", str(init.root), CTL, *words], capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def test_it_waits_for_what_was_asked(tmp_path: Path, programs: dict[str, Path]) -> None:
    with InitNamespace(tmp_path / "root", programs, _UNITS) as init:
        init.until_settled()
        began_s = time.monotonic()
        assert call(init, "start", "--wait", "slow") == (0, "ok\n", "")
        assert time.monotonic() - began_s > 0.5 and init.states()["slow"] == "up"
        assert call(init, "stop", "--wait", "slow-to-stop") == (0, "ok\n", "")
        assert time.monotonic() - began_s > 1.0 and init.states()["slow-to-stop"] == "off"
        # What is so already is answered at once.
        assert call(init, "start", "slow", "--wait")[0] == call(init, "stop", "slow-to-stop", "--wait")[0] == 0
        assert call(init, "restart", "--wait", "told") == (0, "ok\n", "")
        assert call(init, "reload", "--wait", "told") == (0, "ok\n", "")
        for unit, said in {
            "fails": "fails is failed: /bin/worker ended with status 3",
            "blocked": "blocked is blocked: needs fails, which is failed",
            "left": "left is left-out: its condition does not hold: not path / (line 2)",
            "loops": "loops is backoff: ended with status 1 before it was ready",
        }.items():
            assert call(init, "start", "--wait", unit) == (1, "", f"error: {said}\n")
        assert call(init, "reload", "--wait", "untold")[2] == (
            "error: untold: its reload command failed; it runs on as it was\n"
        )
        assert call(init, "start", "--wait", "nobody")[0] == 1


def test_many_wait_and_others_are_served(tmp_path: Path, programs: dict[str, Path]) -> None:
    with InitNamespace(tmp_path / "root", programs, _UNITS) as init:
        init.until_settled()
        answers: list[str] = []
        threads = [
            threading.Thread(target=lambda: answers.append(init.ask("start never wait")), daemon=True)
            for _ in range(40)
        ]
        for thread in threads:
            thread.start()
        init.until(lambda: len(answers) == 8)
        assert set(answers) == {
            "error: it is asked for, but too many wait for units already; look with bootlab-ctl status\n"
        }
        # One who goes makes room.
        gone = subprocess.Popen(["chroot", str(init.root), CTL, "status"], stdout=subprocess.DEVNULL)
        assert gone.wait(10) == 0
        assert init.ask("stop never") == "ok\n"
        for thread in threads:
            thread.join(20)
        assert answers[8:] == ["error: never is off\n"] * 32
        descriptors = init.descriptors()
        waiting = subprocess.Popen(["chroot", str(init.root), CTL, "start", "--wait", "never"])
        init.until(lambda: init.descriptors() > descriptors and init.states().get("never") == "starting")
        waiting.kill()
        waiting.wait()
        assert init.ask("stop never wait") == "ok\n"
        init.until(lambda: init.descriptors() == descriptors)
        assert init.shut_down(20) < 5


def test_states_as_data_and_the_words_that_fit(tmp_path: Path, programs: dict[str, Path]) -> None:
    with InitNamespace(tmp_path / "root", programs, {**_UNITS, 'q"u\\ote': "exec /bin/nothing\n"}) as init:
        init.until_settled()
        status, text, _ = call(init, "status", "--json")
        found = {unit["name"]: unit for unit in json.loads(text)["units"]}
        assert status == 0 and json.loads(text)["version"] == 1 and set(found) == {*_UNITS, 'q"u\\ote'}
        assert found["told"] == {
            **found["told"], "state": "up", "origin": "unit", "why": None, "restarts": 0, "at_boot": True,
            "path": "/etc/bootlab/units/told.unit",
        }  # fmt: skip
        assert found["told"]["pid"] > 1 and found["told"]["in_state_ns"] > 0
        assert found["never"]["state"] == "off" and found["never"]["pid"] == 0 and not found["never"]["at_boot"]
        assert found['q"u\\ote']["state"] == "failed" and "/bin/nothing: exec" in found['q"u\\ote']["why"]
        for words in (["status", "--wait"], ["start", "--json", "told"], ["start"], ["why"], ["start", "a", "b"], []):
            assert call(init, *words)[0] == 2
        names = call(init, "names")[1].split()
        assert set(names) == set(found)


def test_completion_in_bash(tmp_path: Path, programs: dict[str, Path]) -> None:
    script = subprocess.run([programs[CTL], "completion"], capture_output=True, text=True, check=True).stdout
    (tmp_path / "bootlab-ctl").write_text("#!/bin/sh\necho alpha\necho beta\n")
    (tmp_path / "bootlab-ctl").chmod(0o755)

    def complete(*words: str) -> list[str]:
        quoted = " ".join(f"'{word}'" for word in words)
        asked = (
            f"COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}\n_bootlab_ctl\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        )
        environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        return subprocess.run(
            ["bash", "-c", script + asked], capture_output=True, text=True, check=True, env=environment
        ).stdout.split()

    assert complete("bootlab-ctl", "sta") == ["status", "start"]
    assert complete("bootlab-ctl", "start", "") == ["--wait", "alpha", "beta"]
    assert complete("bootlab-ctl", "why", "b") == ["beta"]
    assert complete("bootlab-ctl", "status", "-") == ["--json"]
    assert complete("bootlab-ctl", "poweroff", "") == []
