"""A board in a labgrid place, booted by a worker: the one that reaches it, one boot at a time."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.cluster.roster import ALONE, SUMMARY
from bootlab.errors import InputError
from bootlab.experiments.engine import Job
from bootlab.measure.prepare import prepare
from bootlab.measure.record import Outcome
from bootlab.system import read_system
from bootlab.targets.serial.target import SerialPrepared
from tests.cluster.running_cluster import RunningCluster, opened
from tests.replayed import engine, new_run
from tests.serial.null_modem import NullModem

LABGRID = r"""#!/bin/sh
# Does what labgrid-client does for a place that nobody has.
echo "$*" >>{folder}/calls
case "$*" in *"power on") printf 'U-Boot 2025.01\nlogin: ' >{machine} ;; esac
"""


def jobs(folder: Path, port: str, number: int, more: str = "") -> list[Job]:
    file = folder / "board.toml"
    file.write_text(
        f'[machine]\ntype = "armv7-board"\n[target]\nkind = "serial"\nport = "{port}"\noff_s = 0\n'
        f'labgrid = "board-3"\n{more}[booted]\nconsole = "login:"\ndeadline_s = 30\n'
    )
    prepared = prepare(Workshop(Cache(folder / "cache")), read_system(file))
    return [Job(f"one-{index}", prepared) for index in range(1, number + 1)]


def test_a_place_is_used_by_the_worker_that_reaches_it(tmp_path: Path) -> None:
    """This host has no labgrid, nor has the other worker."""
    lab, told = tmp_path / "labgrid", list[str]()
    lab.mkdir()
    with NullModem() as modem, RunningCluster(tmp_path, workers=0) as cluster:
        (lab / "labgrid-client").write_text(LABGRID.format(folder=lab, machine=modem.machine))
        (lab / "labgrid-client").chmod(0o755)
        cluster.add_worker("without")
        cluster.add_worker("with", {"PATH": f"{lab}:{os.environ['PATH']}"})
        cluster.wait_for(2)
        run = new_run(tmp_path)
        with opened(cluster, tmp_path / "c", told) as place:
            records = engine(run, place=place).boot_all(jobs(tmp_path, modem.port, 3))
    assert [record.outcome for record in records] == [Outcome.READY] * 3, [record.detail for record in records]
    words = [line.removeprefix("-p board-3 ") for line in (lab / "calls").read_text().splitlines()]
    assert words == ["acquire", "power off", "power on", "power off", "release"] * 3, "one boot after the other"
    workers = json.loads((run.path / SUMMARY).read_text())["workers"]
    assert sorted(one["boots"] for one in workers) == [0, 3]
    assert (run.path / ALONE).is_file()
    assert any("left out: worker" in line and "labgrid-client" in line for line in told), told


def test_a_board_that_is_delivered_to_stays_with_its_host(tmp_path: Path) -> None:
    with NullModem() as modem, RunningCluster(tmp_path, workers=1) as cluster:
        cluster.wait_for(1)
        (job,) = jobs(tmp_path, modem.port, 1)
        assert isinstance(job.prepared, SerialPrepared)
        line = job.prepared.line.model_copy(update={"deliver": ("true",)})
        bound = Job("one", replace(job.prepared, line=line))
        with opened(cluster, tmp_path / "c", []) as place, pytest.raises(InputError, match=r"target\.deliver: "):
            engine(new_run(tmp_path), place=place).boot_all([bound])
