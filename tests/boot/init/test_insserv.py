"""The init scripts of 160 Debian packages, in the order of bootlab-init and of Debian's insserv: boot, start, stop."""

import platform
from collections.abc import Set
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian.packages import fetch_all
from bootlab.build.units.plan import AT_START, AT_STOP, InitPlan, read_plan
from bootlab.build.workshop import Workshop
from tests.boot.init.scripts.insserv import Insserv, Order, lay_out, order, reachable

pytestmark = [
    pytest.mark.network,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="runs insserv of Debian for x86_64"),
]

LIST = Path(__file__).parent / "scripts" / "packages.txt"
SUITE, ARCH = "bookworm", "x86_64"
NOTHING: dict[str, set[tuple[str, str]]] = {"insserv": set(), "bootlab-init": set()}
SINGLE_USER = {"killprocs", "single"}
"""Scripts of runlevel 1, which insserv orders with those of 2 to 5."""
OF_PID_1 = {"halt", "reboot"}
"""Scripts that bootlab-init leaves alone: it does this itself."""
ONLY_1 = {"ufw"}
"""Stopped in runlevel 1 alone, and so by insserv's order never together with those of a shutdown."""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Insserv, InitPlan]:
    """What insserv and what bootlab-init make of the same folder."""
    root, cache = tmp_path_factory.mktemp("scripts") / "root", Cache.default()
    names = " ".join(line for line in LIST.read_text().splitlines() if not line.startswith("#")).split()
    *packages, insserv = fetch_all(Workshop(cache), [*names, "insserv"], SUITE, ARCH)
    told = order(insserv, root, lay_out(packages, root))
    (root / "etc/bootlab").mkdir()
    # Nothing built in instead of a script, and $remote_fs not cut short: the order of the scripts alone.
    (root / "etc/bootlab/init.conf").write_text("early no\n")
    (root / "etc/fstab").write_text("server:/home /home nfs defaults 0 0\n")
    return told, read_plan(root, cache)


def order_of(plan: InitPlan, when: int, without: Set[str] = frozenset()) -> Order:
    """Return script -> those that it is started after; at stop those that it is stopped after."""
    names = [Path(unit.path).name if unit.origin == "lsb" else unit.name for unit in plan.units]
    waited = plan.waits(when, wanted_only=when == AT_START)
    waits: dict[str, list[str]] = {names[index]: [] for index in waited if names[index] not in without}
    for index, others in waited.items():
        for other in others:
            first, last = (names[other], names[index]) if when == AT_START else (names[index], names[other])
            if first in waits and last in waits:
                waits[last].append(first)
    return reachable(waits)


def differences(theirs: Order, ours: Order) -> dict[str, set[tuple[str, str]]]:
    """Return the pairs (script, one that comes before it) of scripts that both know, and only one of the two orders."""
    only: dict[str, set[tuple[str, str]]] = {"insserv": set(), "bootlab-init": set()}
    known = theirs.keys() & ours.keys()
    for script in known:
        for other in (theirs[script] ^ ours[script]) & known:
            only["insserv" if other in theirs[script] else "bootlab-init"].add((script, other))
    return only


def test_the_same_scripts_are_started_in_the_same_order(both: tuple[Insserv, InitPlan]) -> None:
    insserv, plan = both
    ours = order_of(plan, AT_START)
    assert differences(insserv.at_boot, ours) == NOTHING
    assert differences(insserv.at_start, ours) == NOTHING
    started = {Path(unit.path).name for unit in plan.units if unit.origin == "lsb" and unit.wanted}
    assert insserv.at_boot.keys() | insserv.at_start.keys() == started | SINGLE_USER
    # That there was something to compare.
    pairs = [sum(map(len, phase.values())) for phase in (insserv.at_boot, insserv.at_start)]
    print(f"{len(started)} scripts; pairs in order at boot and start: {pairs}")
    assert len(started) > 150 and pairs[0] > 400 and pairs[1] > 800


def test_scripts_are_stopped_in_the_same_order(both: tuple[Insserv, InitPlan]) -> None:
    insserv, plan = both
    ours = order_of(plan, AT_STOP)
    assert differences(insserv.at_stop, ours)["insserv"] == set()
    assert insserv.at_stop.keys() - ours.keys() == OF_PID_1
    # Some are ordered more strictly: through scripts that insserv does not stop at a shutdown, and bootlab-init does.
    scripts = {Path(unit.path).name for unit in plan.units if unit.origin == "lsb"}
    assert differences(insserv.at_stop, order_of(plan, AT_STOP, (scripts - insserv.at_stop.keys()) | ONLY_1)) == NOTHING
    print(f"{len(insserv.at_stop)} scripts; pairs in order: {sum(map(len, insserv.at_stop.values()))}")
    assert len(insserv.at_stop) > 120


def test_every_header_is_read_and_nothing_is_a_cycle(both: tuple[Insserv, InitPlan]) -> None:
    assert both[1].problems == ()
