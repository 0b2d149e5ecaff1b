"""What every technique promises, whatever it changes."""

from collections.abc import Callable

import pytest

from bootlab.extensions.broken import noted
from bootlab.system import MachineType, System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from bootlab.techniques.model.technique import Technique
from tests.techniques.asking import ALL

Make = Callable[..., Evidence]
every = pytest.mark.parametrize("technique", ALL.values(), ids=ALL.keys())


def test_no_file_of_an_extension_is_broken() -> None:
    assert not [f"{one.where}: {one.why}" for one in noted()]


@every
def test_changes_the_system_exactly_where_it_says_it_applies(
    technique: Technique, system: System, measured: Measured
) -> None:
    if (reason := technique.change.applies(system, measured)) is not None:
        assert reason
        assert not reason.endswith(".")
        return
    changed = technique.change.apply(system, measured)
    assert changed != system
    assert changed == technique.change.apply(system, measured)
    assert changed.name == system.name
    # Stacked twice it would be a boot for nothing.
    if technique.name not in ("cmdline_slowest_initcall", "machine_memory_half"):
        assert technique.change.applies(changed, measured) is not None


@every
def test_a_boot_that_says_nothing_proves_nothing(technique: Technique, evidence: Make) -> None:
    assert technique.proof.prove(evidence(), evidence()) is Effect.NOT_SHOWN


@every
def test_a_boot_is_no_proof_against_itself(technique: Technique, evidence: Make, silent_log: tuple[str, ...]) -> None:
    one = evidence(
        *silent_log, slide=0x2000000, ran=technique.proof.watch, printk="7 4 1 7", lsm="lockdown,apparmor", acpi="yes"
    )
    assert technique.proof.prove(one, one) is not Effect.PROVEN


@every
def test_the_command_line_is_no_proof(
    technique: Technique, system: System, measured: Measured, evidence: Make, silent_log: tuple[str, ...]
) -> None:
    if technique.change.applies(system, measured) is not None:
        return
    words = technique.change.apply(system, measured).kernel.cmdline
    before = evidence(*silent_log, f"Kernel command line: {system.kernel.cmdline}", cmdline=system.kernel.cmdline)
    after = evidence(*silent_log, f"Kernel command line: {words}", cmdline=words)
    assert technique.proof.prove(after, before) is not Effect.PROVEN


@every
def test_says_why_not_on_another_architecture(technique: Technique, system: System, measured: Measured) -> None:
    arm = system.with_part("machine", type=MachineType.VIRT)
    if technique.change.applies(arm, measured) is None:
        assert technique.change.apply(arm, measured).machine.arch == "aarch64"
