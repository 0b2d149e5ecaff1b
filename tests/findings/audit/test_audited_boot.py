"""The units that an audit reads out of a root file system: systemd's, and the init scripts that systemd starts, too."""

import stat

import pytest

from bootlab.build.cache import Cache
from bootlab.build.formats.cpio import Entry
from bootlab.findings.audit.audited_boot import read_units

SCRIPT = """#!/bin/sh
### BEGIN INIT INFO
# Provides:          {name}
# Required-Start:    $local_fs
# Required-Stop:
# Default-Start:     2 3 4 5
# Default-Stop:
### END INIT INFO
/usr/bin/{name} start
"""
SERVICE = "[Service]\nExecStart=/usr/sbin/sshd -D\n[Install]\nWantedBy=multi-user.target\n"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """One for all tests: what reads the units is compiled into it."""
    return Cache(tmp_path_factory.mktemp("cache"))


def plain(path: str, text: str, mode: int = 0o644) -> Entry:
    return Entry(path, stat.S_IFREG | mode, text.encode())


def link(path: str, to: str) -> Entry:
    return Entry(path, stat.S_IFLNK | 0o777, to.encode())


def test_a_script_without_a_unit_of_its_name_is_a_unit_in_a_system_of_systemds(cache: Cache) -> None:
    """As Debian's xdm has none; systemd's generator makes one of it."""
    entries = [
        plain("usr/lib/systemd/systemd", "", 0o755),
        plain("usr/lib/systemd/system/ssh.service", SERVICE),
        link("etc/systemd/system/multi-user.target.wants/ssh.service", "/usr/lib/systemd/system/ssh.service"),
        plain("etc/init.d/ssh", SCRIPT.format(name="ssh"), 0o755),
        link("etc/rc2.d/S01ssh", "../init.d/ssh"),
        plain("etc/init.d/xdm", SCRIPT.format(name="xdm"), 0o755),
        link("etc/rc2.d/S01xdm", "../init.d/xdm"),
    ]
    units = {one.name: one.origin for one in read_units(entries, cache).units if one.is_work}
    assert units["ssh"] == "systemd" and units["xdm"] == "lsb"


def test_a_display_manager_is_a_unit_by_the_name_that_graphical_target_wants(cache: Cache) -> None:
    """Debian's xdm has a unit without [Install], and an init script of its name, which systemd then does not start."""
    entries = [
        plain("usr/lib/systemd/systemd", "", 0o755),
        plain("usr/lib/systemd/system/xdm.service", "[Service]\nExecStart=/usr/bin/xdm -nodaemon\n"),
        plain("usr/lib/systemd/system/graphical.target", "[Unit]\nWants=display-manager.service\n"),
        link("etc/systemd/system/display-manager.service", "/lib/systemd/system/xdm.service"),
        plain("etc/init.d/xdm", SCRIPT.format(name="xdm"), 0o755),
        link("etc/rc2.d/S01xdm", "../init.d/xdm"),
    ]
    xdm = next(one for one in read_units(entries, cache).units if one.name == "xdm")
    assert xdm.wanted and xdm.origin == "systemd" and xdm.commands == (("start", "/usr/bin/xdm", "-nodaemon"),)
    masked = [one for one in entries if "display-manager.service" not in one.path]
    masked.append(link("etc/systemd/system/display-manager.service", "/dev/null"))
    assert "xdm" not in {one.name for one in read_units(masked, cache).units if one.wanted}


def test_scripts_that_systemd_does_not_start_are_no_units(cache: Cache) -> None:
    """Debian masks hwclock, has procps as another name of a unit of its own, and reads no rcS.d."""
    sysctl = "usr/lib/systemd/system/systemd-sysctl.service"
    scripts = {"hwclock.sh": "rcS", "procps": "rcS", "early": "rcS", "masked": "rc2", "plain": "rc2"}
    entries = [
        plain("usr/lib/systemd/systemd", "", 0o755),
        link("usr/lib/systemd/system/hwclock.service", "/dev/null"),
        plain(sysctl, "[Service]\nType=oneshot\nExecStart=/usr/lib/systemd/systemd-sysctl\n"),
        link("usr/lib/systemd/system/procps.service", "systemd-sysctl.service"),
        link("usr/lib/systemd/system/sysinit.target.wants/systemd-sysctl.service", "../systemd-sysctl.service"),
        link("etc/systemd/system/masked.service", "/dev/null"),
    ]
    for name, level in scripts.items():
        entries.append(plain(f"etc/init.d/{name}", SCRIPT.format(name=name), 0o755))
        entries.append(link(f"etc/{level}.d/S01{name}", f"../init.d/{name}"))
    wanted = {one.name for one in read_units(entries, cache).units if one.is_work and one.wanted}
    assert wanted == {"systemd-sysctl", "plain"}
    without = read_units([one for one in entries if "systemd" not in one.path], cache)
    assert {"hwclock.sh", "procps", "early"} <= {one.name for one in without.units if one.is_work and one.wanted}
