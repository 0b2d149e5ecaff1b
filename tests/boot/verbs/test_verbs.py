"""The verbs on real boots: a trial with the same answers twice, an interrupted one resumed, a series, a comparison.

The arm64 example boots in a few seconds, and shows that nothing here is x86's alone.
"""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.boot, pytest.mark.network]

ROOT = Path(__file__).parents[3]
SYSTEM = "examples/debian-arm64.toml"
TECHNIQUES = ["cmdline_cryptomgr_notests", "initramfs_none"]


def bootlab(*words: str, runs: Path, expect: int = 0) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "bootlab", *words, "--json", "--runs", str(runs)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=500,
    )
    assert done.returncode == expect, done.stderr
    return json.loads(done.stdout)


def answers(result: dict[str, Any]) -> Any:
    """Return what a trial found, without where and when."""
    kept = ("technique", "ready_ns", "saved_ns", "spread_ns", "verdict", "proof", "phases")
    rows = [{key: judged[key] for key in kept} for judged in [*result["alone"], *result["stack"]]]
    final = {name: (end["ready_ns"], end["techniques"]) for name, end in result["final"].items()}
    members = [member["ready_ns"] for member in result["baseline"]["members"] + result["baseline"]["null_members"]]
    return rows, final, members


@pytest.mark.promise("bootlab try", "bootlab apply")
def test_a_trial_gives_the_same_answers_twice_and_can_be_resumed(tmp_path: Path) -> None:
    first = bootlab("try", SYSTEM, *TECHNIQUES, runs=tmp_path / "first")
    assert first["schema"] == "bootlab.try/1"
    by_name = {judged["technique"]: judged for judged in first["alone"]}
    tests_off = by_name["cmdline_cryptomgr_notests"]
    assert (tests_off["verdict"], tests_off["proof"]) == ("shorter", "proven")
    assert tests_off["saved_ns"] > first["baseline"]["ready_ns"] // 10
    assert first["final"]["recommended"]["techniques"][0] == "cmdline_cryptomgr_notests"
    stack = [step for step in first["stack"] if step["verdict"] == "shorter"]
    assert all(before["ready_ns"] > after["ready_ns"] for before, after in zip(stack, stack[1:], strict=False))
    assert (Path(first["run"]) / "report.html").stat().st_size > 50_000

    changes = bootlab("apply", "last", "--to", str(tmp_path / "changes"), runs=tmp_path / "first")
    assert "cryptomgr.notests" in changes["words"]
    booted = bootlab("boot", str(tmp_path / "changes/system.toml"), runs=tmp_path / "first")
    assert booted["marks"]["ready"] == first["final"]["recommended"]["ready_ns"] == changes["after_ns"]

    second = tmp_path / "second"
    words = [sys.executable, "-m", "bootlab", "try", SYSTEM, *TECHNIQUES, "--runs", str(second)]
    child = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while len(list(second.glob("*/boots/*/record.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=30)
    assert child.returncode == 130
    assert f"--resume {second}/0001-debian-arm64-try" in errors
    before = {path: path.stat().st_mtime_ns for path in second.glob("*/boots/*/record.json")}
    assert len(before) >= 3

    resumed = bootlab("try", SYSTEM, "--resume", "last", runs=second)
    assert {path: path.stat().st_mtime_ns for path in before} == before, "finished boots are not booted again"
    assert answers(resumed) == answers(first)


@pytest.mark.promise("bootlab measure", "bootlab compare", "bootlab report")
def test_series_comparison_and_report(tmp_path: Path) -> None:
    series = bootlab("measure", SYSTEM, "-n", "2", "--same-seed", runs=tmp_path)
    assert series["schema"] == "bootlab.series/1"
    assert series["identical"] is True
    assert series["ready"]["min_ns"] == series["ready"]["max_ns"]

    quiet = tmp_path / "quiet.toml"
    text = (ROOT / SYSTEM).read_text().replace("panic=-1", "panic=-1 cryptomgr.notests")
    quiet.write_text(text.replace('"cloud/', f'"{ROOT}/examples/cloud/'))
    told = bootlab("compare", "1", "1", runs=tmp_path)
    assert told["verdict"] == "no verdict", "two boots of one seed are no family"
    compared = bootlab("compare", SYSTEM, str(quiet), "-n", "3", runs=tmp_path)
    assert compared["schema"] == "bootlab.compare/1"
    assert compared["verdict"] == "shorter"
    assert any("cryptomgr.notests" in difference for difference in compared["differences"])
    assert not any(difference.startswith("kernel:") for difference in compared["differences"])

    shown = bootlab("report", "1", runs=tmp_path)
    assert shown["boots"] == series["boots"]
    listed = bootlab("report", "--list", runs=tmp_path)
    assert [run["kind"] for run in listed["runs"]] == ["measure", "compare", "compare"]
    assert bootlab("report", "3", runs=tmp_path) == compared
