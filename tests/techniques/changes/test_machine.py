"""Machines changed by techniques, and what decides whether they can be: type, bus, board."""

import pytest

from bootlab.system import MachineType, System
from bootlab.techniques.changes.machine import (
    X86,
    fixed_by_board,
    has_mmio_devices,
    has_pci_devices,
    only_on,
    with_machine,
    with_options,
)
from tests.techniques.asking import NOTHING


def test_keys_are_set_and_the_others_stay(system: System) -> None:
    changed = with_machine(vcpus=2)(system, NOTHING).machine
    assert (changed.vcpus, changed.memory_mib, changed.type) == (2, 256, MachineType.Q35)


def test_properties_are_added_to_those_that_are_there(built: System) -> None:
    changed = with_options({"rtc": "off", "acpi": "on"})(built, NOTHING)
    assert changed.machine.options == {"acpi": "on", "rtc": "off"}
    assert built.machine.options == {"acpi": "off"}


def test_a_type_that_is_not_among_those_is_named(system: System, board: System) -> None:
    assert only_on(*X86)(system, NOTHING) is None
    reason = only_on(MachineType.Q35, MachineType.PC)(board, NOTHING)
    assert reason == "machine.type is orangepi-pc, not q35 or pc"


def test_a_board_has_what_it_has_unless_it_is_extensible(system: System, board: System, riscv_board: System) -> None:
    assert fixed_by_board(system) is None
    assert fixed_by_board(board) == "orangepi-pc is a board, which has what it has"
    assert fixed_by_board(riscv_board) is None


@pytest.mark.parametrize(
    ("kind", "options", "pci", "mmio"),
    [
        ("q35", {}, True, False),
        ("q35", {"pcie": "on"}, True, False),
        ("microvm", {}, False, True),
        ("microvm", {"pcie": "off"}, False, True),
        ("microvm", {"pcie": "on"}, True, False),
    ],
)
def test_the_bus_of_virtio_devices(system: System, kind: str, options: dict[str, str], pci: bool, mmio: bool) -> None:
    placed = system.with_part("machine", type=kind, options=options)
    assert (has_pci_devices(placed), has_mmio_devices(placed)) == (pci, mmio)
    # A disk or a network card is enough; without either there is no device to ask for.
    disk_alone = placed.model_copy(update={"network": None})
    card_alone = placed.model_copy(update={"disks": ()})
    neither = disk_alone.model_copy(update={"disks": ()})
    assert [has_pci_devices(one) or has_mmio_devices(one) for one in (disk_alone, card_alone, neither)] == [
        True,
        True,
        False,
    ]
