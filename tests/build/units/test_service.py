"""Units made of systemd's services: what is said in each, and what is left out."""

import pytest

from bootlab.build.units.service import convert_service
from tests.build.units.converted import SERVICE, lines_of


def test_a_service_line_by_line() -> None:
    unit = convert_service("web", "web.service", SERVICE)
    assert lines_of(unit) == [
        "description Web server",
        "restart on-failure",
        "stop-timeout 90s",
        "timeout infinity",
        "restart-delay 250ms",
        "run-folder web",
        'pre -/bin/mkdir -p "/run/a b"',
        r'exec /bin/sh -c "exec /usr/sbin/web --name web.service $WEB_OPTS \"${WEB_ONE}\" \"say \\\"%\\\"\""',
        'reload /bin/sh -c "exec /bin/kill -HUP $MAINPID"',
        "ready notify",
        'env "A=1 2" B=3',
        "ignore-sigpipe yes",
        "after $network db $local_fs sysctl modules hostname folders limits seed",
        "provides $named httpd",
        "before other",
        "env-file -/etc/default/web",
        "needs db",
        "brings cache",
    ]
    assert [(one.line, one.message) for one in unit.problems] == [
        (16, "Restart=on-abort: now on-failure"),
        (21, "PrivateTmp has no counterpart; it is left out"),
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


@pytest.mark.parametrize(("line", "ignores"), [("", True), ("IgnoreSIGPIPE=yes", True), ("IgnoreSIGPIPE=No", False)])
def test_a_broken_pipe_is_ignored_as_systemd_has_it(line: str, ignores: bool) -> None:
    unit = convert_service("a", "a.service", f"[Service]\nExecStart=/a\n{line}\n")
    assert ("ignore-sigpipe yes" in lines_of(unit)) is ignores and unit.problems == ()


def test_settings_of_the_process() -> None:
    text = "[Service]\nExecStart=/a\nEnvironmentFile=/etc/a\nEnvironmentFile=-/etc/b\nKillMode=process\nUMask=0077\n"
    unit = convert_service("a", "a.service", text)
    assert {"env-file /etc/a -/etc/b", "kill main", "umask 0077"} <= set(lines_of(unit))
    assert unit.problems == ()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("LimitNOFILE=1024:4096", "limit-nofile 1024:4096"),
        ("LimitCORE=infinity\nLimitCORE=", None),
        ("NoNewPrivileges=yes", "no-new-privileges yes"),
        ("CapabilityBoundingSet=CAP_CHOWN CAP_KILL\nCapabilityBoundingSet=~CAP_KILL", "capabilities cap_chown"),
        (
            "CapabilityBoundingSet=~CAP_KILL\nCapabilityBoundingSet=~CAP_CHOWN",
            "capabilities all-but cap_kill cap_chown",
        ),
        ("CapabilityBoundingSet=", "capabilities none"),
        ("AmbientCapabilities=CAP_CHOWN", "ambient-capabilities cap_chown"),
        ("MemoryMax=25%", "memory-max 25%"),
        ("TasksMax=7", "pids-max 7"),
        ("KillSignal=SIGQUIT", "stop-signal SIGQUIT"),
        ("Type=notify-reload", "reload-signal HUP"),
        ("ConditionPathExists=!/etc/off", "condition not path /etc/off"),
        ("ConditionKernelCommandLine=a=b", "condition kernel-word a=b"),
        ("ConditionArchitecture=arm64\nConditionArchitecture=", None),
    ],
)
def test_what_a_process_may_do(text: str, written: str | None) -> None:
    unit = convert_service("a", "a.service", f"[Service]\nExecStart=/a\n{text}\n")
    assert not unit.problems
    assert written is None or written in lines_of(unit)
    assert written is not None or not any(line.startswith(("limit", "condition")) for line in lines_of(unit))


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
    assert lines_of(unit) == ["exec /bin/a", "ready exec", "ignore-sigpipe yes", "enable no", "defaults no"]
    assert not unit.problems
    assert convert_service("a@", "a@.service", "[Service]\nExecStart=/bin/a\n").text is None
