"""The units that an audit reads out of a root file system: systemd's, and the init scripts that systemd starts, too."""

import stat
from pathlib import Path

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


def plain(path: str, text: str, mode: int = 0o644) -> Entry:
    return Entry(path, stat.S_IFREG | mode, text.encode())


def link(path: str, to: str) -> Entry:
    return Entry(path, stat.S_IFLNK | 0o777, to.encode())


def test_a_script_without_a_unit_of_its_name_is_a_unit_in_a_system_of_systemds(tmp_path: Path) -> None:
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
    units = {one.name: one.origin for one in read_units(entries, Cache(tmp_path / "cache")).units if one.is_work}
    assert units["ssh"] == "systemd" and units["xdm"] == "lsb"
