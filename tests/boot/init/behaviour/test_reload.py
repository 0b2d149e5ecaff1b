"""All unit files read anew while units run, and units enabled and disabled: what goes on, changes and goes."""

import os
import random
import socket
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.units.plan import read_plan
from tests.boot.init.behaviour.test_confinement import said
from tests.boot.init.namespace import InitNamespace
from tests.boot.init.test_namespace import free_ports

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_STAY = "exec /bin/worker stay\n"


def file_of(init: InitNamespace, unit: str) -> Path:
    return init.root / f"etc/bootlab/units/{unit}.unit"


def pid_of(init: InitNamespace, unit: str) -> int:
    (line,) = (line for line in init.ask("status").splitlines() if line.split()[0] == unit)
    return int(line.split("pid ")[1].split()[0])


def test_what_is_new_changed_and_gone(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {
        "same": _STAY,
        "changed": f"{_STAY}stop /bin/worker say old\n",
        "gone": f"{_STAY}stop /bin/worker say bye\n",
        "waits": f"{_STAY}needs gone\n",
        "idle": "exec /bin/worker exit 0\nready exit\nenable no\n",
    }
    with InitNamespace(tmp_path / "root", programs, units) as init:
        init.until_settled()
        pids = {unit: pid_of(init, unit) for unit in ("same", "changed", "gone", "waits")}
        assert (
            init.ask("reload")
            == "0 new, 0 changed (0 of them run on as they were), 0 gone (0 of them run on), 0 problems\n"
        )
        file_of(init, "changed").write_text(f"{_STAY}env A=1\nstop /bin/worker say new\n")
        file_of(init, "idle").write_text("exec /bin/worker say taken\nready exit\nenable no\n")
        file_of(init, "gone").unlink()
        file_of(init, "new").write_text(f"{_STAY}needs same\n")
        file_of(init, "wrong").write_text("exce /bin/worker\n")
        said_now = init.ask("reload")
        assert said_now.startswith("2 new, 2 changed (1 of them run on as they were), 1 gone (1 of them run on), ")
        assert "see bootlab-ctl log" in said_now
        # Who needs what is no longer there is told; nobody is stopped by that.
        assert {unit: pid_of(init, unit) for unit in pids} == pids
        rows = {line.split()[0]: line for line in init.ask("status").splitlines()}
        assert rows["changed"].endswith("changed on disk") and rows["gone"].endswith("its file is gone")
        assert "changed on disk" not in rows["same"]
        # The old stop command stops the old program; the new one begins.
        assert init.ctl("restart", "--wait", "changed") == "ok\n"
        assert said(init, "changed") == ["old"]
        assert "changed on disk" not in init.ask("status")
        assert init.ctl("stop", "--wait", "changed") == "ok\n"
        assert said(init, "changed") == ["old", "new"]
        assert init.ctl("start", "--wait", "idle") == "ok\n" and said(init, "idle") == ["taken"]
        assert init.ctl("start", "--wait", "new") == "ok\n"
        # It stops as it was, is not started again, and with the next reading it is no unit any more.
        init.ctl("stop", "--wait", "gone")
        assert said(init, "gone") == ["bye"]
        init.ctl("start", "--wait", "gone")
        assert "its file is gone" in init.ask("why gone")
        init.ask("reload")
        assert "gone" not in init.ask("names").split() and init.ask("start gone").startswith(
            "error: gone: no such unit"
        )
        # And comes back where it was.
        file_of(init, "gone").write_text(_STAY)
        assert init.ask("reload").startswith("1 new, ")
        assert init.ctl("start", "--wait", "gone") == "ok\n"
        assert init.shut_down(30) < 12


def test_a_socket_stays_open_past_it(tmp_path: Path, programs: dict[str, Path]) -> None:
    """A program ends after three clients. Nobody is refused; the next one has the new socket of its file, too."""
    (port,) = free_ports(1)
    unit = f"exec /bin/worker serve 3\nrestart always\nrestart-delay 20ms\nlisten tcp 127.0.0.1:{port}\n"
    with InitNamespace(tmp_path / "root", programs, {"server": unit}) as init:
        init.until_settled()
        answers = []
        for turn in range(20):
            if turn == 7:
                file_of(init, "server").write_text(f"listen unix /run/app/more\n{unit}")
                file_of(init, "aaa").write_text("exec /bin/worker serve 3\nlisten unix /run/app/other\n")
                assert init.ask("reload").startswith("1 new, 1 changed (1 of them run on as they were)")
            with socket.create_connection(("127.0.0.1", port), 10) as connection:
                answers.append(connection.makefile().read().split(" of ")[1])
        assert answers[:9] == ["1\n"] * 9 and answers[9:] == ["2\n"] * 11
        assert (init.root / "run/app/more").exists()
        file_of(init, "server").unlink()
        init.ask("reload")
        init.ctl("stop", "--wait", "server")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), 10)


def test_instances_that_nothing_names(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {"say@": "exec /bin/worker say %i\nready exit\n", "stay@": _STAY}
    with InitNamespace(tmp_path / "root", programs, units) as init:
        init.until_settled()
        assert init.ctl("start", "--wait", "say@one") == "ok\n"
        assert said(init, "say@one") == ["one"]
        assert init.ctl("start", "--wait", "stay@a") == "ok\n"
        assert init.ask("start other@b").startswith("error: other@b: no such unit")
        # It runs, so it is one of the units whatever is read.
        assert init.ask("reload").startswith("0 new, 0 changed (0 of them run on as they were), 0 gone")
        assert init.states()["stay@a"] == "up"


def test_random_edits(tmp_path: Path, programs: dict[str, Path]) -> None:
    """Files come, change and go at random between readings, and units start and stop: each keeps its process."""
    dice = random.Random(22)
    names = [f"u{number}" for number in range(30)]
    with InitNamespace(tmp_path / "root", programs, dict.fromkeys(names[:20], _STAY)) as init:
        init.until_settled()
        descriptors = init.descriptors()
        for turn in range(60):
            before = {name: pid_of(init, name) for name, state in init.states().items() if state == "up"}
            for name in dice.sample(names, 6):
                path = file_of(init, name)
                if path.exists() and dice.random() < 0.4:
                    path.unlink()
                else:
                    needs = "".join(f"after {dice.choice(names)}\n" for _ in range(dice.randrange(3)))
                    path.write_text(f"{_STAY}env A={turn}\n{needs}")
            assert " new, " in init.ask("reload")
            assert {name: pid_of(init, name) for name in before} == before
            for name in dice.sample(names, 6):
                init.ask(f"{dice.choice(['start', 'stop', 'restart'])} {name}")
            init.until_settled()
        for name in names:
            init.ask(f"stop {name}")
        init.until(lambda: "up" not in init.states().values() and "stopping" not in init.states().values())
        init.until(lambda: init.processes() == 0)
        assert init.descriptors() < descriptors
        assert init.shut_down(30) < 12


def test_enable_and_disable(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {"on": _STAY, "off": f"{_STAY}enable no\n", "get@": _STAY}
    with InitNamespace(tmp_path / "root", programs, units) as init:
        init.until_settled()
        assert init.ctl("disable", "on") == "on: not started at the next boot; what runs now stays as it is\n"
        assert init.ctl("enable", "off").startswith("off: started at the next boot")
        assert init.ctl("enable", "get@a").startswith("get@a: started")
        assert init.states()["on"] == "up"
        for wrong in ("nothing", "../on", "x@y"):
            assert init.ctl("enable", wrong) == ""
        plan = read_plan(init.root, Cache.default())
        assert {unit.name for unit in plan.units if unit.wanted and unit.is_work} == {"off", "get@a"}
        assert plan.problems == ()
        # An instance that runs is not lost with its link.
        assert init.ctl("start", "--wait", "get@a") == "ok\n"
        assert init.ctl("disable", "get@a").startswith("get@a: not started")
        init.ask("reload")
        assert init.states()["get@a"] == "up"
    # An image, from outside.
    assert (tmp_path / "root/etc/bootlab/units/off.unit.d/99-enable.conf").read_text() == "enable yes\n"
