"""Techniques of the root file system on a real one: a kernel of 540 options that mounts it, every knob proved.

One kernel serves them all; it stays in the cache, so only the first build takes minutes.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

SYSTEM = Path(__file__).parent / "tiny_root" / "root.toml"


def test_every_technique_of_a_root_takes_effect(tmp_path: Path) -> None:
    names = ["rootfs_squashfs", "rootfs_erofs", "rootfs_no_journal", "rootfs_initramfs", "rootfs_direct_init"]
    words = [sys.executable, "-m", "bootlab", "try", str(SYSTEM), *names, "--seeds", "3", "--nulls", "3", "--json"]
    done = subprocess.run([*words, "--runs", str(tmp_path / "runs")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = {row["technique"]: row for row in json.loads(done.stdout)["alone"]}
    assert {name: (row["proof"], row["detail"]) for name, row in rows.items() if row["proof"] != "proven"} == {}
    assert set(rows) == set(names)
    # What was packed is smaller, and what is in memory is no disk.
    sizes = {name: row["sizes"] for name, row in rows.items()}
    assert sizes["rootfs_squashfs"]["rootfs"] < sizes["rootfs_no_journal"]["rootfs"]
    assert "rootfs" not in sizes["rootfs_initramfs"] and sizes["rootfs_initramfs"]["initramfs"] > 1_000_000
