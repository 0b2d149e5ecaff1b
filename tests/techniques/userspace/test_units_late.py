"""Services behind the goal: for which the technique is, what it writes, and what proves it."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bootlab.process import run
from bootlab.sources import EXAMPLES
from bootlab.system import read_system
from bootlab.techniques.cmdline.audit_findings import (
    GOAL_DEVICES,
    GOAL_UNIT,
    NEEDLESS_UNITS,
    NEEDLESS_WANTED,
)
from bootlab.techniques.model.evidence import Effect, Evidence
from bootlab.techniques.userspace.units_late import GATE, OPENED, UNIT, UNWANTED
from tests.techniques.asking import ALL, NOTHING, applied, why_not

DEBIAN = read_system(EXAMPLES / "distribution/on-hdd.toml")
SYSTEMCTL = r"""if [ "$1" = show ]; then
	printf '%s\n' 'Id=a@\x2d.service' UnitFileState=enabled '' Id=b.service UnitFileState=disabled ''
	printf '%s\n' Id=c.service UnitFileState=masked-runtime ''
	printf '%s\n' Id=d.service UnitFileState= InactiveExitTimestampMonotonic=0 ''
	printf '%s\n' Id=e.service UnitFileState=static InactiveExitTimestampMonotonic=1234
else
	printf '%s\n' "$@"
fi
"""
WANTED = "graphical.target.wants/cron.service multi-user.target.wants/ssh.service"
FOUND = {NEEDLESS_UNITS: "cron ssh", GOAL_UNIT: "nginx", NEEDLESS_WANTED: WANTED}
AUDITED = replace(NOTHING, facts=FOUND)


def test_it_takes_an_audit_that_found_all() -> None:
    for left_out in FOUND:
        facts = {name: text for name, text in FOUND.items() if name != left_out}
        assert "bootlab try --audit RUN" in why_not("userspace_units_late", DEBIAN, replace(NOTHING, facts=facts))
    masked = DEBIAN.with_cmdline("systemd.mask=ssh.service")
    assert "masks ssh.service" in why_not("userspace_units_late", masked, AUDITED)


def test_nothing_waits_for_the_gate_that_starts_each_service_behind_the_goal() -> None:
    changed = applied("userspace_units_late", DEBIAN, AUDITED)
    assert changed.rootfs is not None
    texts = changed.rootfs.texts
    masks = {f"{UNWANTED}/{place}" for place in WANTED.split()}
    drop_in = "/etc/systemd/system/nginx.service.d/90-bootlab-late.conf"
    of_target = "/etc/systemd/system/multi-user.target.d/90-bootlab-late.conf"
    assert set(texts) == {GATE, UNIT, drop_in, of_target} | masks
    assert {texts[name] for name in masks} == {""}, "what is not empty is no mask"
    assert "After=sysinit.target nginx.service\n" in texts[UNIT] and "DefaultDependencies=no\n" in texts[UNIT]
    assert texts[drop_in] == texts[of_target] == "[Unit]\nWants=bootlab-late.service\n"
    assert "systemctl show -p Id -p InactiveExitTimestampMonotonic cron.service ssh.service)" in texts[GATE]
    assert "-p UnitFileState -p InactiveExitTimestampMonotonic cron.service ssh.service)" in texts[GATE]


def test_a_service_may_be_called_as_it_likes() -> None:
    facts = {**FOUND, NEEDLESS_UNITS: "LEFTOVER FACT"}
    changed = applied("userspace_units_late", DEBIAN, replace(NOTHING, facts=facts))
    assert changed.rootfs is not None
    assert changed.rootfs.texts[GATE].count(" LEFTOVER.service FACT.service)") == 2


def test_a_goal_that_opens_a_graphics_card_waits_for_that() -> None:
    drop_in = "/etc/systemd/system/nginx.service.d/90-bootlab-late.conf"
    plain = applied("userspace_units_late", DEBIAN, AUDITED)
    seen = applied("userspace_units_late", DEBIAN, replace(NOTHING, facts={**FOUND, GOAL_DEVICES: "/dev/dri/card1"}))
    assert plain.rootfs is not None and seen.rootfs is not None
    assert "udevadm" not in plain.rootfs.texts[drop_in]
    assert "\nExecStartPre=-/bin/udevadm wait --timeout=10 /dev/dri/card1\n" in seen.rootfs.texts[drop_in]


def run_gate(tmp_path: Path, *words: str) -> str:
    """Return what the gate prints where systemctl tells of five services; what it says of them goes into `told`."""
    changed = applied("userspace_units_late", DEBIAN, AUDITED)
    assert changed.rootfs is not None
    (tmp_path / "told").touch()
    gate = changed.rootfs.texts[GATE].replace(OPENED, str(tmp_path / "opened"))
    gate = gate.replace("/dev/console", str(tmp_path / "told"))
    (tmp_path / "systemctl").write_text(f"#!/bin/sh\n{SYSTEMCTL}")
    (tmp_path / "systemctl").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    return run(["sh", "-c", gate.replace("seq 12", "seq 0"), "gate", *words], env=environment).text


def test_what_was_disabled_or_masked_since_is_left_alone_and_named(tmp_path: Path) -> None:
    """And what has been started already, by whoever asked for it, is not started again: it may have ended."""
    text = run_gate(tmp_path, "open")
    assert text.splitlines() == ["--no-block", "start", r"a@\x2d.service", "d.service"]
    assert (tmp_path / "told").read_text() == "bootlab: fact units_left b.service c.service\n"
    assert (tmp_path / "opened").exists()


def test_a_service_that_has_ended_is_not_late(tmp_path: Path) -> None:
    run_gate(tmp_path)
    assert (tmp_path / "told").read_text() == "bootlab: fact units_late d\n"
    assert not (tmp_path / "opened").exists()


def test_a_name_with_a_backslash_is_one_word_of_the_gate() -> None:
    odd = replace(NOTHING, facts={**FOUND, NEEDLESS_UNITS: r"backup@dev-disk\x2da"})
    changed = applied("userspace_units_late", DEBIAN, odd)
    assert changed.rootfs is not None
    assert changed.rootfs.texts[GATE].count(r"'backup@dev-disk\x2da.service'") == 2


def test_the_gate_says_what_came_later(evidence: Callable[..., Evidence]) -> None:
    prove = ALL["userspace_units_late"].proof.prove
    assert prove(evidence(units_late="cron"), evidence()) is Effect.PROVEN
    assert prove(evidence(units_late=""), evidence()) is Effect.NONE, "all of them had come by then"
    assert prove(evidence(), evidence()) is Effect.NOT_SHOWN
    assert prove(evidence(units_late="cron"), evidence(units_late="cron")) is Effect.NOT_SHOWN
