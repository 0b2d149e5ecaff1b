"""Sweeps and studies on real boots, of the arm64 example because it boots in a few seconds."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import BootlabError
from bootlab.system import System, read_system
from bootlab.targets.qemu.huge_pages import expect_pages, read_free_pages

pytestmark = [pytest.mark.boot, pytest.mark.network]

ROOT = Path(__file__).parents[3]
SYSTEM = "examples/debian-arm64.toml"


def words(*more: str, runs: Path) -> list[str]:
    return [sys.executable, "-m", "bootlab", *more, "--json", "--runs", str(runs)]


def bootlab(*more: str, runs: Path, expect: int = 0) -> Any:
    done = subprocess.run(words(*more, runs=runs), capture_output=True, text=True, cwd=ROOT, check=False, timeout=500)
    assert done.returncode == expect, done.stderr
    return json.loads(done.stdout) if done.stdout else done.stderr


@pytest.mark.promise("bootlab sweep")
def test_a_sweep_is_exact_and_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    axes = ("--vcpus", "1,2", "--memory", "128M,1G", "--seeds", "1")
    child = subprocess.Popen(
        words("sweep", SYSTEM, *axes, "--parallel", "1", runs=tmp_path / "cut"), cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not list((tmp_path / "cut").glob("*/boots/*/record.json")) and time.monotonic() < deadline:
        time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=30)
    assert child.returncode == 130
    assert f"--resume {tmp_path}/cut/0001-debian-arm64-sweep" in errors
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("cut/*/boots/*/record.json")}
    assert 1 <= len(kept) < 4
    refused = bootlab("sweep", SYSTEM, "--resume", "last", "--vcpus", "1,2", runs=tmp_path / "cut", expect=2)
    assert "give the system and --resume only" in refused

    table = tmp_path / "boots.csv"
    resumed = bootlab("sweep", SYSTEM, "--resume", "last", "--csv", str(table), runs=tmp_path / "cut")
    assert {path: path.stat().st_mtime_ns for path in kept} == kept, "finished boots are not booted again"
    assert len(table.read_text().splitlines()) == 5
    whole = bootlab("sweep", SYSTEM, *axes, runs=tmp_path / "whole")
    figures = [(cell["place"], cell["ready"], cell["instructions"], cell["phases"]) for cell in whole["cells"]]
    assert figures == [
        (cell["place"], cell["ready"], cell["instructions"], cell["phases"]) for cell in resumed["cells"]
    ]
    for trend in whole["trends"]:
        ready = next(row for row in trend["rows"] if row["name"] == "ready")
        assert ready["slope"] > 0, "another vCPU, or more memory, is more to set up"
        assert ready["straight"] is None
    assert bootlab("report", "1", runs=tmp_path / "whole") == whole
    assert (Path(whole["run"]) / "report.html").read_text().count('class="plot"') == 2


def test_any_key_of_the_system_file_is_swept(tmp_path: Path) -> None:
    axes = ("--set", "kernel.cmdline+=,quiet", "--set", "initramfs.compression=none,gzip", "--seeds", "1")
    swept = bootlab("sweep", SYSTEM, *axes, runs=tmp_path)
    assert swept["swept"] == ["kernel.cmdline", "initramfs.compression"]
    ready = [cell["ready"]["median"] for cell in swept["cells"]]
    assert ready[2] < ready[0] and ready[3] < ready[1], "quiet is heeded: a console takes instructions"
    assert ready[0] < ready[1] and ready[2] < ready[3], "what is not packed is not unpacked"
    assert len({json.dumps(hashes) for hashes in swept["hashes"].values()}) == 2, "two archives, one kernel"


def machine(page_size: str) -> System:
    return read_system(ROOT / SYSTEM).with_part("machine", memory_mib=128, page_size=page_size)


def test_host_pages_change_no_count_on_the_virtual_clock(tmp_path: Path) -> None:
    """With huge pages where this host has them free: sysctl vm.nr_hugepages=64."""
    try:
        expect_pages(machine("4K"))
    except BootlabError as error:
        pytest.skip(error.message)
    sizes = ["auto", "4K", *(["2M"] if read_free_pages() >= 64 else [])]
    swept = bootlab("sweep", SYSTEM, "--memory", "128M", "--page-size", ",".join(sizes), "--seeds", "1", runs=tmp_path)
    assert swept["page_sizes_equal"] is True
    assert [cell["outcome"] for cell in swept["cells"]] == ["ready"] * len(sizes)
    assert len({cell["instructions"]["median"] for cell in swept["cells"]}) == 1


def test_huge_pages_that_are_not_there_are_asked_for_before_a_boot(tmp_path: Path) -> None:
    need = read_free_pages() + 8
    sizes = f"{2 * need}M,{2 * need + 2}M" if 2 * need >= 128 else "128M,256M"
    said = bootlab("sweep", SYSTEM, "--memory", sizes, "--page-size", "2M", "--seeds", "1", runs=tmp_path, expect=3)
    assert "huge pages, and this host has" in said and "sysctl vm.nr_hugepages=" in said
    assert not list(tmp_path.glob("*/boots/*"))


@pytest.mark.promise("bootlab study compression")
def test_a_compression_study_finds_where_the_best_changes(tmp_path: Path) -> None:
    study = bootlab_study(tmp_path)
    (table,) = study["tables"]
    by_name = {one["name"]: one for one in table["options"]}
    measured = {name: one for name, one in by_name.items() if one["boot"] is not None}
    assert {"none", "gzip", "zstd", "xz"} <= set(measured)
    assert measured["none"]["unpack"]["median"] == 0
    assert measured["none"]["size"] > measured["gzip"]["size"] > measured["xz"]["size"]
    assert measured["none"]["boot"]["median"] < measured["gzip"]["boot"]["median"] < measured["xz"]["boot"]["median"]
    ranges = table["best"]
    assert ranges[-1]["name"] == "none" and ranges[-1]["to_mb_s"] is None
    for one, after in zip(ranges, ranges[1:], strict=False):
        speed, now, then = one["to_mb_s"], measured[one["name"]], measured[after["name"]]
        left, right = (side["loaded"] * 1000 / speed + side["boot"]["median"] for side in (now, then))
        assert left == pytest.approx(right), "at a crossing both take the same time"
    assert study["left_out"][0].startswith("kernel: an arm64 or riscv64 kernel does not unpack itself")


def bootlab_study(runs: Path) -> Any:
    done = subprocess.run(
        words("study", "compression", SYSTEM, "--seeds", "1", runs=runs), capture_output=True, text=True, cwd=ROOT,
        check=False, timeout=500,
    )  # fmt: skip
    # A host without a compressor measures the others, and says so with its exit code.
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)
