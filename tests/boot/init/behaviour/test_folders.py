"""Units of several folders, drop-ins, masked ones, and instances of templates: which file counts, and what it says."""

import os
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.units.plan import InitPlan, read_plan
from tests.boot.init.behaviour.test_confinement import said
from tests.boot.init.namespace import InitNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_ETC, _RUN, _LIB = "etc/bootlab/units", "run/bootlab/units", "usr/lib/bootlab/units"
_SYSTEMD = "etc/systemd/system"


def plan_of(root: Path, files: dict[str, str]) -> InitPlan:
    """Write files, and links where the text begins with ->, and read them as `init check` does."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(text.removeprefix("-> ")) if text.startswith("-> ") else path.write_text(text)
    return read_plan(root, Cache.default())


def commands(plan: InitPlan) -> dict[str, tuple[tuple[str, ...], ...]]:
    return {unit.name: unit.commands for unit in plan.units if unit.is_work}


def test_the_folder_that_counts_most(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        {
            f"{_LIB}/a.unit": "exec /bin/vendor\n",
            f"{_RUN}/a.unit": "exec /bin/run\n",
            f"{_ETC}/a.unit": "exec /bin/own\n",
            f"{_LIB}/b.unit": "exec /bin/vendor\n",
            f"{_RUN}/b.unit": "exec /bin/run\n",
            f"{_LIB}/c.unit": "exec /bin/vendor\n",
            f"{_LIB}/masked.unit": "exec /bin/vendor\n",
            f"{_ETC}/masked.unit": "-> /dev/null",
        },
    )
    assert plan.problems == ()
    assert commands(plan) == {
        "a": (("start", "/bin/own"),),
        "b": (("start", "/bin/run"),),
        "c": (("start", "/bin/vendor"),),
    }


def test_drop_ins(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        {
            f"{_LIB}/a.unit": "exec /bin/vendor\npre /bin/p\nready exit\n",
            f"{_LIB}/a.unit.d/10-first.conf": "exec\nexec /bin/first\npost /bin/q\n",
            f"{_LIB}/a.unit.d/20-second.conf": "exec /bin/hidden\n",
            f"{_ETC}/a.unit.d/20-second.conf": "pre\nexec /bin/second\nneeds nobody\n",
            f"{_ETC}/a.unit.d/30-wrong.conf": "\nexce /bin/a\n",
            f"{_ETC}/a.unit.d/note.txt": "exec /bin/note\n",
            f"{_ETC}/b.unit": "exec\n",
        },
    )
    assert commands(plan)["a"] == (("start", "/bin/first"), ("post", "/bin/q"), ("start", "/bin/second"))
    problems = {(problem.path, problem.line) for problem in plan.problems}
    assert (f"/{_ETC}/a.unit.d/30-wrong.conf", 2) in problems
    # Only a drop-in takes back.
    assert (f"/{_ETC}/b.unit", 1) in problems


def test_what_no_unit_comes_of_is_said(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        {
            f"{_ETC}/nowhere.unit": "-> nowhere.unit",
            f"{_ETC}/none.unit.d/a.conf": "exec /bin/a\n",
            f"{_ETC}/empty.unit": "exec /bin/a\n",
            f"{_ETC}/empty.unit.d/a.conf": "exec\n",
            f"{_ETC}/t@.unit": "exec /bin/a %i\n",
            f"{_ETC}/t@.unit.d/a.conf": "nice 5\n",
            f"{_ETC}/hard.unit": "exec /bin/a\nneeds t@\n",
        },
    )
    assert {(problem.path, problem.line, problem.message) for problem in plan.problems} == {
        ("nowhere.unit", 0, "a link that leads nowhere: it is no unit"),
        (f"/{_ETC}/none.unit.d", 0, "there is no none.unit: these drop-ins are not read"),
        (f"/{_ETC}/empty.unit", 0, "no exec line, and nothing that it needs or wants"),
        (f"/{_ETC}/hard.unit", 2, "hard needs t@, and nothing provides it; it is not started"),
    }


def test_templates(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        {
            f"{_LIB}/getty@.unit": "exec /sbin/getty %i 100%%\ncondition path /dev/%i\n",
            f"{_ETC}/getty@tty1.unit": "-> /usr/lib/bootlab/units/getty@.unit",
            f"{_ETC}/getty@.unit.d/all.conf": "post /bin/all %i\n",
            f"{_ETC}/getty@tty2.unit.d/one.conf": "post /bin/one %i\n",
            f"{_ETC}/logins.unit": "wants getty@tty2\n",
            f"{_ETC}/plain.unit": "exec /bin/date +%i\n",
        },
    )
    # The link leads nowhere on this host: what is linked is found by its name.
    found = commands(plan)
    assert found["getty@tty2"] == (
        ("start", "/sbin/getty", "tty2", "100%"),
        ("post", "/bin/all", "tty2"),
        ("post", "/bin/one", "tty2"),
    )
    assert found["getty@tty1"][0] == ("start", "/sbin/getty", "tty1", "100%")
    assert found["plain"] == (("start", "/bin/date", "+%i"),)
    assert {unit.name for unit in plan.units if unit.wanted and unit.is_work} == {
        "getty@tty1", "getty@tty2", "logins", "plain",
    }  # fmt: skip
    assert plan.problems == ()


def test_templates_of_systemd(tmp_path: Path) -> None:
    vpn = "[Service]\nExecStart=/sbin/vpn %i %I %p %N %n\n"
    plan = plan_of(
        tmp_path,
        {
            "etc/bootlab/init.conf": "systemd yes\nlsb no\n",
            "usr/lib/systemd/system/vpn@.service": vpn,
            f"{_SYSTEMD}/multi-user.target.wants/vpn@home-a\\x2db.service": "-> /usr/lib/systemd/system/vpn@.service",
            f"{_SYSTEMD}/vpn@.service.d/a.conf": "[Service]\nExecStop=/bin/down %i\n",
            f"{_SYSTEMD}/multi-user.target.wants/vpn@.service": "-> /usr/lib/systemd/system/vpn@.service",
            "usr/lib/systemd/system/user.service": "[Unit]\nWants=vpn@two.service\n[Service]\nExecStart=/bin/a\n",
            f"{_SYSTEMD}/multi-user.target.wants/user.service": "-> /usr/lib/systemd/system/user.service",
        },
    )
    found = commands(plan)
    name = "vpn@home-a\\x2db"
    assert found[name] == (
        ("start", "/sbin/vpn", "home-a\\x2db", "home/a-b", "vpn", name, f"{name}.service"),
        ("stop", "/bin/down", "home-a\\x2db"),
    )
    assert found["vpn@two"][0] == ("start", "/sbin/vpn", "two", "two", "vpn", "vpn@two", "vpn@two.service")
    (problem,) = plan.problems
    assert problem.path == "vpn@.service" and "without what is to stand behind its @" in problem.message


def test_they_run(tmp_path: Path, programs: dict[str, Path]) -> None:
    root = tmp_path / "root"
    for name, text in {
        f"{_LIB}/say@.unit": "exec /bin/worker say of-%i\nready exit\n",
        f"{_LIB}/broken.unit": "exec /bin/worker stay\n",
        f"{_ETC}/broken.unit.d/a.conf": "\nexec\nexec /bin/nothing\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    with InitNamespace(root, programs, {"all": "wants say@one say@two\n"}) as init:
        assert init.until_settled() == {"all": "up", "say@one": "up", "say@two": "up", "broken": "failed"}
        assert said(init, "say@one") == ["of-one"] and said(init, "say@two") == ["of-two"]
        assert f"broken failed: /{_ETC}/broken.unit.d/a.conf:3: /bin/nothing: exec: No such file" in init.console()
