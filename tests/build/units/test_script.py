"""Units made of init scripts by the headers of these."""

from bootlab.build.units.script import convert_script
from tests.build.units.converted import SCRIPT, lines_of


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
