"""Records what a real jailer says: `python -m tests.targets.firecracker.record_jailer JAILER FIRECRACKER FILE`.

As root. FILE is the recording that the tests replay. What it does when all is well needs no recording: the jailer of
the tests does that for real (fake_jailer.py).
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

WRONG = {
    "controller": ["--cgroup-version", "2", "--cgroup", "nowhere.max=1"],
    "netns": ["--netns", "/nowhere"],
}
"""What is asked for and cannot be had."""


def record(jailer: str, firecracker: str) -> dict[str, object]:
    """Return its version, and its exit code and last words for each of WRONG."""
    found: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as base:
        for name, words in WRONG.items():
            asked = ["--id", name, "--exec-file", firecracker, "--uid", "1", "--gid", "1", "--chroot-base-dir", base]
            done = subprocess.run([jailer, *asked, *words, "--"], capture_output=True, text=True, timeout=30)
            found[name] = {"code": done.returncode, "stderr": done.stderr}
    version = subprocess.run([jailer, "--version"], capture_output=True, text=True, timeout=30).stdout
    return {"version": version, "wrong": found}


if __name__ == "__main__":
    Path(sys.argv[3]).write_text(json.dumps(record(*sys.argv[1:3]), indent=1) + "\n")
