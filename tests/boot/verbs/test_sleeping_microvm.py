"""A microVM that hibernates: it goes on from its image, and refuses one of an older root."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.boot.conftest import EXAMPLES

pytestmark = [pytest.mark.boot, pytest.mark.network]


def boot(runs: Path, name: str, *words: str) -> dict[str, Any]:
    argv = [sys.executable, "-m", "bootlab", "boot", EXAMPLES / "persistence" / name, *words, "--json", "--runs", runs]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def test_it_goes_on_from_an_image_and_refuses_one_of_an_older_root(tmp_path: Path) -> None:
    one, other = (boot(tmp_path, "hibernated-microvm.toml", "--power-on", "hibernated") for _ in range(2))
    assert one["power_on"]["source"] == "image" and one["power_on"]["refused"] is None
    assert one["marks"] == other["marks"] and one["key"] == other["key"]
    assert one["marks"]["resuming"] < one["marks"]["woke"] < one["marks"]["ready"]
    older = boot(tmp_path, "hibernated-microvm.toml", "--power-on", "hibernated:root-changed")
    assert older["power_on"]["refused"] == "changed since it was made: the file system on /dev/vda"
    assert older["marks"]["hibernation_refused"] < older["marks"]["ready"]
