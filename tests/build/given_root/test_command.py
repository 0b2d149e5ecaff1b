"""A command as bootlab-init's unit: read by bootlab-init's own reader; what a unit cannot say is refused."""

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bootlab.build.cache import Cache
from bootlab.build.formats.cpio import Entry
from bootlab.build.given_root.command import command_entries
from bootlab.build.given_root.image_config import ImageProcess
from bootlab.build.units.plan import read_plan
from bootlab.errors import InputError

ROOT = (
    Entry("usr", stat.S_IFDIR | 0o755),
    Entry("usr/local", stat.S_IFDIR | 0o755),
    Entry("usr/local/bin", stat.S_IFDIR | 0o755),
    Entry("bin", stat.S_IFLNK | 0o777, b"usr/local/bin"),
    Entry("usr/local/bin/app", stat.S_IFREG | 0o755, b"app"),
    Entry("usr/local/bin/data", stat.S_IFREG | 0o644, b"no program"),
    Entry("etc/passwd", stat.S_IFREG | 0o644, b"web:x:1000:1000::/:/bin/sh\n"),
)


def files(words: Sequence[str] = (), *, network: bool = True, **process: Any) -> dict[str, str]:
    found = command_entries(ROOT, ImageProcess.model_validate(process), words, "rootfs.source", network=network)
    return {one.path: one.data.decode() for one in found}


def test_what_an_engine_would_start_is_the_goal() -> None:
    found = files(
        Entrypoint=["app", "-v"],
        Cmd=["two words", 'a "quote" \\'],
        Env=["GREETING=hello world", "PATH=/opt/bin:/bin"],
        WorkingDir="/srv/www",
        User="web:1000",
        StopSignal="SIGQUIT",
    )
    unit = found["etc/bootlab/units/command.unit"].splitlines()
    assert 'exec "/bin/app" "-v" "two words" "a \\"quote\\" \\\\"' in unit
    assert 'env "GREETING=hello world"' in unit and 'env "PATH=/opt/bin:/bin"' in unit
    assert {"directory /srv/www", "user web", "group 1000", "stop-signal SIGQUIT", "mark ready"} <= {*unit}
    assert "goal command" in found["etc/bootlab/init.conf"] and "address eth0" in found["etc/bootlab/init.conf"]
    assert found["etc/resolv.conf"] == "nameserver 10.0.2.3\n" and "srv/www" in found
    alone = files(["/bin/app"], network=False)
    assert "address" not in alone["etc/bootlab/init.conf"] and "etc/resolv.conf" not in alone
    assert "after $network" not in alone["etc/bootlab/units/command.unit"]
    assert 'env "HOME=/root"' in alone["etc/bootlab/units/command.unit"]


def test_bootlab_init_reads_it_as_it_was_meant(tmp_path: Path) -> None:
    words = ["app", "two words", "100%", "#no comment", "$HOME", 'a "quote" \\']
    for one in command_entries(
        ROOT, ImageProcess.model_validate({"Cmd": words, "Env": ["A=b c"], "User": "web"}), (), "x", network=True
    ):
        path = tmp_path / one.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(one.data)
    plan = read_plan(tmp_path, Cache.default())
    (unit,) = [one for one in plan.units if one.name == "command"]
    assert unit.goal and unit.wanted and not unit.broken and plan.problems == ()
    assert unit.commands == (("start", "/usr/local/bin/app", *words[1:]),)


@pytest.mark.parametrize(
    ("process", "match"),
    [
        ({}, "nothing is said of what is to be started"),
        ({"Cmd": ["gone"]}, "its command 'gone' is not there as a program: /usr/local/sbin"),
        ({"Cmd": ["/bin/data"]}, "its command '/bin/data' is not there as a program"),
        ({"Cmd": ["./app"], "WorkingDir": "/usr"}, "not there as a program: /usr/./app"),
        ({"Cmd": ["app", "a\nb"]}, "a line break in"),
        ({"Cmd": ["app", *["x"] * 70]}, "its command has 71 words, and a unit takes 64"),
        ({"Cmd": ["app", "x" * 5000]}, "5,0.. characters"),
        ({"Cmd": ["app"], "Env": ["A=1\n2"]}, "the variable 'A=1"),
        ({"Cmd": ["app"], "Env": ["=1"]}, "the variable '=1'"),
        ({"Cmd": ["app"], "Env": [f"A{n}=1" for n in range(70)]}, "70 variables"),
        ({"Cmd": ["app"], "User": "nobody"}, "/etc/passwd has no 'nobody'"),
        ({"Cmd": ["app"], "User": "web:staff"}, "/etc/group has no 'staff'"),
    ],
)
def test_what_cannot_be_started_is_refused(process: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=rf"^rootfs\.source: .*{match}"):
        files(**process)
