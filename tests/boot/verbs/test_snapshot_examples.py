"""The examples that are kept warm: clones answer as a cold boot does, each another machine, within what is asked."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.boot.conftest import EXAMPLES

pytestmark = [pytest.mark.boot, pytest.mark.network]

# ns from the restored machine's first instruction to its answer that a platform allows.
WITHOUT_DISK, WITH_DISK, DEBIAN, SYSTEMD = 2_000_000, 5_000_000, 20_000_000, 200_000_000


def bootlab(runs: Path, *words: str | Path) -> dict[str, Any]:
    argv = [sys.executable, "-m", "bootlab", *words, "--json", "--runs", runs]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("example", "limit_ns", "behind"),
    [
        ("microvm/snapshot.toml", WITHOUT_DISK, None),
        ("microvm/snapshot-disk.toml", WITH_DISK, None),
        # Its check asks sshd, too, and reads over the network what both services have answered.
        ("debian-init/snapshot.toml", DEBIAN, "ssh_answered"),
        # What its timers have missed since runs beside its answer.
        ("distribution/snapshot.toml", SYSTEMD, None),
        ("greeter/snapshot.toml", SYSTEMD, None),
    ],
)
def test_clones_answer_soon_differ_and_repeat(example: str, limit_ns: int, behind: str | None, tmp_path: Path) -> None:
    kept = bootlab(tmp_path, "snapshot", EXAMPLES / example)
    found = bootlab(tmp_path, "boot", EXAMPLES / example, "--from", kept["snapshot"], "--clones", "3")
    assert found["alike"] == [] and found["repeats"] is True
    assert len({one["facts"]["clone"] for one in found["boots"]}) == 3
    for one in found["boots"]:
        marks = one["marks"]
        assert one["outcome"] == "ready" and 0 < marks["woke"] < marks["ready_clone"] < limit_ns
        assert marks["woke"] < 1_000_000 and kept["kept_ns"] > 50 * marks["ready_clone"]
        assert behind is None or marks["ready_clone"] < marks[behind]
