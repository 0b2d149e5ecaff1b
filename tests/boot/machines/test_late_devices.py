"""A machine that wakes without the devices that it does not need: it is ready, and they come behind that."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bootlab.findings.technique_evidence import evidence_of
from bootlab.measure.record import BootRecord
from bootlab.techniques.model.evidence import Effect
from tests.boot.conftest import EXAMPLES
from tests.techniques.asking import ALL, NOTHING
from tests.techniques.changes.test_before_sleep import suspended

pytestmark = [pytest.mark.boot, pytest.mark.network]

SYSTEM = EXAMPLES / "persistence" / "late-devices.toml"


def boot(runs: Path, *techniques: str, tells: bool = False) -> dict[str, Any]:
    """Return the record of a wake with what these techniques write into the root; `tells`: each device's time, too."""
    system = suspended()
    for name in techniques:
        system = ALL[name].change.apply(system, NOTHING)
    assert system.rootfs is not None
    texts = {path: text for path, text in system.rootfs.texts.items() if "sleep.d" in path}
    settings = (f'--set=rootfs.texts."{path}"={text.strip()}' for path, text in texts.items())
    argv = [sys.executable, "-m", "bootlab", "boot", SYSTEM, "--set=power_on.kind=suspended", "--json", "--runs", runs]
    argv += ["--set=power_on.devices=true"] if tells else []
    done = subprocess.run([*argv, *settings], capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def test_devices_that_are_late_come_back_behind_ready(tmp_path: Path) -> None:
    """A keyboard and a card that nobody waits for are most of a wake; the check waits until both are there again."""
    plain, late = boot(tmp_path), boot(tmp_path, "userspace_usb_late", "userspace_cards_late")
    assert plain["outcome"] == late["outcome"] == "ready"
    assert 0 < late["marks"]["ready"] * 20 < plain["marks"]["ready"]
    # Behind ready, and behind the half second in which the machine was idle.
    assert late["marks"]["devices_there"] > late["marks"]["ready"] + 500_000_000
    facts = late["facts"]
    assert len(facts["late.usb-late"].split()) == len(facts["late.cards-late"].split()) == 1
    assert facts["late.usb-late"] == facts["late_back.usb-late"] != facts["late.cards-late"]
    assert facts["late.cards-late"] == facts["late_back.cards-late"]


def test_devices_that_are_found_anew_do_not_hold_up_a_wake(tmp_path: Path) -> None:
    plain, anew = boot(tmp_path, tells=True), boot(tmp_path, "userspace_usb_persist_none", tells=True)
    assert anew["facts"]["before_sleep.usb-persist"].startswith("2 written, 0 not taken"), "a keyboard and a tablet"
    assert 0 < anew["marks"]["ready"] * 2 < plain["marks"]["ready"]
    assert anew["marks"]["devices_there"] > anew["marks"]["ready"]
    shown, before = (evidence_of(BootRecord.model_validate(record)) for record in (anew, plain))
    assert {"usb 1-1", "usb 1-2"} <= before.wakes_ns.keys() and "usb 1-1" not in shown.wakes_ns
    assert ALL["userspace_usb_persist_none"].proof.prove(shown, before) is Effect.PROVEN
