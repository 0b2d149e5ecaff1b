"""Services and init scripts of 160 Debian packages as units of bootlab-init: nothing wrong, and in the same order."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian.packages import Package, fetch_all
from bootlab.build.units.convert import read_and_convert, write_units
from bootlab.build.units.plan import AT_START, InitPlan, read_plan
from bootlab.build.units.unit_text import Converted
from bootlab.build.workshop import Workshop
from tests.boot.init.scripts.insserv import lay_out, reachable

pytestmark = [pytest.mark.network]

LIST = Path(__file__).parent / "scripts" / "packages.txt"
SERVICES = ("lib/systemd/system", "usr/lib/systemd/system")


@pytest.fixture(scope="module")
def packages() -> list[Package]:
    names = " ".join(line for line in LIST.read_text().splitlines() if not line.startswith("#")).split()
    return fetch_all(Workshop(Cache.default()), names, "bookworm", "x86_64")


def plan_of(units: Sequence[Converted], root: Path) -> InitPlan:
    (root / "etc/bootlab").mkdir(parents=True, exist_ok=True)
    (root / "etc/bootlab/init.conf").write_text("lsb no\nearly no\n")
    (root / "etc/fstab").write_text("server:/home /home nfs defaults 0 0\n")
    write_units(units, root / "etc/bootlab/units")
    return read_plan(root, Cache.default())


def order_of(plan: InitPlan, origin: str) -> dict[str, frozenset[str]]:
    """Return unit -> units of the same origin that are started before it, through others too."""
    work = {unit.name for unit in plan.units if unit.origin == origin}
    waits = {
        plan.units[index].name: [plan.units[other].name for other in others]
        for index, others in plan.waits(AT_START).items()
    }
    return {name: others & work for name, others in reachable(waits).items() if name in work}


def test_services_become_units_without_a_mistake(packages: list[Package], tmp_path: Path) -> None:
    files = {
        path.name: path
        for package in packages
        for folder in SERVICES
        for path in (package.tree / folder).glob("*.service")
        if path.is_file() and not path.is_symlink()
    }
    units = [read_and_convert(path) for _, path in sorted(files.items())]
    written = [unit for unit in units if unit.text is not None]
    plan = plan_of(written, tmp_path)
    # What is needed and is in none of these packages is not the converter's mistake, nor is what a service's own file
    # says: that it may take longer to stop than all units have in a shutdown.
    theirs = ("nothing provides it", "may take longer to stop than units have")
    assert [one for one in plan.problems if not any(said in one.message for said in theirs)] == []
    for unit in units:
        assert unit.text is not None or unit.problems
    print(
        f"{len(units)} services: {len(written)} units, {sum(not one.problems for one in written)} with nothing left out"
    )
    assert len(written) > 120
    assert all("@" in unit.name or "no ExecStart" in str(unit.problems) for unit in units if unit.text is None)


def test_scripts_become_units_in_the_same_order(packages: list[Package], tmp_path: Path) -> None:
    scripts = lay_out(packages, tmp_path / "lsb")
    (tmp_path / "lsb/etc/bootlab").mkdir()
    (tmp_path / "lsb/etc/bootlab/init.conf").write_text("early no\n")
    (tmp_path / "lsb/etc/fstab").write_text("server:/home /home nfs defaults 0 0\n")
    before = read_plan(tmp_path / "lsb", Cache.default())
    started = {Path(unit.path).name for unit in before.units if unit.origin == "lsb"}
    units = [read_and_convert(tmp_path / "lsb/etc/init.d" / name) for name in scripts if name in started]
    shutil.copytree(tmp_path / "lsb/etc/insserv.conf.d", tmp_path / "own/etc/insserv.conf.d")
    plan = plan_of([unit for unit in units if unit.text is not None], tmp_path / "own")
    assert plan.problems == ()
    theirs, ours = order_of(before, "lsb"), order_of(plan, "unit")
    # After $all is after the goal instead, and a script that names nothing has got two facilities: both are said.
    told = {
        unit.name for unit in units if any("$all" in p.message or "names nothing" in p.message for p in unit.problems)
    }
    pairs = 0
    for name in theirs.keys() - told:
        assert ours[name] - told == theirs[name] - told, name
        pairs += len(ours[name] - told)
    print(f"{len(units)} scripts, {len(told)} of them in another order and said so; {pairs} pairs in order")
    assert len(units) > 150 and pairs > 1000
