"""What a unit costs, as instructions of process 1 and of all: of two exact boots that differ by a hundred units."""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.findings.analysis import read_recorded
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import Outcome
from bootlab.profile.asked.request import ProfileRequest
from bootlab.profile.tables.processes import State, find_processes
from bootlab.system import read_system
from tests.boot.conftest import EXAMPLES

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

WORKER = Path(__file__).parent / "units" / "worker.c"
FEW, MANY = 50, 150


def cost(folder: Path, cache: Cache, units: int, options: dict[str, str]) -> tuple[int, int]:
    """Return (instructions of process 1, of the whole boot) up to ready, with so many units that end at once.

    `options`: of the kernel's configuration, besides the example's.
    """
    place = folder / "root/etc/bootlab/units"
    place.mkdir(parents=True)
    names = [f"unit-{number:03}" for number in range(units)]
    for name in names:
        (place / f"{name}.unit").write_text("exec /bin/worker exit 0\nready exit\n")
    rows = "".join(f"after {' '.join(names[at : at + 20])}\n" for at in range(0, units, 20))
    (place / "over.unit").write_text(f"exec /bin/worker exit 0\nready exit\n{rows}mark ready\n")
    (place.parent / "init.conf").write_text("lsb no\nstarting 2\n")
    system = read_system(EXAMPLES / "services.toml")
    assert system.initramfs is not None
    assert system.kernel.build is not None
    build = system.kernel.build.model_copy(update={"options": {**system.kernel.build.options, **options}})
    kernel = system.kernel.model_copy(update={"build": build})
    recipe = system.initramfs.model_copy(update={"directory": folder / "root", "files": {"/bin/worker": WORKER}})
    system = system.model_copy(update={"initramfs": recipe, "kernel": kernel, "check": None, "network": None})
    (folder / "boot").mkdir()
    record = boot(prepare(Workshop(cache), system, profile=ProfileRequest()), folder / "boot")
    assert record.outcome is Outcome.READY, record.detail
    profile, _ = read_recorded(record, folder / "boot")
    processes = find_processes(profile)
    (first,) = (one for one in processes.processes if one.pid == 1)
    states = processes.states(first.task)
    running = states[states["state"] == State.RUNNING]
    until_ns = record.marks["ready"]
    return int((running["end_ns"].clip(0, until_ns) - running["start_ns"].clip(0, until_ns)).sum()), until_ns


@pytest.mark.parametrize("options", [{}, {"SYSFS": "y"}], ids=["without cgroups", "a cgroup each"])
def test_what_a_unit_costs(options: dict[str, str], tmp_path: Path, cache: Cache) -> None:
    few, many = (cost(tmp_path / str(units), cache, units, options) for units in (FEW, MANY))
    own, whole = ((after - before) // (MANY - FEW) for before, after in zip(few, many, strict=True))
    print(f"a unit: {own:,} instructions of process 1, {whole:,} with its process")
    assert 0 < own < 240_000
    assert own < whole < 1_000_000
