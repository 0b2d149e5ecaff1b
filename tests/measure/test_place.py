"""This host as a place for boots: as many at once as it has cores, or as it is told."""

import os
from pathlib import Path

from bootlab.measure.place import Here
from tests.replayed import prepared, replayed


def test_one_boot_a_core_unless_told() -> None:
    assert Here().parallel == Here().asked_ahead == len(os.sched_getaffinity(0))
    assert Here(7).parallel == Here(7).asked_ahead == 7


def test_a_boot_is_left_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "boot").mkdir()
    record = Here().boot(prepared(replayed(tmp_path)), tmp_path / "boot", lambda: False)
    assert record.ready_ns is not None and record.run == str(tmp_path / "boot")
    assert (tmp_path / "boot/record.json").is_file()
