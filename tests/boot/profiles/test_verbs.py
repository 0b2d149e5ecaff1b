"""`bootlab profile` and `advise` on real boots: the first line of advice, its bounds, two profiles, slopes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.boot, pytest.mark.network]

ROOT = Path(__file__).parents[3]


def bootlab(*words: str, runs: Path) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "bootlab", *words, "--json", "--runs", str(runs)],
        capture_output=True, text=True, cwd=ROOT, check=False, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def changed(example: str, name: str, folder: Path, *changes: tuple[str, str]) -> Path:
    text = (ROOT / "examples" / f"{example}.toml").read_text().replace('"cloud/', f'"{ROOT}/examples/cloud/')
    for old, new in (*changes, (f'name = "{example}"', f'name = "{name}"')):
        assert old in text
        text = text.replace(old, new)
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("example", "what", "technique"),
    [
        ("debian-cloud", "self-tests of the crypto API", "cmdline_cryptomgr_notests"),
        ("debian-13-cloud", "the kernel image's decompressor (zstd)", "firmware_pvh"),
        pytest.param(
            "debian-arm64",
            "self-tests of the crypto API",
            "cmdline_cryptomgr_notests",
            marks=pytest.mark.promise("bootlab profile", "bootlab advise"),
        ),
    ],
)
def test_the_first_line_of_advice(example: str, what: str, technique: str, tmp_path: Path) -> None:
    advice = bootlab("advise", f"examples/{example}.toml", runs=tmp_path)
    first = advice["items"][0]
    assert (first["what"], first["remedy"]["technique"]) == (what, technique)
    assert all(first["cost_ns"] >= item["cost_ns"] for item in advice["items"])
    assert sum(item["cost_ns"] for item in advice["items"]) + advice["rest_ns"] == advice["total_ns"]
    document = bootlab("profile", "last", runs=tmp_path)
    assert document["ready_ns"] == advice["total_ns"]
    assert document["account"]["closed"] is True


def test_a_technique_saves_what_is_estimated(tmp_path: Path) -> None:
    example = "examples/debian-arm64.toml"
    without = changed("debian-arm64", "without", tmp_path, ("panic=-1", "panic=-1 cryptomgr.notests"))
    document = bootlab("profile", str(without), "--against", example, runs=tmp_path)
    difference = document["difference"]
    saved_ns = difference["before"]["end_ns"] - difference["after"]["end_ns"]
    advice = bootlab("advise", example, runs=tmp_path)
    (remedy,) = [
        item["remedy"]
        for item in advice["items"]
        if item["remedy"] is not None and item["remedy"]["technique"] == "cmdline_cryptomgr_notests"
    ]
    assert abs(saved_ns - remedy["estimated_ns"]) < 0.01 * remedy["estimated_ns"]
    assert difference["functions"][0]["name"] == "mpihelp_submul_1"
    assert "cmdline_cryptomgr_notests" in document["advice"]["not_applicable"]
    run = Path(document["run"])
    assert (run / "difference.html").stat().st_size > 100_000

    result = (run / "result.json").read_text()
    again = bootlab("report", str(run), runs=tmp_path)
    assert again == json.loads(result), "reading again finds the same"


def test_a_machine_without_pci_and_a_console_that_says_ready(tmp_path: Path) -> None:
    fast = changed(
        "debian-cloud", "microvm", tmp_path,
        ('"q35"', '"microvm"'), ("panic=-1", "panic=-1 cryptomgr.notests"),
        ('mark = "ready"', 'console = "Run /init as init process"'),
    )  # fmt: skip
    document = bootlab("profile", str(fast), runs=tmp_path)
    account = document["account"]
    assert account["closed"] is True
    assert (account["at"], account["virtual_ns"]) == ("ready", document["ready_ns"])


def test_slopes_per_vcpu(tmp_path: Path) -> None:
    sweep = bootlab("profile", "examples/debian-arm64.toml", "--vcpus", "1,2,4", runs=tmp_path)
    assert sweep["schema"] == "bootlab.profile-sweep/1"
    assert [point["value"] for point in sweep["points"]] == [1, 2, 4]
    assert all(point["outcome"] == "ready" for point in sweep["points"])
    assert sweep["ready"]["slope_ns"] > 0
    assert sum(phase["values_ns"][2] for phase in sweep["phases"]) == sweep["ready"]["values_ns"][2]
    assert bootlab("report", "last", runs=tmp_path) == sweep
