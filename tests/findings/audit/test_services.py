"""What services did for nothing: sleeps, settling, modprobe, units that the goal does not need."""

import stat
from dataclasses import replace
from pathlib import Path

from bootlab.build.formats.cpio import Entry
from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.finding import Finding
from bootlab.findings.audit.process_costs import TaskCosts
from bootlab.findings.audit.services import list_goal_devices, list_wanting
from tests.findings.audit.told_boot import PLAN, Story, analysis_of_the_boot


def test_who_settled_slept_and_had_modules_loaded(findings: dict[str, Finding]) -> None:
    (settle,) = findings["settle waits"].items
    assert settle.what == "/bin/udevadm settle --timeout=5, run by /sbin/init"
    assert (settle.cost_ns, settle.lasted_ns) == (70_000, 70_000)
    (sleep,) = findings["sleeps in scripts"].items
    assert sleep.what == "sleep 1, run by late"
    assert sleep.lasted_ns == 5_015_000 and findings["sleeps in scripts"].idle_ns == 5_000_000
    (modprobe,) = findings["modprobe calls"].items
    assert (modprobe.what, modprobe.cost_ns) == ("1 by late (/etc/init.d/late start)", 400_000)


def test_units_that_the_goal_does_not_wait_for(findings: dict[str, Finding]) -> None:
    found = findings["units the goal does not need"]
    assert [item.what for item in found.items] == ["late"]
    assert found.cost_ns == 82_000 + 10_000 + 5_000 + 400_000 + 5_000_000
    assert found.technique == "cmdline_units_masked"


def test_what_brings_needless_units_along_is_what_a_boot_reaches(evidence: AuditedBoot) -> None:
    links = (
        "etc/systemd/system/multi-user.target.wants/late.service",
        "lib/systemd/system/graphical.target.requires/late.service",
        "lib/systemd/system/rescue.target.wants/late.service",  # on an occasion of its own
        "etc/systemd/system/multi-user.target.wants/goal.service",
        "opt/multi-user.target.wants/late.service",  # no folder of systemd's
    )
    found = replace(evidence, rootfs=[Entry(path, stat.S_IFLNK | 0o777, b"/lib/late.service") for path in links])
    assert list_wanting(found) == ["graphical.target.requires/late.service", "multi-user.target.wants/late.service"]
    assert found.plan is not None
    late, *others = found.plan.units
    script = replace(found, rootfs=[], plan=replace(found.plan, units=(replace(late, origin="lsb"), *others)))
    # The links that systemd-sysv-generator makes when the machine starts are in no file.
    assert list_wanting(script) == ["graphical.target.wants/late.service", "multi-user.target.wants/late.service"]


def test_a_graphics_card_that_the_goal_opened_is_found_by_who_opened_it(tmp_path: Path) -> None:
    story = Story()
    init = story.start(story.idler, "init", 1, "/sbin/init")
    for pid, name in ((20, "goal"), (30, "other")):
        task = story.start(init, name, pid, f"/usr/bin/{name}")
        story.run(task, 1000, "entry_SYSCALL_64;drm_open" if name == "goal" else "entry_SYSCALL_64")
        story.exits(task, init)
    story.mark("up")
    story.marks["ready"] = story.t_ns
    analysis = analysis_of_the_boot(tmp_path, story)
    told = AuditedBoot(analysis, TaskCosts(analysis), plan=PLAN, goal="goal")
    assert list_goal_devices(told) == ["/dev/dri/card0"], "the first one, where the kernel's log is not told"
    log = {"dmesg.1": "[ 1.0] [drm] Initialized bochs-drm 1.0.0 20130925 for 0000:00:01.0 on minor 1"}
    assert list_goal_devices(replace(told, facts=log)) == ["/dev/dri/card1"]
    assert list_goal_devices(replace(told, goal="other")) == []
