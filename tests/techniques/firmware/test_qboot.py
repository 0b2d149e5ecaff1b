"""qboot: what proves it, and which kernels find their interrupts after it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from bootlab.system import System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from tests.techniques.asking import ALL

Make = Callable[..., Evidence]


def apply(name: str, system: System, measured: Measured) -> System:
    assert ALL[name].change.applies(system, measured) is None
    return ALL[name].change.apply(system, measured)


def test_qboot_is_seen_in_what_the_firmware_says_of_itself(evidence: Make, silent_log: tuple[str, ...]) -> None:
    prove = ALL["firmware_qboot"].proof.prove
    seabios = evidence(*silent_log, "DMI: QEMU Standard PC (Q35 + ICH9, 2009), BIOS 1.16.3-debian 04/01/2014")
    assert prove(evidence(*silent_log, "DMI: QEMU Standard PC (Q35 + ICH9, 2009), BIOS 0.1 11/11/2019"), seabios) is (
        Effect.PROVEN
    )
    # qboot gives microvm no DMI tables.
    assert prove(evidence(*silent_log), seabios) is Effect.PROVEN
    assert prove(seabios, seabios) is Effect.NONE


def test_a_kernel_that_cannot_read_mp_tables_needs_acpi_after_qboot(system: System, measured: Measured) -> None:
    def why_not(name: str, changed: System, config: Mapping[str, str]) -> str:
        return ALL[name].change.applies(changed, replace(measured, kernel_config=config)) or ""

    without = system.with_cmdline("acpi=off")
    qboot = apply("firmware_qboot", system, measured)
    for config in ({}, {"SMP": "y"}):
        assert "X86_MPPARSE" in why_not("firmware_qboot", without, config)
        assert "X86_MPPARSE" in why_not("cmdline_acpi_off", qboot, config)
    reads = {"X86_MPPARSE": "y"}
    assert why_not("firmware_qboot", without, reads) == why_not("cmdline_acpi_off", qboot, reads) == ""


def test_a_microvm_without_acpi_tables_has_neither_to_spare(system: System, measured: Measured) -> None:
    alone = system.model_copy(update={"disks": (), "network": None})
    microvm = alone.with_part("machine", type="microvm", options={"acpi": "off"})
    assert "has no ACPI" in (ALL["cmdline_acpi_off"].change.applies(microvm, measured) or "")
    assert "starts from qboot already" in (ALL["firmware_qboot"].change.applies(microvm, measured) or "")
