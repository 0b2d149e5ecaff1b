"""Techniques of CPUs on the command line: where they can do something, and what the kernel shows of it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bootlab.system import MachineType, System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Effect, Evidence, Measured

Make = Callable[..., Evidence]
ALL = {technique.name: technique for technique in load_catalogue()}
FIRST, TIMER = "Linux version 6.1.0", "..TIMER: vector=0x30 apic1=0 pin1=2 apic2=-1 pin2=-1"


def why_not(name: str, system: System, measured: Measured) -> str | None:
    return ALL[name].change.applies(system, measured)


def test_the_timer_of_an_io_apic_that_is_left_alone_is_not_looked_for(evidence: Make) -> None:
    prove = ALL["cmdline_nosmp"].proof.prove
    before = evidence(FIRST, TIMER)
    assert prove(evidence(FIRST, "APIC: SMP mode deactivated"), before) is Effect.PROVEN
    # With ACPI and no MP table nothing is said of SMP.
    assert prove(evidence(FIRST), before) is Effect.PROVEN
    assert prove(before, before) is Effect.NONE
    # A machine without a legacy timer has no such line; its CPUs are counted.
    one, four = evidence(FIRST, cpus_online="1"), evidence(FIRST, cpus_online="4")
    assert prove(one, four) is Effect.PROVEN
    assert prove(one, one) is Effect.NOT_SHOWN


def test_an_io_apic_is_left_alone_only_where_nothing_needs_it(system: System, measured: Measured) -> None:
    assert why_not("cmdline_nosmp", system, measured) is None
    virt = system.with_part("machine", type=MachineType.VIRT)
    assert "only a PC has an I/O APIC" in (why_not("cmdline_nosmp", virt, measured) or "")
    microvm = system.with_part("machine", type=MachineType.MICROVM)
    assert "only an I/O APIC has" in (why_not("cmdline_nosmp", microvm, measured) or "")
    # Without ACPI QEMU wires them to the first sixteen.
    without = microvm.with_part("machine", options={"acpi": "off"})
    assert why_not("cmdline_nosmp", without, measured) is None


@pytest.mark.parametrize(
    ("after", "before", "effect"),
    [
        # 6.12: only grace periods that are not expedited come here.
        ((), ("synchronize_rcu_normal", "__wait_rcu_gp"), Effect.PROVEN),
        (("synchronize_rcu_normal", "__wait_rcu_gp"), ("synchronize_rcu_normal", "__wait_rcu_gp"), Effect.NONE),
        # 6.1: RCU of tasks comes here too, so that its running says nothing against the option.
        ((), ("__wait_rcu_gp",), Effect.PROVEN),
        (("__wait_rcu_gp",), ("__wait_rcu_gp",), Effect.NOT_SHOWN),
        ((), (), Effect.NOT_SHOWN),
    ],
)
def test_grace_periods_are_shown_by_what_waits_for_them(
    after: tuple[str, ...], before: tuple[str, ...], effect: Effect, evidence: Make
) -> None:
    told = {"rcu_expedited": "1", "parameter.rcupdate.rcu_expedited": "1"}
    assert ALL["cmdline_rcu_expedited"].proof.prove(evidence(ran=after, **told), evidence(ran=before)) is effect


@pytest.mark.parametrize(
    ("config", "words", "reason"),
    [
        ({"TREE_RCU": "y"}, "", None),
        ({}, "", None),
        ({"TINY_RCU": "y"}, "", "TINY_RCU"),
        ({"TREE_RCU": "y", "PREEMPT_RT": "y"}, "", "PREEMPT_RT"),
        ({"TREE_RCU": "y"}, " rcupdate.rcu_normal_after_boot=1", "takes it back"),
        ({"TREE_RCU": "y"}, " rcupdate.rcu_normal_after_boot=0", None),
    ],
)
def test_grace_periods_are_expedited_where_that_lasts(
    config: dict[str, str], words: str, reason: str | None, system: System, measured: Measured
) -> None:
    told = system.with_part("kernel", cmdline=system.kernel.cmdline + words)
    said = why_not("cmdline_rcu_expedited", told, replace(measured, kernel_config=config))
    assert said is None if reason is None else reason in (said or "")


def test_our_figures_about_cpus_are_not_set_beside_others_without_a_word() -> None:
    for name in ("cmdline_one_cpu", "cmdline_nosmp", "machine_one_vcpu"):
        assert "one stream of instructions" in ALL[name].text.mechanism
