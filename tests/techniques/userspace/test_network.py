"""What waits for a network: when the techniques apply, what they write, and what boots must show."""

from collections.abc import Callable
from dataclasses import replace

from bootlab.techniques.model.evidence import Effect, Evidence
from bootlab.techniques.userspace.network import NO_DAD
from tests.techniques.asking import ALL, NOTHING, applied, why_not
from tests.techniques.userspace.test_cloud_init import image_system

UNAWAITED, DAD = "userspace_online_unawaited", "userspace_ipv6_dad_none"
STARTING = "         Starting \x1b[0;1;39msystemd-networkd-wait-onl\x1b[0m…ait for Network to be Configured...\n"
FINISHED = "[  OK  ] Finished ifupdown-wait-online.service - Wait for network to be configured by ifupdown.\n"
ONLINE = "[\x1b[0;32m  OK  \x1b[0m] Reached target \x1b[0;1;39mnetwork-online.target\x1b[0m - Network is Online.\n"
SYSCTL = "[  OK  ] Finished \x1b[0;1;39msystemd-sysctl.service\x1b[0m - Apply Kernel Variables.\n"


def boot(console: str) -> Evidence:
    return Evidence({}, {}, {}, console, None)


def test_only_the_units_that_waited_are_masked() -> None:
    assert "tells of none of systemd-networkd-wait-online" in why_not(UNAWAITED, image_system())
    changed = applied(UNAWAITED, image_system(), replace(NOTHING, console=STARTING + ONLINE))
    assert changed.image is not None
    assert changed.image.files == {"/etc/systemd/system/systemd-networkd-wait-online.service": ""}
    both = applied(UNAWAITED, image_system(), replace(NOTHING, console=STARTING + FINISHED))
    assert both.image is not None and len(both.image.files) == 2


def test_a_unit_is_known_by_what_systemd_leaves_of_its_name() -> None:
    """Debian 12 says less of it than Debian 13; the manager's own unit is another."""
    short = "         Starting \x1b[0;1;39msystemd-networkd-\u2026it for Network to be Configured...\r\n"
    changed = applied(UNAWAITED, image_system(), replace(NOTHING, console=short))
    assert changed.image is not None
    assert changed.image.files == {"/etc/systemd/system/systemd-networkd-wait-online.service": ""}
    own = "         Starting \x1b[0;1;39msystemd-networkd.\u2026ice\x1b[0m - Network Configuration...\r\n"
    assert "tells of none of" in why_not(UNAWAITED, image_system(), replace(NOTHING, console=own))


def test_nobody_waits_and_the_target_is_reached() -> None:
    prove = ALL[UNAWAITED].proof.prove
    before = boot(STARTING + ONLINE)
    assert prove(boot(ONLINE), before) is Effect.PROVEN
    assert prove(before, before) is Effect.NONE
    assert prove(boot(SYSCTL), before) is Effect.NOT_SHOWN, "it ended before the target was due"
    assert prove(boot(ONLINE), boot(ONLINE)) is Effect.NOT_SHOWN


def test_addresses_are_used_at_once(evidence: Callable[..., Evidence]) -> None:
    assert "tells of no systemd-sysctl" in why_not(DAD, image_system())
    without = replace(NOTHING, console=SYSCTL, kernel_config={"NET": "y"})
    assert "IPV6 is off" in why_not(DAD, image_system(), without)
    changed = applied(DAD, image_system(), replace(NOTHING, console=SYSCTL))
    assert changed.image is not None and changed.image.files == NO_DAD
    proof = ALL[DAD].proof
    assert proof.watch == ("ndisc_send_ns",)
    asked, silent = replace(boot(""), marks={"watch:ndisc_send_ns": 9}), boot("")
    assert proof.prove(silent, asked) is Effect.PROVEN
    assert proof.prove(asked, asked) is Effect.NOT_SHOWN, "a neighbour may have been asked for"
