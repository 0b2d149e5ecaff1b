"""A login window that is taken up from an image or wakes from S3: all services there, far sooner than cold."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.boot.conftest import EXAMPLES

pytestmark = [pytest.mark.boot, pytest.mark.network]

GREETER = EXAMPLES / "greeter"


def boot(runs: Path, name: str, *words: str) -> dict[str, Any]:
    argv = [sys.executable, "-m", "bootlab", "boot", GREETER / name, *words, "--json", "--runs", runs]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def test_a_hibernated_login_window_is_there_within_two_fifths_of_its_cold_boot(tmp_path: Path) -> None:
    cold = boot(tmp_path, "hibernated.toml")
    one, other = (boot(tmp_path, "hibernated.toml", "--power-on", "hibernated") for _ in range(2))
    assert one["power_on"]["source"] == "image" and one["power_on"]["refused"] is None
    assert one["marks"] == other["marks"] and one["key"] == other["key"]
    assert one["marks"]["resuming"] < one["marks"]["woke"] < one["marks"]["ready"]
    assert cold["marks"]["ready"] < cold["marks"]["all-ready"], "cold, the window comes before the other services"
    assert one["marks"]["ready"] < 0.4 * cold["marks"]["ready"]


def test_a_suspended_login_window_is_there_soon_after_it_wakes(tmp_path: Path) -> None:
    woken = boot(tmp_path, "suspended.toml", "--power-on", "suspended")
    marks = woken["marks"]
    assert 0 == marks["wake"] < marks["woke"] < marks["ready"] < 200_000_000


def test_a_login_window_comes_up_out_of_kept_ram(tmp_path: Path) -> None:
    one, other = (boot(tmp_path, "kept.toml", "--power-on", "self-refresh") for _ in range(2))
    assert one["power_on"]["source"] == "kept-ram" and one["power_on"]["refused"] is None
    assert one["marks"] == other["marks"] and one["key"] == other["key"]
    assert one["marks"]["root_kept"] < one["marks"]["ready"] < one["marks"]["all-ready"]
