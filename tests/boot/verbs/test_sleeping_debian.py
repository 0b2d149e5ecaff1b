"""A Debian whose services sleep: its server answers within 20 ms of the wake out of S3, and goes on from an image."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.boot.conftest import EXAMPLES

pytestmark = [pytest.mark.boot, pytest.mark.network]

SYSTEM = EXAMPLES / "persistence" / "sleeping-debian.toml"


def boot(runs: Path, kind: str) -> dict[str, Any]:
    argv = [sys.executable, "-m", "bootlab", "boot", SYSTEM, "--power-on", kind, "--json", "--runs", runs]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def test_its_services_answer_at_once_when_it_wakes(tmp_path: Path) -> None:
    marks = boot(tmp_path, "suspended")["marks"]
    assert 0 < marks["kernel_wakes"] < marks["woke"] < marks["ready"] < marks["ssh_answered"]
    assert marks["ready"] < 20_000_000


def test_its_services_go_on_from_an_image(tmp_path: Path) -> None:
    record = boot(tmp_path, "hibernated")
    assert record["power_on"]["source"] == "image" and record["power_on"]["refused"] is None
    assert record["marks"]["resuming"] < record["marks"]["woke"] < record["marks"]["ready"]
