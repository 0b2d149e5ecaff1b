"""The services of 115 Debian packages, started by systemd and by bootlab-init from the same files: side by side.

Every program is a recorder that says how it was started: words, environment, user, groups, capabilities, umask, folder,
limits, cgroup, signals and descriptors. What differs is refused by bootlab-init, or is among `verdicts.STATED`.
"""

from collections import Counter
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian.packages import fetch_all
from bootlab.build.units.plan import read_plan
from bootlab.build.workshop import Workshop
from tests.boot.init.services.machine import ARCH, SUITE, boot, prepare_machine
from tests.boot.init.services.records import parse_records
from tests.boot.init.services.roots import find_services, lay_out
from tests.boot.init.services.verdicts import verdicts

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

LIST = Path(__file__).parent / "scripts" / "packages.txt"


def test_services_are_started_as_systemd_starts_them(cache: Cache, tmp_path: Path) -> None:
    names = " ".join(line for line in LIST.read_text().splitlines() if not line.startswith("#")).split()
    packages = fetch_all(Workshop(cache), names, SUITE, ARCH)
    services, root = find_services(packages), tmp_path / "root"
    root.mkdir()
    lay_out(packages, services, root)
    prepared, plan = prepare_machine(root, cache), read_plan(root, cache)
    theirs, ours = (parse_records(boot(prepared, which, tmp_path)[1]) for which in ("systemd", "bootlab-init"))
    found = verdicts((theirs, ours), services.units, plan)
    for name, (verdict, details) in found.items():
        print(f"{name:40} {verdict:28} {', '.join(details)}")
    counts = Counter(verdict for verdict, _ in found.values())
    print(
        f"{len({unit.package for unit in services.units.values()})} packages: {counts}; left out: {services.left_out}"
    )
    assert [(name, *why) for name, why in found.items() if why[0] == "different"] == []
    assert counts["equal"] > 80 and counts["equal"] + counts["equal but for what is stated"] > 100
