"""Disks that take the time of modelled ones: boots repeat, lose nothing, and each answer comes at the model's time."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.profile.recorded.disk_requests import DiskRequest, read_disk_requests
from bootlab.system import DiskModel
from tests.boot.disks.disk_boots import HOLDS, boot_alike, write_disk_work

pytestmark = [pytest.mark.boot, pytest.mark.network]

ONE_AT_A_TIME = ("sd", "emmc")


def expect_closed_form(requests: Iterable[DiskRequest], model: DiskModel) -> None:
    """One command at a time, in the order in which they were asked for: each answer to the nanosecond."""
    free_ns = 0
    for request in requests:
        latency, bus = (model.read_ns, model.read_bytes_s)
        if request.operation == "write":
            latency, bus = (model.write_ns, model.write_bytes_s)
        start = max(request.asked_ns, free_ns)
        took = 0 if request.operation == "flush" else latency + request.sectors * 512 * 10**9 // bus
        assert (request.started_ns, request.done_ns) == (start, start + took), request
        free_ns = request.done_ns


@pytest.mark.parametrize(
    ("model", "machine", "arch", "suite"),
    [
        pytest.param("sd", "q35", "x86_64", "bookworm", marks=pytest.mark.promise("modelled disks")),
        ("hdd", "q35", "x86_64", "bookworm"),
        ("ssd", "q35", "x86_64", "trixie"),
        ("nvme", "pc", "x86_64", "bookworm"),
        ("emmc", "microvm", "x86_64", "bookworm"),
        ("volume", "virt", "aarch64", "bookworm"),
    ],
)
def test_boots_from_a_modelled_disk_repeat_and_each_answer_comes_in_its_time(
    model: str, machine: str, arch: str, suite: str, shop: Workshop, tmp_path: Path
) -> None:
    (tmp_path / "system").mkdir()
    changes = {'"q35"': f'"{machine}"', "bookworm": suite, "size_mib = 16": f'size_mib = 16\nmodel = "{model}"'}
    system = write_disk_work(tmp_path / "system", changes, arch)
    first = boot_alike(prepare(shop, system), tmp_path)
    assert first.trace.exact == ["disks", "model:disk0"] and not first.trace.refused
    assert first.record.remarks == []
    assert f"holds {HOLDS}" in first.console and "disk: all as it was written" in first.console

    files = [tmp_path / str(number) / "requests.txt" for number in range(3)]
    assert len({path.read_bytes() for path in files}) == 1
    requests = list(read_disk_requests(files[0]))
    assert first.trace.modelled == {"disk0": (len(requests), 0)}
    (disk,) = first.record.disks
    assert disk.reads + disk.writes + disk.flushes == len(requests) > 3000 and disk.flushes > 8
    assert disk.busy_ns <= (first.record.idle_ns or 0) + (first.record.instructions or 0)
    if model in ONE_AT_A_TIME:
        expect_closed_form(requests, system.modelled_disks["disk0"])
    if machine in ("q35", "pc"):
        assert requests[0].done_ns < first.record.marks["kernel_entry"], "firmware waits for it, too"
