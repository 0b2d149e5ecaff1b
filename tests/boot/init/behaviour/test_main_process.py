"""Which process a unit may call its main one: no other unit's, whoever names it and however."""

import os
import re
from pathlib import Path

import pytest

from tests.boot.init.namespace import InitNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_NOBODY = 65534


def pid_of(init: InitNamespace, unit: str) -> int:
    found = re.search(rf"^{unit} .* pid (\d+)", init.ask("status"), re.MULTILINE)
    assert found is not None, init.ask("status")
    return int(found[1])


@pytest.mark.parametrize("user", ["", f"user {_NOBODY}\n"], ids=["root", "nobody"])
def test_a_message_that_names_the_process_of_another_unit(tmp_path: Path, programs: dict[str, Path], user: str) -> None:
    units = {
        "victim": "exec /bin/worker stay\nrestart always\n",
        # The first process of this namespace, besides PID 1, is the victim's.
        "thief": f"exec /bin/worker claim 2\nready notify\nafter victim\n{user}",
    }
    with InitNamespace(tmp_path / "root", programs, units) as init:
        assert init.until_settled() == {"victim": "up", "thief": "up"}
        assert pid_of(init, "victim") == 2 and pid_of(init, "thief") != 2
        assert "thief: MAINPID: process 2 is a process of another unit" in init.console()
        assert init.ask("stop thief") == "ok\n"
        init.until(lambda: init.states()["thief"] == "off")
        assert init.states()["victim"] == "up" and pid_of(init, "victim") == 2
        init.until(lambda: init.processes() == 1)


def test_pid_files_that_name_the_process_of_another_unit(tmp_path: Path, programs: dict[str, Path]) -> None:
    root = tmp_path / "root"
    thief = "exec /bin/worker stay\nready pidfile\nafter victim\ntimeout 1s\nuser 65534\n"
    units = {
        "victim": "exec /bin/worker stay\n",
        "plain": f"{thief}pidfile /tmp/plain\n",
        "link": f"{thief}pidfile /tmp/link\n",
        "fifo": f"{thief}pidfile /tmp/fifo\n",
    }
    with InitNamespace(root, programs, units) as init:
        (root / "tmp/plain").write_text("2\n")
        os.chown(root / "tmp/plain", _NOBODY, _NOBODY)
        (root / "tmp/link").symlink_to("/tmp/plain")
        os.mkfifo(root / "tmp/fifo")
        states = init.until_settled()
        assert states == {"victim": "up", "plain": "failed", "link": "failed", "fifo": "failed"}
        assert pid_of(init, "victim") == 2
        assert "plain: /tmp/plain: process 2 is a process of another unit" in init.console()
        for name in ("link", "fifo"):
            assert f"{name}: /tmp/{name} is no plain file" in init.console()
        init.until(lambda: init.processes() == 1)


def test_a_process_of_nobodys_is_not_to_be_had_by_a_user(tmp_path: Path, programs: dict[str, Path]) -> None:
    # A helper of root's that outlives its unit's start: no unit holds it, and nobody may end it but root.
    units = {
        "keeper": "exec /bin/worker daemon 2 /tmp/helper\nready fork\n",
        "thief": "exec /bin/worker claim /tmp/helper\nready notify\nafter keeper\nuser 65534\n",
        "root": "exec /bin/worker claim /tmp/helper\nready notify\nafter thief\n",
    }
    with InitNamespace(tmp_path / "root", programs, units) as init:
        assert set(init.until_settled().values()) == {"up"}
        helper = int((tmp_path / "root/tmp/helper").read_text())
        assert f"thief: MAINPID: process {helper} is not of its session or cgroup" in init.console()
        assert pid_of(init, "thief") != helper and pid_of(init, "root") == helper
