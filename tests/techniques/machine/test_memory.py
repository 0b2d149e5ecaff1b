"""Huge pages of the host: asked for only where a price shows them, and proved by the faults that are gone."""

from bootlab.system import System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from tests.techniques.asking import ALL

NAME = "machine_huge_pages"


def test_it_needs_a_model_that_has_small_pages(system: System, measured: Measured) -> None:
    change = ALL[NAME].change
    assert "--price MODEL" in (change.applies(system, measured) or "")
    charged = system.with_part("clock", host_model="lean")
    assert change.applies(charged, measured) is None
    changed = change.apply(charged, measured)
    assert changed.machine.page_size == "2M"
    assert "already" in (change.applies(changed, measured) or "")


def test_it_is_proved_by_pages_that_no_longer_fault() -> None:
    def evidence(**exits: int) -> Evidence:
        return Evidence({}, {}, {}, "", None, exits=exits)

    prove = ALL[NAME].proof.prove
    before = evidence(fault_4K=2_500, cpuid=400)
    assert prove(evidence(fault_4K=300, fault_2M=9), before) is Effect.PROVEN
    assert prove(evidence(fault_2M=9), before) is Effect.PROVEN
    assert prove(evidence(fault_4K=2_400), before) is Effect.NONE
    assert prove(evidence(), before) is Effect.NOT_SHOWN and prove(before, evidence()) is Effect.NOT_SHOWN
