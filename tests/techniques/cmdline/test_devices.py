"""Techniques of devices on the command line: the bus that disks and network are on stays, and what shows the others."""

from collections.abc import Callable
from dataclasses import replace

from bootlab.system import MachineType, System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from tests.techniques.asking import ALL

Make = Callable[..., Evidence]


def apply(name: str, system: System, measured: Measured) -> System:
    assert ALL[name].change.applies(system, measured) is None
    return ALL[name].change.apply(system, measured)


def test_pci_devices_need_their_bus(system: System, measured: Measured) -> None:
    assert ALL["cmdline_pci_off"].change.applies(system, measured) == "the disks and network of q35 are PCI devices"
    assert ALL["cmdline_pci_off"].change.applies(apply("machine_microvm", system, measured), measured) is None


def test_a_controller_that_was_not_found_is_not_spared(system: System, measured: Measured) -> None:
    applies = ALL["cmdline_i8042"].change.applies
    assert applies(system, measured) is None
    without = replace(measured, facts={**measured.facts, "i8042": "no"})
    assert applies(system, without) == "the baseline boot found no PS/2 controller"


def test_what_a_device_tree_names_can_be_given_up_and_the_kernel_shows_it(
    system: System, measured: Measured, evidence: Make
) -> None:
    technique = ALL["cmdline_deferred_probe_timeout"]
    assert "device tree" in (technique.change.applies(system, measured) or "")
    arm = system.with_part("machine", type=MachineType.VIRT)
    assert technique.change.applies(arm, measured) is None
    without = replace(measured, kernel_config={"SMP": "y"})
    assert "without modules does not wait" in (technique.change.applies(arm, without) or "")
    prove, first = technique.proof.prove, "Linux version 6.12"
    given_up = "mmc 1c0f000.mmc: deferred probe timeout, ignoring dependency"
    assert prove(evidence(first, given_up), evidence(first)) is Effect.PROVEN
    # Nothing waited: then only a boot that lasted longer than the timeout shows whether there was one.
    ran_out = evidence(first, ran=("deferred_probe_timeout_work_func",))
    assert prove(evidence(first), ran_out) is Effect.PROVEN
    assert prove(ran_out, ran_out) is Effect.NONE
    assert prove(evidence(first), evidence(first)) is Effect.NOT_SHOWN


def test_a_probe_in_a_thread_of_its_own_shows_it_from_either_side(evidence: Make) -> None:
    prove = ALL["cmdline_driver_async_probe"].proof.prove
    for helper in ("__driver_attach_async_helper", "__device_attach_async_helper"):
        assert prove(evidence(ran=(helper,)), evidence()) is Effect.PROVEN
