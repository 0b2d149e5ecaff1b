"""Services behind the goal: for which the technique is, what it writes, and what proves it."""

from collections.abc import Callable
from dataclasses import replace

from bootlab.sources import EXAMPLES
from bootlab.system import read_system
from bootlab.techniques.cmdline.audit_findings import GOAL_UNIT, NEEDLESS_UNITS
from bootlab.techniques.model.evidence import Effect, Evidence
from bootlab.techniques.userspace.units_late import GATE, UNIT
from tests.techniques.asking import ALL, NOTHING, applied, why_not

DEBIAN = read_system(EXAMPLES / "distribution/on-hdd.toml")
AUDITED = replace(NOTHING, facts={NEEDLESS_UNITS: "cron ssh", GOAL_UNIT: "nginx"})


def test_it_takes_an_audit_that_found_both() -> None:
    for facts in ({}, {NEEDLESS_UNITS: "cron"}, {GOAL_UNIT: "nginx"}):
        assert "bootlab try --audit RUN" in why_not("userspace_units_late", DEBIAN, replace(NOTHING, facts=facts))
    masked = DEBIAN.with_cmdline("systemd.mask=ssh.service")
    assert "masks ssh.service" in why_not("userspace_units_late", masked, AUDITED)


def test_each_service_waits_for_a_gate_that_waits_for_the_goal() -> None:
    changed = applied("userspace_units_late", DEBIAN, AUDITED)
    assert changed.rootfs is not None
    texts = changed.rootfs.texts
    drop_ins = {f"/etc/systemd/system/{name}.service.d/90-bootlab-late.conf" for name in ("cron", "ssh")}
    assert set(texts) == {GATE, UNIT} | drop_ins
    assert "After=nginx.service\n" in texts[UNIT]
    assert all("After=bootlab-late.service\n" in texts[name] for name in drop_ins)
    assert "systemctl show -p Id -p ActiveState cron.service ssh.service)" in texts[GATE]


def test_a_name_with_a_backslash_is_one_word_of_the_gate() -> None:
    odd = replace(NOTHING, facts={NEEDLESS_UNITS: r"backup@dev-disk\x2da", GOAL_UNIT: "nginx"})
    changed = applied("userspace_units_late", DEBIAN, odd)
    assert changed.rootfs is not None
    assert r"ActiveState 'backup@dev-disk\x2da.service')" in changed.rootfs.texts[GATE]


def test_the_gate_says_what_came_later(evidence: Callable[..., Evidence]) -> None:
    prove = ALL["userspace_units_late"].proof.prove
    assert prove(evidence(units_late="cron"), evidence()) is Effect.PROVEN
    assert prove(evidence(units_late=""), evidence()) is Effect.NONE, "all of them had come by then"
    assert prove(evidence(), evidence()) is Effect.NOT_SHOWN
    assert prove(evidence(units_late="cron"), evidence(units_late="cron")) is Effect.NOT_SHOWN
