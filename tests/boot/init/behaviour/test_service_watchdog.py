"""A unit that has to say again and again that it is well, and does not, has failed, and may be started again."""

import os
from pathlib import Path

import pytest

from tests.boot.init.behaviour.test_services import write
from tests.boot.init.namespace import InitNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]


def test_who_does_not_feed_its_watchdog_has_failed(tmp_path: Path, programs: dict[str, Path]) -> None:
    root = tmp_path / "root"
    units = {
        "well": "exec /bin/worker feeds 1000000\nready notify\nwatchdog 2s\n",
        # It need not be the way in which it says that it is ready.
        "hangs": "exec /bin/worker feeds 5\nwatchdog 1s\n",
        "again": "exec /bin/worker feeds 2\nready notify\nwatchdog 1s\nrestart on-failure\nrestart-delay 20ms\n",
        "honest": "exec /bin/worker feeds 0 1\nready notify\nwatchdog 1h\n",
        "once": "exec /bin/worker exit 0\nready exit\nwatchdog 1s\n",
    }
    service = "[Service]\nType=notify\nExecStart=/bin/worker feeds 3\nWatchdogSec=1\n"
    files = {
        "usr/lib/systemd/system/service.service": service,
        "usr/lib/systemd/system/other.service": f"{service}WatchdogSignal=SIGTERM\n",
    }
    write(root, files, ("service", "other"))
    with InitNamespace(root, programs, units, "systemd yes\n") as init:
        for name in ("hangs", "again", "service"):
            init.until(
                lambda name=name: f"{name} failed: its watchdog was not fed for 1.000 s" in init.console(),
                deadline_s=20,
            )
        assert "] service: every 1000000 us" in init.ask("log service")
        init.until(lambda: init.states()["honest"] == "failed")
        assert (
            "honest failed: its watchdog was not fed for 3600.000 s, or it said that it is not well" in init.console()
        )
        init.until(lambda: "2 restarts" in init.ask("status"))
        assert init.states()["well"] == "up" and init.states()["once"] == "failed"
        assert "once.unit: watchdog: it has no main process" in init.console()
        assert "other.service:5: WatchdogSignal: who does not feed its watchdog gets SIGABRT here" in init.console()
        assert init.shut_down(20) < 5
