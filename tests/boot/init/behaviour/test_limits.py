"""Systems with thousands of units: each is read, checked, started and stopped; nothing is left out in silence."""

import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.units.plan import read_plan
from tests.boot.init.namespace import InitNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_MANY = 10_000


def check(root: Path, units: dict[str, str]) -> set[str]:
    """Write units, read them as `init check` does, and return those that would be started; nothing may be wrong."""
    folder = root / "etc/bootlab/units"
    folder.mkdir(parents=True)
    for name, text in units.items():
        (folder / f"{name}.unit").write_text(text)
    plan = read_plan(root, Cache.default())
    assert plan.problems == ()
    return {unit.name for unit in plan.units if unit.wanted and unit.is_work}


def test_names_that_are_no_units_take_the_place_of_none(tmp_path: Path) -> None:
    folder = tmp_path / "etc/bootlab/units"
    folder.mkdir(parents=True)
    for number in range(1500):
        (folder / f"a{number}.unit.dpkg-old").touch()
    units = {f"unit{number}": "exec /bin/a\n" for number in range(901)}
    assert len(check(tmp_path / "more", units)) == 901
    for name, text in units.items():
        (folder / f"{name}.unit").write_text(text)
    assert sum(unit.is_work for unit in read_plan(tmp_path, Cache.default()).units) == 901


def test_long_command_lines_take_no_more_room_than_they_are_long(tmp_path: Path) -> None:
    words = " ".join(f"--option-{number}=a-value-of-some-length-{number}" for number in range(40))
    units = {f"unit{number}": f"exec /bin/a {words}\n" for number in range(1000)}
    assert len(check(tmp_path, units)) == 1000


def test_what_there_is_no_room_for_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "etc/bootlab/units"
    folder.mkdir(parents=True)
    listens = "".join(f"listen unix /run/{{}}-{number}\n" for number in range(16))
    for number in range(300):
        (folder / f"unit{number:03}.unit").write_text(f"exec /bin/a\n{listens.format(*[number] * 16)}")
    plan = read_plan(tmp_path, Cache.default())
    broken = {unit.name for unit in plan.units if unit.broken}
    assert broken == {f"unit{number:03}" for number in range(256, 300)}
    assert {problem.path for problem in plan.problems} == {f"/etc/bootlab/units/{name}.unit" for name in broken}
    assert all("no room for more than 4096 sockets" in problem.message for problem in plan.problems)


def test_ten_thousand_units_are_read_and_checked(tmp_path: Path) -> None:
    units = {
        f"unit{number}": f"exec /bin/a\nneeds unit{number - 1}\nafter unit{number // 2}\n"
        if number
        else "exec /bin/a\n"
        for number in range(_MANY)
    }
    units["over"] = "".join(f"wants unit{number}\n" for number in range(0, _MANY, 4))
    assert len(check(tmp_path, units)) == _MANY + 1


class LimitedNamespace(InitNamespace):
    """With a soft limit of open files that is far below the hard one, as PID 1 has it from the kernel."""

    def before(self) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def soft_limit(init: InitNamespace, pid: int) -> int:
    space = os.readlink(f"/proc/{init.pid}/ns/pid")
    for path in Path("/proc").glob("[0-9]*"):
        try:
            numbers = (path / "status").read_text().split("NSpid:")[1].split("\n")[0].split()
            if os.readlink(path / "ns/pid") == space and int(numbers[-1]) == pid:
                return resource.prlimit(int(path.name), resource.RLIMIT_NOFILE)[0]
        except OSError:
            continue
    raise AssertionError(f"no process {pid}")


@pytest.mark.parametrize(
    ("count", "unit"),
    [
        (700, lambda number: "exec /bin/worker barrier\nready notify\n"),
        pytest.param(
            _MANY,
            lambda number: (
                f"exec /bin/worker stay\nneeds unit{max(0, number - 7)}\n" * (number > 0) or "exec /bin/worker stay\n"
            ),
            marks=pytest.mark.bench,
        ),
    ],
    ids=["700-that-notify", "10000"],
)
def test_many_units_come_up_and_go_down(
    tmp_path: Path, programs: dict[str, Path], count: int, unit: Callable[[int], str]
) -> None:
    units = {f"unit{number}": unit(number) for number in range(count)}
    conf = "console quiet\nstarting 50\nshutdown-timeout 10min\n"
    with LimitedNamespace(tmp_path / "root", programs, units, conf) as init:
        init.until(lambda: list(init.states().values()).count("up") == count, 600)
        # Programs have what PID 1 was given.
        assert soft_limit(init, 2) == 1024
        print(f"{count} units: {init.resident_kib()} KiB, {init.descriptors()} descriptors")
        took_s = init.shut_down(600)
        print(f"down in {took_s:.1f} s")
