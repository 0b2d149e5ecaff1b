"""A boot that goes on from a mark amid the work of its modelled disk is the boot from power-on, request by request.

Three processes read and write the disk at random (disk_work/) as the mark comes: requests are under way at it, their
answers come behind it.
"""

from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.experiments.from_mark import beginning_at, differences
from bootlab.experiments.store import RunKind, Store
from bootlab.measure.place import Here
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.profile.recorded.disk_requests import DiskRequest, read_disk_requests
from bootlab.profile.recorded.trace import read_trace
from bootlab.system import System
from tests.boot.disks.disk_boots import HOLDS, write_disk_work

pytestmark = [pytest.mark.boot, pytest.mark.network]

MOMENTS = """(moment=0; while [ $moment -lt 60 ]; do
	moment=$((moment + 1)); usleep 20000; bootlab-mark moment$moment
done) &
"""
TOUCHED = '{ like = "volume", first_touch_ns = 2000000, touch_bytes = 524288 }'


def disk_work(folder: Path, model: str, machine: str, arch: str) -> System:
    """Return the system of disk_work/ whose guest makes marks while it works on the disk: moment1 and so on."""
    folder.mkdir()
    more = f"size_mib = 16\nmodel = {model}\nkeep_writes = true"
    system = write_disk_work(folder, {'"q35"': f'"{machine}"', "size_mib = 16": more}, arch)
    init = (folder / "init").read_text()
    begin = "if prove_files && read -r"
    assert begin in init
    (folder / "init").write_text(init.replace(begin, f"{MOMENTS}{begin}"))
    return system


def moment_under_way(record: BootRecord, requests: list[DiskRequest]) -> str:
    """Return the mark in the middle at which a request was under way of which most was still to come."""
    under_way = {
        name: max((one.done_ns - t_ns for one in requests if one.asked_ns < t_ns < one.done_ns), default=0)
        for name, t_ns in record.marks.items()
        if name.startswith("moment") and requests[100].done_ns < t_ns < requests[-100].asked_ns
    }
    assert any(under_way.values()), under_way
    return max(under_way, key=under_way.__getitem__)


@pytest.mark.parametrize(
    ("model", "machine", "arch"),
    [
        ('"hdd"', "q35", "x86_64"),
        ('"sd"', "microvm", "x86_64"),
        (TOUCHED, "virt", "aarch64"),
    ],
)
def test_requests_that_are_under_way_at_the_mark_are_answered_when_they_would_be(
    model: str, machine: str, arch: str, shop: Workshop, tmp_path: Path
) -> None:
    prepared = prepare(shop, disk_work(tmp_path / "system", model, machine, arch))
    run = Store(tmp_path).start(RunKind.TRY, "disks", {})
    whole = Here(1).boot(prepared, run.boot_directory("whole"), lambda: False)
    assert whole.outcome is Outcome.READY, whole.detail
    requests = list(read_disk_requests(run.path / "boots/whole/requests.txt"))
    mark = moment_under_way(whole, requests)
    with beginning_at(run, mark, lambda line: None) as beginnings:
        assert beginnings is not None
        one = beginnings.boot(Here(1), prepared, "one", lambda: False, keeps=True)
        assert one.outcome is Outcome.READY and one.began is not None, (one.detail, beginnings.result())
    assert differences(one, whole) == [] and one.remarks == []
    folders = [run.path / "boots" / label for label in ("one", "whole")]
    for name in ("requests.txt", "writes.bin", "console.log"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name
    to_ready = [(folder / "trace.txt").read_text().partition("guest ready")[0] for folder in folders]
    assert to_ready[0] == to_ready[1]
    assert read_trace(folders[0] / "trace.txt").modelled == {"disk0": (len(requests), 0)}
    assert f"holds {HOLDS}" in (folders[0] / "console.log").read_text(errors="replace")
