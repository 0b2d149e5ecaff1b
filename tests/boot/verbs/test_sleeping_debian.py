"""A Debian whose services sleep: they answer 20 ms after a wake out of S3, go on from an image, run from kept RAM.

And a microVM, which goes on from an image, too.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.boot.conftest import EXAMPLES

pytestmark = [pytest.mark.boot, pytest.mark.network]

SYSTEM = EXAMPLES / "persistence" / "sleeping-debian.toml"
KEPT = EXAMPLES / "persistence" / "kept-debian.toml"
MICROVM = EXAMPLES / "persistence" / "hibernated-microvm.toml"


def boot(runs: Path, kind: str, system: Path = SYSTEM) -> dict[str, Any]:
    argv = [sys.executable, "-m", "bootlab", "boot", system, "--power-on", kind, "--json", "--runs", runs]
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


def test_its_services_run_out_of_kept_ram(tmp_path: Path) -> None:
    record = boot(tmp_path, "self-refresh", KEPT)
    assert record["power_on"]["source"] == "kept-ram" and record["power_on"]["refused"] is None
    assert record["marks"]["root_kept"] < record["marks"]["ready"]


def test_a_microvm_goes_on_from_an_image_and_refuses_one_of_an_older_root(tmp_path: Path) -> None:
    one, other = (boot(tmp_path, "hibernated", MICROVM) for _ in range(2))
    assert one["power_on"]["source"] == "image" and one["power_on"]["refused"] is None
    assert one["marks"] == other["marks"] and one["key"] == other["key"]
    assert one["marks"]["resuming"] < one["marks"]["woke"] < one["marks"]["ready"]
    older = boot(tmp_path, "hibernated:root-changed", MICROVM)
    assert older["power_on"]["refused"] == "changed since it was made: the file system on /dev/vda"
    assert older["marks"]["hibernation_refused"] < older["marks"]["ready"]
