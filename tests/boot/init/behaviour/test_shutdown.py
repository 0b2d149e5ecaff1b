"""A shutdown ends in KILL, sync and a read-only root, however little time it has and whoever will not stop."""

import os
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.units.plan import read_plan
from tests.boot.init.behaviour.machine_namespace import MachineNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_DEAF = {"deaf": "exec /bin/worker deaf\nstop-timeout 1h\n"}


@pytest.mark.parametrize("timeout_s", [0.2, 2.0, 6.0])
def test_a_short_time_is_enough_for_sync_and_a_read_only_root(
    tmp_path: Path, programs: dict[str, Path], timeout_s: float
) -> None:
    with MachineNamespace(tmp_path / "root", programs, _DEAF, f"shutdown-timeout {timeout_s}s\n") as init:
        assert init.until_settled() == {"deaf": "up"}
        # SIGTERM to all has a part of the time, KILL and sync what they take.
        assert init.power_off() < timeout_s + 1
        assert init.is_read_only(), init.console()


def test_three_requests_at_once_wait_for_nobody_but_for_sync(tmp_path: Path, programs: dict[str, Path]) -> None:
    with MachineNamespace(tmp_path / "root", programs, _DEAF, "shutdown-timeout 20s\n") as init:
        assert init.until_settled() == {"deaf": "up"}
        assert init.power_off(requests=3, pause_s=0.2) < 3
        assert init.is_read_only(), init.console()
        assert "nothing is waited for but sync and unmount" in init.console()


def test_requests_far_apart_are_no_impatience(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {"slow": "exec /bin/worker stay\nstop /bin/worker work 4000 0\n"}
    with MachineNamespace(tmp_path / "root", programs, units, "shutdown-timeout 20s\n") as init:
        assert init.until_settled() == {"slow": "up"}
        assert 4 <= init.power_off(requests=3, pause_s=1.2) < 10
        assert init.is_read_only(), init.console()
        assert "nothing is waited for" not in init.console()


def test_a_stop_timeout_that_no_shutdown_has_is_told_before(tmp_path: Path) -> None:
    units = tmp_path / "etc/bootlab/units"
    units.mkdir(parents=True)
    (units / "long.unit").write_text("exec /bin/a\nstop-timeout 1min\n")
    (units / "ever.unit").write_text("exec /bin/a\nstop-timeout infinity\n")
    (units / "short.unit").write_text("exec /bin/a\nstop-timeout 7s\n")
    (units / "default.unit").write_text("exec /bin/a\n")
    (tmp_path / "etc/bootlab/init.conf").write_text("shutdown-timeout 10s\n")
    found = {problem.path: problem for problem in read_plan(tmp_path, Cache.default()).problems}
    assert set(found) == {"/etc/bootlab/units/long.unit", "/etc/bootlab/units/ever.unit"}
    for problem in found.values():
        assert problem.line == 2 and "7.000 s, 70 % of init.conf's shutdown-timeout" in problem.message
