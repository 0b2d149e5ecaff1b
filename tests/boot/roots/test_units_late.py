"""A Debian whose services that the goal does not need are started behind it: later, and all of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.sources import EXAMPLES
from bootlab.system import Booted, Check, read_system
from bootlab.techniques.changes.root_files import with_root_files
from bootlab.techniques.cmdline.audit_findings import GOAL_UNIT, NEEDLESS_UNITS, NEEDLESS_WANTED
from tests.techniques.asking import NOTHING, applied

pytestmark = [pytest.mark.boot, pytest.mark.network]

WANTED = "multi-user.target.wants/cron.service multi-user.target.wants/rsyslog.service"
AUDITED = replace(NOTHING, facts={NEEDLESS_UNITS: "cron early rsyslog", GOAL_UNIT: "nginx", NEEDLESS_WANTED: WANTED})
PROBES = {
    "/etc/systemd/system/told.service": """[Service]
ExecStart=/bin/sh -c '\\
    until systemctl --quiet is-active cron && systemctl --quiet is-active rsyslog; do sleep 1; done; \\
    echo bootlab: fact came $$(systemctl is-active cron rsyslog) >/dev/console'
""",
    "/etc/systemd/system/multi-user.target.d/probes.conf": "[Unit]\nWants=told.service early.service\n",
    # Which no folder of wants brings, so that nothing masks it: it has run and ended before the goal.
    "/etc/systemd/system/early.service": """[Unit]
Before=nginx.service
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'echo bootlab: early has run >/dev/console'
""",
}


def test_a_machine_that_is_started_without_the_goal_has_its_services(shop: Workshop, tmp_path: Path) -> None:
    system = applied("userspace_units_late", read_system(EXAMPLES / "distribution/on-disk.toml"), AUDITED)
    told = with_root_files(system, PROBES).with_cmdline("systemd.mask=nginx.service")
    booted = Booted(console=r"bootlab: fact came \w", deadline_s=600)
    record = boot(prepare(shop, told.model_copy(update={"booted": booted, "check": None})), tmp_path)
    assert record.outcome.value == "ready", record.detail
    assert "bootlab: fact came active active" in (tmp_path / "console.log").read_text()


def test_services_come_behind_the_goal_and_none_is_left_out(shop: Workshop, tmp_path: Path) -> None:
    system = applied("userspace_units_late", read_system(EXAMPLES / "distribution/on-disk.toml"), AUDITED)
    both = Check(console=r"bootlab: fact came \w", deadline_s=600)
    (tmp_path / "boot").mkdir()
    told = with_root_files(system, PROBES).model_copy(update={"check": both})
    record = boot(prepare(shop, told), tmp_path / "boot")
    console = (tmp_path / "boot/console.log").read_text()
    assert record.outcome.value == "ready", f"{record.detail}\n{console[-4000:]}"
    assert record.facts["units_late"].split() == ["cron", "rsyslog"], "neither was up as nginx was"
    assert console.count("bootlab: early has run") == 1, "what has ended before is neither late nor started again"
    assert record.facts["came"].split() == ["active", "active"]
    assert console.index("bootlab: check ok") < console.index("bootlab: fact came"), "the goal was not held up"
