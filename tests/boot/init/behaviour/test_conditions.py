"""A unit whose condition does not hold is left out, and never failed; what is bound to it does not start either."""

import os
from pathlib import Path

import pytest

from tests.boot.init.behaviour.test_services import write
from tests.boot.init.namespace import InitNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_STAY = "exec /bin/worker stay\n"
_OWN = "etc/systemd/system"


def test_left_out_is_not_failed(tmp_path: Path, programs: dict[str, Path]) -> None:
    root = tmp_path / "root"
    units = {
        "here": f"{_STAY}condition path /bin\ncondition not path /etc/absent\n",
        "later": f"{_STAY}condition path /tmp/flag\n",
        "needs": f"{_STAY}needs later\n",
        "wants": f"{_STAY}wants later\n",
        "blind": f"{_STAY}condition colour red\n",
    }
    service = "[Service]\nExecStart=/bin/worker stay\n"
    files = {
        f"{_OWN}/skipped.service": f"[Unit]\nConditionPathExists=!/bin\n{service}",
        # Of systemd's, Requires= is content with one that was skipped, BindsTo= is not.
        f"{_OWN}/requires.service": f"[Unit]\nRequires=skipped.service\nAfter=skipped.service\n{service}",
        f"{_OWN}/binds.service": f"[Unit]\nBindsTo=skipped.service\nAfter=skipped.service\n{service}",
        f"{_OWN}/asserts.service": f"[Unit]\nAssertPathExists=/etc/absent\n{service}",
    }
    write(root, files, ("skipped", "requires", "binds", "asserts"))
    with InitNamespace(root, programs, units, "systemd yes\n") as init:
        assert init.until_settled() == {
            "here": "up", "later": "left-out", "needs": "blocked", "wants": "up", "blind": "failed",
            "skipped": "left-out", "requires": "up", "binds": "blocked", "asserts": "failed",
        }  # fmt: skip
        assert "later is left out by its condition: path /tmp/flag (line 2)" in init.console()
        assert "2 are left out by their conditions" in init.console()
        assert "its condition does not hold: path /tmp/flag (line 2)" in init.ask("why later")
        assert "needs later, which is left-out" in init.ask("why needs")
        assert "asserts failed: line 2: what must hold does not: /etc/absent" in init.console()
        # Looked at anew with each start.
        (root / "tmp/flag").touch()
        assert init.ask("start needs") == "ok\n"
        init.until(lambda: init.states()["needs"] == init.states()["later"] == "up")
        (root / "tmp/flag").unlink()
        assert init.ask("restart later") == "ok\n"
        init.until(lambda: init.states()["later"] == "left-out" and init.states()["needs"] == "blocked")
        assert init.shut_down(20) < 5
