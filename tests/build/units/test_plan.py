"""What bootlab-init makes of a system's files: its own reader, compiled here, on folders as users have them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bootlab.build.units.plan import AT_STOP, InitPlan, parse_plan

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs cc (gcc)")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program for this host, by the Makefile's own rules."""
    out = tmp_path_factory.mktemp("guest")
    argv = ["make", "--silent", "-C", str(ROOT / "guest"), f"OUT={out}", "CC=gcc", f"{out}/bootlab-init-check"]
    subprocess.run(argv, check=True, env={k: v for k, v in os.environ.items() if not k.startswith("MAKE")})
    return out / "bootlab-init-check"


def plan_of(reader: Path, root: Path) -> InitPlan:
    text = subprocess.run([reader, root], check=True, capture_output=True, text=True).stdout
    return parse_plan(text, str(root))


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def script(provides: str, required: str = "", start: str = "2 3 4 5") -> str:
    lines = [f"# Provides: {provides}", f"# Required-Start: {required}", f"# Required-Stop: {required}"]
    lines += [f"# Default-Start: {start}", "# Default-Stop: 0 1 6"]
    return "\n".join(["#!/bin/sh", "### BEGIN INIT INFO", *lines, "### END INIT INFO", ""])


def test_the_example_has_nothing_wrong(reader: Path) -> None:
    plan = plan_of(reader, ROOT / "examples/services/root")
    assert plan.problems == ()
    started = {unit.name for unit in plan.units if unit.wanted and unit.is_work}
    assert started == {"application", "broker", "logger", "selfcheck", "settings", "updater", "watcher"}
    assert [unit.name for unit in plan.units if unit.goal] == ["basics", "application"]


def test_mistakes_have_file_and_line_and_cost_only_themselves(reader: Path, tmp_path: Path) -> None:
    units = "etc/bootlab/units"
    write(
        tmp_path,
        {
            "etc/bootlab/init.conf": "gaol app\n",
            f"{units}/a.unit": "exec /bin/a\nneeds b\n",
            f"{units}/b.unit": "exec /bin/b\n\nafter a\n",
            f"{units}/c.unit": "exec /bin/c\nneeds ghost\n",
            f"{units}/d.unit": "exec /bin/d\nspeed high\n",
            "etc/init.d/bare": "#!/bin/sh\n",
        },
    )
    plan = plan_of(reader, tmp_path)
    assert [(one.path, one.line, one.message) for one in plan.problems] == [
        ("/etc/bootlab/init.conf", 1, "gaol: unknown key; the line is ignored"),
        ("/etc/bootlab/units/d.unit", 2, "speed: unknown key; the line is ignored"),
        (
            "/etc/init.d/bare",
            1,
            "no INIT INFO header: not started; give it one, or /etc/insserv/overrides/bare",
        ),
        ("/etc/bootlab/units/c.unit", 2, "c needs ghost, and nothing provides it; it is not started"),
        (
            "/etc/bootlab/units/b.unit",
            3,
            "cycle at start: a -> b -> a (-> waits for); b no longer waits for a",
        ),
        (
            "/etc/bootlab/units/b.unit",
            3,
            "cycle at stop: a -> b -> a (-> waits for); b no longer waits for a",
        ),
    ]
    assert {unit.name for unit in plan.units if unit.broken} == {"c"}
    assert plan.longest_chain()[0] == ["b", "a"]


def test_scripts_by_links_overrides_and_what_is_built_in(reader: Path, tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "etc/init.d/hostname.sh": script("hostname", start="S"),
            "etc/init.d/dbus": script("dbus", "$remote_fs $syslog"),
            "etc/init.d/rsyslog": script("rsyslog", "$remote_fs"),
            "etc/init.d/cups": script("cups", "$network"),
            "etc/init.d/local.dpkg-old": "",
            "etc/insserv/overrides/cups": script("cups", "dbus"),
            "etc/hostname": "here\n",
        },
    )
    for name in ("dbus", "rsyslog", "cups"):
        (tmp_path / "etc/rc2.d").mkdir(exist_ok=True)
        (tmp_path / f"etc/rc2.d/S01{name}").symlink_to(f"../init.d/{name}")
    (tmp_path / "etc/rc2.d/S01cups").rename(tmp_path / "etc/rc2.d/K01cups")
    plan = plan_of(reader, tmp_path)
    assert plan.problems == ()
    by_name = {unit.name: (index, unit) for index, unit in enumerate(plan.units)}
    assert by_name["hostname"][1].origin == "builtin"
    assert by_name["dbus"][1].wanted and not by_name["cups"][1].wanted
    chain, length = plan.longest_chain()
    assert (chain, length) == (["rsyslog", "dbus"], 2)
    stop = plan.waits(AT_STOP, wanted_only=False)
    assert by_name["dbus"][0] in stop[by_name["cups"][0]]


def test_costs_decide_the_longest_chain(reader: Path, tmp_path: Path) -> None:
    units = {"a": "", "b": "needs a", "c": "", "d": "needs b c"}
    write(tmp_path, {f"etc/bootlab/units/{name}.unit": f"exec /bin/a\n{line}\n" for name, line in units.items()})
    plan = plan_of(reader, tmp_path)
    assert plan.longest_chain() == (["a", "b", "d"], 3)
    assert plan.longest_chain({"a": 1, "b": 1, "c": 5, "d": 1}) == (["c", "d"], 6)


def test_a_service_waits_for_the_file_systems_and_what_its_targets_stand_for(reader: Path, tmp_path: Path) -> None:
    system = "etc/systemd/system"
    service = "[Service]\nExecStart=/bin/a\n"
    write(
        tmp_path,
        {
            "etc/bootlab/init.conf": "lsb no\nsystemd yes\naddress eth0 10.0.0.1/8\n",
            "etc/fstab": "/dev/vda / ext4 defaults 0 1\n",
            f"{system}/multi-user.target.wants/web.service": "",
            f"{system}/multi-user.target.wants/early.service": "",
            f"{system}/web.service": f"[Unit]\nAfter=network.target\n{service}",
            f"{system}/early.service": f"[Unit]\nDefaultDependencies=no\n{service}",
        },
    )
    plan = plan_of(reader, tmp_path)
    assert plan.problems == ()
    waits = {
        plan.units[unit].name: {plan.units[other].name for other in others} for unit, others in plan.waits().items()
    }
    assert waits["web"] == {"basics", "loopback", "local-file-systems", "$network"}
    assert waits["$network"] == {"addresses"} and waits["early"] == set()


def test_own_units_alone_may_name_a_facility(reader: Path, tmp_path: Path) -> None:
    units = "etc/bootlab/units"
    write(
        tmp_path,
        {
            "etc/bootlab/init.conf": "lsb no\naddress eth0 10.0.0.1/8\naddress eth1 dhcp\nipv6 eth1 accept_dad=0\n",
            f"{units}/web.unit": "exec /bin/a\nafter $network\n",
            f"{units}/alone.unit": "exec /bin/a\n",
        },
    )
    plan = plan_of(reader, tmp_path)
    assert plan.problems == ()
    waits = {
        plan.units[unit].name: {plan.units[other].name for other in others} for unit, others in plan.waits().items()
    }
    assert waits["$network"] == {"addresses", "dhcp-eth1"}
    assert waits["web"] == {"$network", "basics", "loopback"} and waits["alone"] == {"basics", "loopback"}


def test_another_goal_is_asked_for(reader: Path, tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "etc/bootlab/init.conf": "goal late shell\nearly no\n",
            "etc/init.d/bus": script("bus"),
            "etc/init.d/screen": script("screen", "bus"),
            "etc/init.d/late": script("late", "screen"),
            "etc/init.d/shell": script("shell"),
        },
    )

    def goal(*asked: str) -> tuple[set[str], list[str]]:
        text = subprocess.run([reader, tmp_path, *asked], check=True, capture_output=True, text=True).stdout
        plan = parse_plan(text, str(tmp_path))
        return {unit.name for unit in plan.units if unit.goal}, [one.message for one in plan.problems]

    assert goal() == ({"late", "screen", "bus", "shell"}, [])
    # In the place of the system's own two, and not beside them.
    assert goal("screen") == ({"screen", "bus"}, [])
    assert goal("sceen") == (set(), ["sceen: no such unit"])
