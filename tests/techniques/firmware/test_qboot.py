"""qboot: what proves it, and that it has no MP table."""

from collections.abc import Callable

from bootlab.system import System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Effect, Evidence, Measured

Make = Callable[..., Evidence]
ALL = {technique.name: technique for technique in load_catalogue()}


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


def test_firmware_without_an_mp_table_needs_acpi(system: System, measured: Measured) -> None:
    assert "MP table" in (ALL["firmware_qboot"].change.applies(system.with_cmdline("acpi=off"), measured) or "")
    qboot = apply("firmware_qboot", system, measured)
    assert "MP table" in (ALL["cmdline_acpi_off"].change.applies(qboot, measured) or "")
    alone = system.model_copy(update={"disks": (), "network": None})
    microvm = alone.with_part("machine", type="microvm", options={"acpi": "off"})
    assert "MP table" in (ALL["cmdline_acpi_off"].change.applies(microvm, measured) or "")
