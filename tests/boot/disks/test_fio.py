"""fio in a guest finds the rates of a modelled flash disk, within a fiftieth, where the disk is what limits."""

import shutil
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import Outcome
from bootlab.system import DiskModel, System, read_system

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

SOURCES = Path(__file__).parent / "fio_work"
KIB = 1024
RUNTIME_S = 2
NEAR = 0.02
JOBS = {
    "sd": [("randread", 4, 4), ("randwrite", 4, 4), ("read", 128, 4), ("write", 128, 4)],
    "emmc": [("randread", 4, 4), ("randwrite", 4, 4), ("read", 128, 4), ("write", 128, 4)],
    "ssd": [("read", 128, 16), ("write", 128, 16)],
    "nvme": [("read", 512, 16)],
    "volume": [("randread", 4, 16), ("randwrite", 4, 16), ("read", 128, 16), ("write", 128, 16)],
}
"""What is asked of each model: how, KiB at once, requests on their way.

Of ssd and nvme 4 KiB at a time would measure the processor, which a request costs about 16,000 ns. What a head reads
in a short time depends on where it was and on what its cache holds: hdd is not asked.
"""
READ_FIELDS, WRITE_FIELDS = (6, 7), (47, 48)
"""KiB a second and operations a second of fio's terse form, version 3, from 0."""


def request_ns(model: DiskModel, how: str, kib: int, depth: int) -> float:
    """Return what a request takes at least when `depth` of them are on their way: the narrowest place decides."""
    size = kib * KIB
    reads = "read" in how
    latency, bus = (model.read_ns, model.read_bytes_s) if reads else (model.write_ns, model.write_bytes_s)
    bus_ns = size * 10**9 / bus
    if model.depth == 1:
        return latency + bus_ns
    operations = -(-size // model.io_bytes) if model.io_bytes else 1
    ceiling_ns = operations * 10**9 / model.iops if model.iops else 0.0
    return max((latency + bus_ns) / depth, bus_ns, float(model.command_ns), ceiling_ns)


def with_jobs(folder: Path, model: str) -> System:
    shutil.copytree(SOURCES, folder)
    jobs = "".join(
        f"{how}-{kib} --rw={how} --bs={kib}k --iodepth={depth} --runtime={RUNTIME_S}\n"
        for how, kib, depth in JOBS[model]
    )
    (folder / "jobs").write_text(jobs)
    text = (folder / "system.toml").read_text()
    (folder / "system.toml").write_text(text.replace("size_mib = 128", f'size_mib = 128\nmodel = "{model}"'))
    return read_system(folder / "system.toml")


@pytest.mark.parametrize("model", JOBS)
def test_fio_finds_the_rates_of_a_model(model: str, shop: Workshop, tmp_path: Path) -> None:
    system = with_jobs(tmp_path / "system", model)
    (tmp_path / "boot").mkdir()
    record = boot(prepare(shop, system), tmp_path / "boot", patience=4.0)
    console = (tmp_path / "boot/console.log").read_text(errors="replace")
    assert record.outcome is Outcome.READY and "fio: failed" not in console, (record.detail, console[-2000:])
    told = [line.split("told ", 1)[1].split(";") for line in console.splitlines() if line.startswith("fio: told 3;")]
    assert len(told) == len(JOBS[model])
    for (how, kib, depth), fields in zip(JOBS[model], told, strict=True):
        kib_s, iops = (float(fields[at]) for at in (READ_FIELDS if "read" in how else WRITE_FIELDS))
        expected = 10**9 / request_ns(system.modelled_disks["disk0"], how, kib, depth)
        print(
            f"\n{model} {how} of {kib} KiB, {depth} at once: fio {iops:,.0f} a second, {kib_s / 1024:,.1f} MiB/s;"
            f" the model {expected:,.1f} a second"
        )
        assert abs(iops / expected - 1) <= NEAR + 0.5 / expected, (model, how)
