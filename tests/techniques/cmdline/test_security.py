"""Protections that a word turns off: what the running kernel says of them."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bootlab.system import KernelEntry, System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from tests.techniques.asking import ALL

Make = Callable[..., Evidence]


def test_kaslr_is_proven_off_by_the_slide(evidence: Make) -> None:
    prove = ALL["cmdline_nokaslr"].proof.prove
    assert prove(evidence(slide=0), evidence(slide=0x1A000000)) is Effect.PROVEN
    assert prove(evidence(slide=0x2000000), evidence(slide=0x1A000000)) is Effect.NONE
    assert prove(evidence(slide=None), evidence(slide=0x1A000000)) is Effect.NOT_SHOWN
    assert prove(evidence(slide=0), evidence(slide=0)) is Effect.NOT_SHOWN


def test_security_modules_and_mitigations_are_read_from_the_running_kernel(evidence: Make) -> None:
    full = evidence(lsm="lockdown,capability,apparmor")
    assert ALL["cmdline_lsm_none"].proof.prove(evidence(lsm="capability"), full) is Effect.PROVEN
    assert ALL["cmdline_lsm_none"].proof.prove(full, full) is Effect.NONE
    assert ALL["cmdline_apparmor_off"].proof.prove(evidence(lsm="lockdown,capability"), full) is Effect.PROVEN
    assert ALL["cmdline_apparmor_off"].proof.prove(full, full) is Effect.NONE
    safe = evidence(**{"vulnerabilities.spectre_v2": "Mitigation: Retpolines", "vulnerabilities.mds": "Not affected"})
    open_ = evidence(**{"vulnerabilities.spectre_v2": "Vulnerable", "vulnerabilities.mds": "Not affected"})
    assert ALL["cmdline_mitigations_off"].proof.prove(open_, safe) is Effect.PROVEN
    assert ALL["cmdline_mitigations_off"].proof.prove(safe, safe) is Effect.NONE


def test_the_random_generator_must_be_ready_earlier_in_the_log(evidence: Make) -> None:
    first, ready = "Linux version 6.1", "random: crng init done"
    late, early = evidence(first, "a 1", "b", ready), evidence(first, ready, "a 2", "b")
    prove = ALL["cmdline_random_trust"].proof.prove
    assert prove(early, late) is Effect.PROVEN
    assert prove(late, late) is Effect.NOT_SHOWN
    assert prove(early, evidence(first, "a", "b")) is Effect.PROVEN
    # A log that was cut off may have held it, and a line less before it is no earlier.
    assert prove(early, evidence("a", "b")) is Effect.NOT_SHOWN
    assert prove(evidence(first, "b", ready), evidence(first, "a", "b", ready)) is Effect.NOT_SHOWN


@pytest.mark.parametrize(
    ("version", "config", "words", "applies"),
    [
        ("6.1.0", {"RANDOM_TRUST_CPU": "y"}, "", True),
        ("6.1.0", {"RANDOM_TRUST_CPU": "y", "RANDOM_TRUST_BOOTLOADER": "y"}, "", False),
        ("6.1.0", {}, "", True),
        ("6.12.107", {}, "", False),
        ("6.12.107", {}, " random.trust_cpu=off", True),
    ],
)
def test_trust_is_asked_of_a_kernel_that_has_none(
    version: str, config: dict[str, str], words: str, applies: bool, system: System
) -> None:
    measured = Measured({"dmesg.1": f"[    0.000000] Linux version {version}"}, {}, {}, "", config)
    told = system.with_part("kernel", cmdline=system.kernel.cmdline + words)
    assert (ALL["cmdline_random_trust"].change.applies(told, measured) is None) is applies


def test_another_module_in_the_place_of_apparmor_is_no_saving(system: System, evidence: Make) -> None:
    technique = ALL["cmdline_apparmor_off"]
    before, after, other = (evidence(lsm=names) for names in ("yama,apparmor", "yama", "yama,selinux"))
    assert technique.proof.prove(after, before) is Effect.PROVEN
    assert technique.proof.prove(other, before) is Effect.NOT_SHOWN
    assert technique.proof.prove(before, before) is Effect.NONE
    assert technique.proof.prove(after, evidence()) is Effect.NOT_SHOWN
    without = Measured({"lsm": "yama,selinux"}, {}, {}, "")
    assert technique.change.applies(system, without) == "the baseline boot ran without AppArmor"


def test_audit_is_off_when_it_no_longer_starts(evidence: Make) -> None:
    prove, first = ALL["cmdline_audit_off"].proof.prove, "Linux version 6.1"
    starts, parsed = "audit: initializing netlink subsys (disabled)", "audit: disabled (until reboot)"
    assert prove(evidence(first, parsed), evidence(first, starts)) is Effect.PROVEN
    assert prove(evidence(first, parsed, starts), evidence(first, starts)) is Effect.NONE
    assert prove(evidence(first, parsed), evidence(first)) is Effect.NOT_SHOWN


def test_says_what_is_off_already(system: System, measured: Measured) -> None:
    cleared = replace(measured, facts={"dmesg.1": "[    0.0] mem auto-init: stack:off, heap alloc:off, heap free:off"})
    assert "does not clear" in (ALL["cmdline_init_on_alloc_off"].change.applies(system, cleared) or "")
    pvh = system.with_part("kernel", entry=KernelEntry.PVH)
    assert "decompressor that does not run" in (ALL["cmdline_nokaslr"].change.applies(pvh, measured) or "")
    bare = replace(measured, kernel_config={"SMP": "y"})
    assert ALL["cmdline_nokaslr"].change.applies(system, bare) == "RANDOMIZE_BASE is off in this kernel"
    assert ALL["cmdline_audit_off"].change.applies(system, bare) == "AUDIT is off in this kernel"
    assert ALL["cmdline_ipv6_disable"].change.applies(system, bare) == "IPV6 is off in this kernel"
    untested = replace(measured, kernel_config={"CRYPTO_MANAGER_DISABLE_TESTS": "y"})
    assert "without the tests" in (ALL["cmdline_cryptomgr_notests"].change.applies(system, untested) or "")
