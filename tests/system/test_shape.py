"""A machine's shape gives what the file leaves out, and refuses what would be another machine."""

import pytest
from pydantic import ValidationError

from bootlab.system import Machine, MachineType, System
from bootlab.system.shape import SHAPES


def test_a_shape_gives_the_keys_that_are_left_out() -> None:
    machine = Machine.model_validate({"shape": "firecracker"})
    assert machine.type is MachineType.MICROVM and machine.hypervisor == "kvm"
    assert machine.options == SHAPES["firecracker"].options and machine.options["rtc"] == "off"


def test_what_the_file_says_stays() -> None:
    given = {"shape": "firecracker", "cpu": "max", "memory_mib": 64, "options": {"acpi": "on"}}
    machine = Machine.model_validate(given)
    assert (machine.cpu, machine.memory_mib, machine.options["acpi"]) == ("max", 64, "on")
    assert machine.options["pic"] == "on"


@pytest.mark.parametrize(
    "given, said",
    [
        ({"shape": "firecracker", "type": "q35"}, 'shape = "firecracker" is of type = "microvm", and type is "q35"'),
        ({"shape": "firecracker", "options": {"pcie": "on"}}, 'options.pcie = "on" makes another machine of it'),
        ({"shape": "firecracker", "options": {"rtc": "on"}}, 'options.rtc = "on" makes another machine of it'),
        ({"shape": "crosvm", "type": "microvm"}, "'firecracker'"),
        ({"shape": "firecracker", "options": 3}, "options"),
    ],
)
def test_what_would_be_another_machine_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Machine.model_validate(given)
    assert said in str(caught.value)


def test_a_shape_is_for_the_virtual_clock() -> None:
    system = {"name": "one", "kernel": {"image": "vmlinux"}, "booted": {"mark": "ready"}}
    shaped = {**system, "machine": {"shape": "firecracker"}}
    assert System.model_validate(shaped).machine.shape == "firecracker"
    with pytest.raises(ValidationError, match="virtual clock"):
        System.model_validate({**shaped, "clock": {"kind": "wall"}})


def test_a_machine_without_a_shape_does_not_speak_of_one() -> None:
    assert "shape" not in Machine(type=MachineType.MICROVM).model_dump()
