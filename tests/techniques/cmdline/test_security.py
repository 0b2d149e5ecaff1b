"""Protections that a word turns off: what the running kernel says of them."""

from collections.abc import Callable

from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Effect, Evidence

Make = Callable[..., Evidence]
ALL = {technique.name: technique for technique in load_catalogue()}


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
    late, early = evidence("a", "b", "random: crng init done"), evidence("random: crng init done", "a", "b")
    prove = ALL["cmdline_random_trust"].proof.prove
    assert prove(early, late) is Effect.PROVEN
    assert prove(late, late) is Effect.NOT_SHOWN
    assert prove(early, evidence("a", "b")) is Effect.PROVEN
