"""What a unit's file takes away from its processes, its signals, and reloading: as those processes see them."""

import os
from pathlib import Path

import pytest

from tests.boot.init.behaviour.test_cgroups import CgroupNamespace, needs_cgroups
from tests.boot.init.namespace import InitNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]


def said(init: InitNamespace, unit: str) -> list[str]:
    """Return what a unit has written."""
    return [line.split(f"] {unit}: ")[1] for line in init.ask(f"log {unit}").splitlines() if f"] {unit}: " in line]


def test_limits_and_capabilities_are_those_of_the_file(tmp_path: Path, programs: dict[str, Path]) -> None:
    once = "exec /bin/worker confined\nready exit\n"
    units = {
        "plain": once,
        "tight": f"{once}user 65534\nlimit-nofile 20:30\numask 027\nno-new-privileges yes\ncapabilities chown\n"
        "ambient-capabilities chown\n",
        "root": f"{once}capabilities all-but sys_admin\nfiles 40\n",
        "wrong": f"{once}capabilities flying\n",
    }
    services = {
        "service": "[Service]\nType=oneshot\nExecStart=/bin/worker confined\nUser=65534\nLimitNOFILE=20:30\n"
        "UMask=0027\nNoNewPrivileges=yes\nCapabilityBoundingSet=CAP_CHOWN\nAmbientCapabilities=CAP_CHOWN\n",
        "whole": "[Service]\nType=oneshot\nExecStart=+/bin/worker confined\nUser=65534\nLimitNOFILE=20:30\n"
        "CapabilityBoundingSet=\n",
    }
    root = tmp_path / "root"
    wants = root / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True)
    for name, text in services.items():
        (wants.parent / f"{name}.service").write_text(text)
        (wants / f"{name}.service").symlink_to(f"../{name}.service")
    with InitNamespace(root, programs, units, "systemd yes\n") as init:
        states = init.until_settled()
        assert states == {**dict.fromkeys(("plain", "tight", "root", "service", "whole"), "up"), "wrong": "failed"}
        tight = ["uid 65534 files 20:30 umask 027 nnp 1 chown 1 sys_admin 0 ambient 1"]
        assert said(init, "tight") == tight and said(init, "service") == tight
        assert said(init, "whole") == ["uid 0 files 20:30 umask 022 nnp 0 chown 1 sys_admin 1 ambient 0"]
        assert said(init, "root") == ["uid 0 files 40:40 umask 022 nnp 0 chown 1 sys_admin 0 ambient 0"]
        assert said(init, "plain")[0].endswith("umask 022 nnp 0 chown 1 sys_admin 1 ambient 0")
        assert "wrong.unit:3: capabilities: expected none, or names of capabilities" in init.console()


def test_a_limit_of_a_group_is_said_where_it_cannot_be(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {"big": "exec /bin/worker stay\nmemory-max 64M\npids-max 10\n"}
    with InitNamespace(tmp_path / "root", programs, units) as init:
        assert init.until_settled() == {"big": "up"}
        for key in ("memory-max", "pids-max"):
            assert f"big: {key}: there is no cgroup v2: it is not limited" in init.console()
        assert init.ask("restart big") == "ok\n"
        init.until(lambda: init.states() == {"big": "up"})
        assert init.console().count("memory-max") == 1


@needs_cgroups
def test_a_limit_of_a_group_is_written_or_said(tmp_path: Path, programs: dict[str, Path]) -> None:
    units = {"big": "exec /bin/worker stay\nmemory-max 64M\npids-max 10\ncpu-weight 50\n"}
    with CgroupNamespace(tmp_path / "root", programs, units) as init:
        assert init.until_settled() == {"big": "up"}
        folder = init.group / "bootlab/big.unit"
        for key, file, value in (
            ("memory-max", "memory.max", str(64 << 20)),
            ("pids-max", "pids.max", "10"),
            ("cpu-weight", "cpu.weight", "50"),
        ):
            written = (folder / file).read_text().strip() if (folder / file).exists() else None
            is_said = f"big: {key}: " in init.console()
            assert written == value and not is_said or written != value and is_said, init.console()


def test_signals_and_reloads(tmp_path: Path, programs: dict[str, Path]) -> None:
    hears = "exec /bin/worker hears\n"
    units = {
        "plain": hears,
        "quits": f"{hears}stop-signal QUIT\nreload-signal HUP\n",
        "told": f"{hears}stop-signal INT\nreload /bin/worker hup\n",
        "broken": f"{hears}reload /bin/nothing\n",
        "late": f"{hears}reload /bin/worker stay\ntimeout 300ms\n",
        "twice": f"{hears}reload -/bin/worker exit 3\nreload /bin/worker hup\n",
        "down": f"{hears}enable no\nreload /bin/worker hup\n",
    }
    with InitNamespace(tmp_path / "root", programs, units) as init:
        init.until_settled()
        assert init.ask("reload plain") == "error: plain: its file has no line reload or reload-signal\n"
        assert init.ask("reload down") == "error: down: it is not up, so there is nothing to reload\n"
        assert init.ask("reload nobody").startswith("error: nobody: no such unit")
        for unit in ("quits", "told", "twice"):
            assert init.ask(f"reload {unit}") == "ok\n"
            init.until(lambda unit=unit: said(init, unit) == ["signal 1"])
        init.until(lambda: "told is reloaded" in init.console() and "twice is reloaded" in init.console())
        assert init.ask("reload broken") == "ok\n" and init.ask("reload late") == "ok\n"
        assert init.ask("reload late") == "error: late: it is being reloaded already\n"
        init.until(lambda: "late: its reload command did not end in time; it runs on as it was" in init.console())
        init.until(lambda: "broken: its reload command could not be executed: exec: No such file" in init.console())
        # One that is stopped while it is at it.
        assert init.ask("reload late") == "ok\n" and init.ask("stop late") == "ok\n"
        for unit, number in (("plain", 15), ("quits", 3), ("told", 2)):
            assert init.ask(f"stop {unit}") == "ok\n"
            init.until(lambda unit=unit, number=number: said(init, unit)[-1:] == [f"signal {number}"])
        init.until(
            lambda: (
                init.states()
                == {**dict.fromkeys(("plain", "quits", "told", "late"), "off"), "broken": "up", "twice": "up"}
            )
        )
        init.until(lambda: init.processes() == 2)
