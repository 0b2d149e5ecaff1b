"""A stock kernel boots with busybox built of the applets that its files name, and its whole check passes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.boot, pytest.mark.network]

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_a_system_does_its_work_with_the_applets_that_its_files_name(tmp_path: Path) -> None:
    text = (EXAMPLES / "debian-cloud.toml").read_text().replace('"cloud/', f'"{EXAMPLES}/cloud/')
    path = tmp_path / "cloud.toml"
    path.write_text(text.replace("panic=-1", "panic=-1 cryptomgr.notests"))
    words = [sys.executable, "-m", "bootlab", "boot", str(path), "--runs", str(tmp_path / "runs"), "--json"]
    whole = subprocess.run(words, capture_output=True, text=True, check=False)
    assert whole.returncode == 0, whole.stderr
    path.write_text(path.read_text().replace("[initramfs]\n", '[initramfs]\nbusybox_applets = "used"\n', 1))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    before, after = (json.loads(one.stdout)["sizes"]["initramfs"] for one in (whole, done))
    assert after < before - 300_000
    told = subprocess.run(words[:-1], capture_output=True, text=True, check=True).stderr
    # What stays is told with who names it, and what is left out by name.
    assert "insmod (/init)" in told and "applets stay" in told and "left out: " in told
    assert " vi" in told.partition("left out: ")[2]
