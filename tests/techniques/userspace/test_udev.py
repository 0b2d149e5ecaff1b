"""What waits for udev: when the techniques apply, what they write, and what proves them."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bootlab.sources import EXAMPLES
from bootlab.system import read_system
from bootlab.techniques.changes.when_idle import WHEN_IDLE
from bootlab.techniques.cmdline.audit_findings import GOAL_UNIT
from bootlab.techniques.model.evidence import Effect, Evidence
from bootlab.techniques.userspace.native_init import TELLS
from bootlab.techniques.userspace.udev import CARDS, FIXED, REST, few
from tests.techniques.asking import ALL, NOTHING, applied, why_not

Make = Callable[..., Evidence]
DEBIAN = read_system(EXAMPLES / "distribution/on-hdd.toml")


def test_the_network_waits_for_cards_where_it_had_waited_for_all(evidence: Make) -> None:
    assert "did not say what systemd started" in why_not("userspace_cards_awaited", DEBIAN)
    nobody = replace(NOTHING, facts={"settled": ""})
    assert "has not waited in ifupdown-pre" in why_not("userspace_cards_awaited", DEBIAN, nobody)
    waited = replace(NOTHING, facts={"settled": "ifupdown-pre.service"})
    changed = applied("userspace_cards_awaited", DEBIAN, waited)
    assert changed.rootfs is not None and changed.rootfs.texts == CARDS
    prove = ALL["userspace_cards_awaited"].proof.prove
    units = "ifupdown-pre.service networking.service"
    before, after = (evidence(settled=told, units_started=units) for told in ("ifupdown-pre.service", ""))
    assert prove(after, before) is Effect.PROVEN and prove(before, before) is Effect.NONE
    gone = evidence(settled="", units_started="networking.service")
    assert prove(gone, before) is Effect.NOT_SHOWN, "a unit that did not run has not waited less"


def test_udev_is_told_of_few_devices_first_and_of_all_others_later(evidence: Make) -> None:
    asked = replace(NOTHING, facts={"udev_trigger": "udevadm trigger --type=all --action=add; "})
    changed = applied("userspace_udev_few", DEBIAN, asked)
    assert changed.rootfs is not None and changed.rootfs.texts == few(None)
    matched, left = (
        set(re.findall(rf"--subsystem-{word}=(\S+)", "".join(few(None).values()))) for word in ("match", "nomatch")
    )
    assert matched - {"tty"} == left, "what is told first is left out later, and nothing else"
    prove = ALL["userspace_udev_few"].proof.prove
    before = evidence(udev_trigger="udevadm trigger --type=all --action=add; ")
    after = evidence(udev_trigger="udevadm trigger --action=add --subsystem-match=net --subsystem-match=pci; ")
    assert prove(after, before) is Effect.PROVEN and prove(before, before) is Effect.NONE
    said, silent = (
        replace(evidence(), console=f"[  OK  ] {told}\n")
        for told in ("Finished \x1b[0;1;39mbootlab-udev-rest.service\x1b[0m - The devices", "Started ssh.service")
    )
    assert prove(said, silent) is Effect.PROVEN, "a disk image says no facts, and its console does"
    assert prove(said, said) is prove(silent, silent) is Effect.NOT_SHOWN


def test_with_a_goal_udev_is_told_of_the_others_behind_it_and_when_idle() -> None:
    """xdm is started long before X asks for its keyboard, so what a screen needs is not among those that come later."""
    facts = {"udev_trigger": "udevadm trigger --type=all --action=add; ", GOAL_UNIT: "xdm"}
    changed = applied("userspace_udev_few", DEBIAN, replace(NOTHING, facts=facts))
    assert changed.rootfs is not None
    texts = changed.rootfs.texts
    assert texts == few("xdm") and set(texts) == {
        *few(None),
        REST,
        "/etc/systemd/system/xdm.service.d/90-bootlab-udev-rest.conf",
    }
    unit = texts["/etc/systemd/system/bootlab-udev-rest.service"]
    assert "After=multi-user.target xdm.service\n" in unit and "Type=simple\n" in unit and REST in unit
    trigger = texts["/etc/systemd/system/systemd-udev-trigger.service.d/90-bootlab-few.conf"]
    first = set(re.findall(r"--subsystem-match=(\S+)", trigger))
    assert {"input", "drm", "graphics"} <= first
    assert first - {"tty"} == set(re.findall(r"--subsystem-nomatch=(\S+)", texts[REST]))
    assert texts[REST].startswith(f"{WHEN_IDLE}idle || true\nudevadm trigger --type=subsystems --action=add\n")


def test_bootlab_init_tells_udev_of_fixed_devices_behind_its_goal(evidence: Make, tmp_path: Path) -> None:
    car = read_system(EXAMPLES / "ivi.toml")
    assert "userspace_udev_few" in why_not("userspace_udev_fixed", car), "sysvinit's script asks for all of them"
    assert "userspace_bootlab_init" in why_not("userspace_udev_fixed", DEBIAN)
    started = applied("userspace_bootlab_init", car)
    changed = applied("userspace_udev_fixed", started)
    assert changed.rootfs is not None and changed.rootfs.texts == {**TELLS, **FIXED}
    assert "has these files already" in why_not("userspace_udev_fixed", changed)
    bare = started.with_part("rootfs", files={})
    assert "offers no /etc/bootlab/units/udev.unit" in why_not("userspace_udev_fixed", bare)
    settles = tmp_path / "udev.unit"
    settles.write_text("post /bin/udevadm trigger\npost /bin/udevadm settle\n")
    with_it = started.with_part("rootfs", files={"/etc/bootlab/units/udev.unit": settles})
    assert "would be lost: post /bin/udevadm settle" in why_not("userspace_udev_fixed", with_it)
    first, later = (
        set(re.findall(rf"--subsystem-{word}=([a-z-]+)", "".join(FIXED.values()))) for word in ("match", "nomatch")
    )
    assert first == later, "what is told first is left out later, and nothing else"
    prove = ALL["userspace_udev_fixed"].proof.prove
    before, some, none = evidence(), evidence(udev_later="211"), evidence(udev_later="0")
    assert prove(some, before) is Effect.PROVEN and prove(none, before) is Effect.NONE
    assert prove(before, before) is prove(some, some) is Effect.NOT_SHOWN
