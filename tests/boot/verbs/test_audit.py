"""A Debian made by mmdebstrap, with its own initramfs, udev and systemd: what its audit must find, and pruning it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.boot, pytest.mark.network]

EXAMPLES = Path(__file__).parents[3] / "examples"
# What must be found, put where it is known: a service that the goal waits for, and one that it does not.
LATE = "#!/bin/sh\nsleep 0.25\nudevadm settle\nmodprobe dummy\n"
UNIT = "[Service]\nType=oneshot\nExecStart=/usr/local/sbin/late\n"
GOAL = """[Unit]
After=late.service nginx.service
Wants=late.service nginx.service

[Service]
Type=oneshot
ExecStart=/usr/local/sbin/selfcheck
StandardOutput=tty
TTYPath=/dev/console

[Install]
WantedBy=multi-user.target
"""
RULE = 'SUBSYSTEM=="mem", KERNEL=="null", RUN+="/bin/true"\nKERNEL=="null" MODE 0666\n'


def _bootlab(*words: str | Path) -> str:
    argv = [sys.executable, "-m", "bootlab", *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=1500)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, with what is to be found put into it."""
    folder = tmp_path_factory.mktemp("audited")
    shutil.copytree(EXAMPLES / "distribution", folder / "distribution", symlinks=True)
    root = folder / "distribution/root"
    for name, text in {
        "etc/systemd/system/late.service": UNIT,
        "etc/systemd/system/selfcheck.service": GOAL,
        "etc/udev/rules.d/99-mine.rules": RULE,
        "usr/local/sbin/late": LATE,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
        (root / name).chmod(0o755)
    shutil.copy(EXAMPLES / "distribution.toml", folder)
    return folder / "distribution.toml"


def _items(audit: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    (found,) = [one for one in audit["findings"] if one["kind"] == kind]
    items: list[dict[str, Any]] = found["items"]
    return items


@pytest.mark.promise("bootlab audit", "bootlab boot")
def test_the_audit_finds_what_was_put_there_and_the_pruned_initramfs_boots(system: Path, tmp_path: Path) -> None:
    audit = json.loads(_bootlab("audit", system, "--json", "--runs", tmp_path))
    assert audit["outcome"] == "ready" and audit["goal"] == "selfcheck" and audit["not_looked"] == {}
    assert json.loads(_bootlab("report", audit["run"], "--json")) == audit

    (sleep,) = _items(audit, "sleeps in scripts")
    assert sleep["what"] == "sleep 0.25, run by late" and sleep["lasted_ns"] >= 250_000_000
    settles = [item["what"] for item in _items(audit, "settle waits")]
    assert "udevadm settle, run by late" in settles
    assert any("/scripts/init-top/udev" in what for what in settles), "initramfs-tools' own"
    loaders = " ".join(f"{item['what']} {item['detail']}" for item in _items(audit, "modprobe calls"))
    assert "late" in loaders and "modprobe dummy" in loaders
    assert "dummy" in [item["what"] for item in _items(audit, "modules loaded for nothing")]
    forked = {item["what"]: item["detail"] for item in _items(audit, "udev rules that fork")}
    assert any(what.endswith("x /bin/true") and "99-mine.rules:1 RUN" in forked[what] for what in forked)
    assert [item["what"] for item in _items(audit, "udev rules with errors")] == ["/etc/udev/rules.d/99-mine.rules:2"]
    assert "cron" in [item["what"] for item in _items(audit, "units the goal does not need")]
    assert "late" not in audit["facts"]["audit_needless_units"].split()

    events = {item["what"] for item in _items(audit, "uevents")}
    assert "/devices/virtual/mem/null" in events and any("virtio" in what for what in events)
    for finding in audit["findings"]:
        assert finding["cost_ns"] == finding["executed_ns"] + finding["idle_ns"] <= audit["total_ns"]
        assert sum(item["cost_ns"] or 0 for item in finding["items"]) <= finding["cost_ns"] + len(finding["items"])

    unused = [item["what"] for item in _items(audit, "initramfs modules never used")]
    record = json.loads((Path(audit["run"]) / "boots/1/record.json").read_text())
    loaded = record["facts"]["modules"].split()
    assert len(unused) > 50 and "xfs" in unused and "virtio_net" not in unused and "virtio_net" in loaded

    text = system.read_text().replace("installed = true", f"installed = true\nkeep_modules = {json.dumps(loaded)}", 1)
    pruned = system.with_name("pruned.toml")
    pruned.write_text(text)
    booted = json.loads(_bootlab("boot", pruned, "--json", "--runs", tmp_path / "pruned"))
    assert booted["outcome"] == "ready", "its check has passed"
    assert booted["sizes"]["initramfs"] < record["sizes"]["initramfs"] - 1_000_000
