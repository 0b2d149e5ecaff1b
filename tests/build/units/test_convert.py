"""Units of bootlab-init made of systemd's services and of init scripts: what is said in each, and what is left out."""

from pathlib import Path

import pytest

from bootlab.build.units.convert import read_and_convert, write_units
from bootlab.build.units.script import convert_script
from bootlab.build.units.service import convert_service
from bootlab.build.units.unit_text import Converted
from bootlab.errors import InputError

SERVICE = """[Unit]
Description=Web server
After=network.target db.service
Requires=db.service
Wants=cache.service
Before=nss-lookup.target other.service

[Service]
Type=notify
# joined
ExecStartPre=-/bin/mkdir -p "/run/a b"
ExecStart=/usr/sbin/web \\
  --name %n $WEB_OPTS ${WEB_ONE} "say \\"%%\\""
Environment="A=1 2" B=3
EnvironmentFile=-/etc/default/web
Restart=on-abort
TimeoutStopSec=1min 30s
TimeoutStartSec=0
RestartSec=250ms
RuntimeDirectory=web
PrivateTmp=yes
ExecReload=/bin/kill -HUP $MAINPID

[Install]
WantedBy=multi-user.target
Alias=httpd.service
"""
SCRIPT = """#!/bin/sh
### BEGIN INIT INFO
# Provides:          web httpd
# Required-Start:    $remote_fs $network +db
# Should-Start:      cache
# Required-Stop:     $remote_fs syslogd
# Default-Start:     2 3 4 5
# Default-Stop:      0 1 6
# X-Start-Before:    proxy
# X-Interactive:     true
# Short-Description: Web server
# Speed: high
### END INIT INFO
"""


def lines_of(unit: Converted) -> list[str]:
    assert unit.text is not None, unit.problems
    return unit.text.splitlines()[1:]


def test_a_service_line_by_line() -> None:
    unit = convert_service("web", "web.service", SERVICE)
    assert lines_of(unit) == [
        "description Web server",
        "env-file /etc/default/web",
        "restart on-failure",
        "stop-timeout 90s",
        "timeout infinity",
        "restart-delay 250ms",
        "run-folder web",
        'pre -/bin/mkdir -p "/run/a b"',
        r'exec /bin/sh -c "exec /usr/sbin/web --name web.service $WEB_OPTS \"${WEB_ONE}\" \"say \\\"%\\\"\""',
        "ready notify",
        'env "A=1 2" B=3',
        "after $network db $local_fs sysctl modules hostname folders limits seed",
        "provides $named httpd",
        "before other",
        "needs db",
        "brings cache",
    ]
    assert [(one.line, one.message) for one in unit.problems] == [
        (16, "Restart=on-abort: now on-failure"),
        (21, "PrivateTmp has no counterpart; it is left out"),
        (22, "ExecReload has no counterpart; it is left out"),
    ]


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("ExecStart=/bin/a $$HOME", "exec /bin/a $HOME"),
        ("ExecStart=dbus-daemon --system", "exec /usr/bin/env dbus-daemon --system"),
        (r"ExecStart=/bin/a '\x41 b' c\sd", 'exec /bin/a "A b" "c d"'),
        ("ExecStart=:/bin/a $HOME", "exec /bin/a $HOME"),
        ("ExecStart=/bin/a pre$HOME", "exec /bin/a pre$HOME"),
        ("ExecStart=/bin/a `x` ${B}", r'exec /bin/sh -c "exec /bin/a \"\\`x\\`\" \"${B}\""'),
        ("ExecStart=/bin/a %t/x", "exec /bin/a /run/x"),
    ],
)
def test_commands(line: str, written: str) -> None:
    assert written in lines_of(convert_service("a", "a.service", f"[Service]\n{line}\n"))


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[Service]\nExecStart=/bin/a %i\n", 2, "ExecStart: %i is not known before the system runs"),
        ('[Service]\nExecStart=/bin/a "b\n', 2, "ExecStart: a quote is not closed"),
        ("[Service]\nExecStart=/bin/a b\\nc\n", 2, "a word with a line feed"),
        ("[Service]\nType=oneshot\n", 0, "no ExecStart"),
        ("[Service]\nExecStart=/bin/a " + "b " * 70 + "\n", 2, "71 words; a line of a unit has 63 at most"),
    ],
)
def test_what_no_unit_can_be_made_of_is_said(text: str, line: int, said: str) -> None:
    unit = convert_service("a", "a.service", text)
    assert unit.text is None
    assert any(one.line == line and one.message.startswith(said) for one in unit.problems), unit.problems


def test_a_static_service_waits_for_who_brings_it_and_a_template_is_none() -> None:
    unit = convert_service("a", "a.service", "[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=/bin/a\n")
    assert lines_of(unit) == ["exec /bin/a", "ready exec", "enable no", "defaults no"] and not unit.problems
    assert convert_service("a@", "a@.service", "[Service]\nExecStart=/bin/a\n").text is None


def test_a_script_by_its_header() -> None:
    unit = convert_script("web.sh", "web.sh", SCRIPT)
    assert unit.name == "web"
    assert lines_of(unit) == [
        "description Web server",
        "exec /etc/init.d/web.sh start",
        "stop -/etc/init.d/web.sh stop",
        "ready exit",
        "timeout 5min",
        "tty /dev/console",
        "serial yes",
        "provides httpd web.sh",
        "after $remote_fs $network db cache",
        "before proxy",
    ]
    assert [(one.line, one.message) for one in unit.problems] == [
        (6, "required-stop: syslogd: stopped in the reverse of its order at start alone"),
        (12, "speed: unknown keyword; it is left out"),
    ]
    assert convert_script("bare", "bare", "#!/bin/sh\n").text is None


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "web.service").write_text(SERVICE)
    (tmp_path / "web").write_text(SCRIPT)
    service, script = (read_and_convert(tmp_path / name) for name in ("web.service", "web"))
    with pytest.raises(InputError, match=r"another file has become web\.unit already"):
        write_units([service, script], tmp_path / "units")
    assert not (tmp_path / "units").exists()
    assert write_units([service], tmp_path / "units")["web"].read_text() == service.text
    with pytest.raises(InputError, match="it is there already"):
        write_units([script], tmp_path / "units")
    with pytest.raises(InputError, match=r"neither a \.service file nor a script"):
        read_and_convert(tmp_path / "units/web.unit")
