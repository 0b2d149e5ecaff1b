"""What udev's rules did: those that fork, those with errors."""

from dataclasses import replace
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.findings.audit.finding import Finding
from bootlab.findings.audit.kinds import audit, gather
from tests.findings.audit.told_boot import Story, analysis_of_the_boot


def test_a_rule_that_forks_is_named_with_what_it_started(findings: dict[str, Finding]) -> None:
    (item,) = findings["udev rules that fork"].items
    assert (item.what, item.cost_ns) == ("1 x /lib/udev/helper", 500_000)
    assert item.detail == "/usr/lib/udev/rules.d/50-a.rules:1 IMPORT{program}"
    (bad,) = findings["udev rules with errors"].items
    assert bad.what == "/usr/lib/udev/rules.d/50-a.rules:2"


def test_what_udev_was_told_is_seen_where_the_system_does_not_say_it(tmp_path: Path) -> None:
    cache, story = Cache(tmp_path / "cache"), Story()
    init = story.start(story.idler, "init", 1, "/sbin/init")
    # The initramfs has a script for it, which is no process of systemd's.
    script = story.start(init, "udev", 8, "/bin/sh /scripts/init-top/udev")
    early = story.start(script, "udevadm", 9, "udevadm trigger --type=devices")
    story.run(early, 10_000)
    story.exits(early, script)
    story.exits(script, init)
    for pid, kind in ((20, "subsystems"), (21, "devices")):
        told = story.start(init, "udevadm", pid, f"udevadm trigger --type={kind} --action=add")
        story.run(told, 30_000)
        story.exits(told, init)
    story.mark("up")
    story.marks["ready"] = story.t_ns
    analysis = analysis_of_the_boot(tmp_path, story)
    evidence = gather(analysis, cache, initramfs=None, rootfs=None, kernel_config={})
    seen = "udevadm trigger --type=subsystems --action=add; udevadm trigger --type=devices --action=add; "
    assert audit(evidence).facts["udev_trigger"] == seen
    said = replace(analysis, record=analysis.record.model_copy(update={"facts": {"udev_trigger": ""}}))
    silent = gather(said, cache, initramfs=None, rootfs=None, kernel_config={})
    assert "udev_trigger" not in audit(silent).facts, "what the system says of itself is not told anew"
