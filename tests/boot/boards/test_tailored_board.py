"""A board's kernel fitted to its job: its profile, calls and link map are those of 32-bit arm."""

import json
import shutil
from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.sources import EXAMPLES

pytestmark = [
    pytest.mark.boot,
    pytest.mark.network,
    pytest.mark.kernel,
    pytest.mark.bench,  # three kernels
    pytest.mark.skipif(shutil.which("qemu-system-arm") is None, reason="needs qemu-system-arm"),
]

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc
/bin/busybox mount -t proc none /proc
/sbin/bootlab-mark ready
[ -e /proc/uptime ] && echo "job: done"
/bin/busybox reboot -f
"""


def test_what_the_job_needs_stays_and_the_rest_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "init").write_text(INIT)
    text = (EXAMPLES / "board.toml").read_text() + '\n[check]\nconsole = "job: done"\n'
    for old, new in (
        ("../patches", EXAMPLES.parent / "patches"),
        ("board/board.config", EXAMPLES / "board/board.config"),
    ):
        text = text.replace(f'"{old}', f'"{new}')
    (tmp_path / "board.toml").write_text(text.replace('"board/init"', '"init"'))
    words = ["tailor", str(tmp_path / "board.toml"), "--builds", "3", "--runs", str(tmp_path / "runs"), "--json"]
    assert run(words) == 0
    result = json.loads(capsys.readouterr().out)
    steps = result["steps"]
    assert result["comparison"]["verdict"] == "shorter" and steps[-1]["kernel_bytes"] < steps[0]["kernel_bytes"]
    kept = {one["option"]: one for one in result["kept"]}
    assert kept["PROC_FS"]["kind"] == "used" and kept["SERIAL_8250_CONSOLE"]["kind"] == "protected"
    dropped = {one["option"]: one for one in result["dropped"]}
    assert "SYSFS" not in kept
    # An option whose code ran goes only where the job names that code.
    assert any(one["why"].startswith("passed through by the job") for one in dropped.values()), dropped
