"""Machines: which type has which architecture, and what is recorded of it."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from bootlab.errors import InputError
from bootlab.system import Machine, System, read_system
from tests.system.files import GOOD, write


def test_the_type_decides_the_architecture_unless_there_is_a_choice(tmp_path: Path) -> None:
    system = read_system(write(tmp_path, GOOD))
    arm = system.with_part("machine", type="virt")
    riscv = arm.with_part("machine", architecture="riscv64")
    assert [one.machine.arch for one in (system, arm, riscv)] == ["x86_64", "aarch64", "riscv64"]
    # What was recorded before there was a choice is still the same boot.
    assert "architecture" not in arm.model_dump(mode="json")["machine"]
    assert riscv.model_dump(mode="json")["machine"]["architecture"] == "riscv64"
    assert System.model_validate(riscv.model_dump()) == riscv


def test_only_a_board_has_a_board_for_a_machine(tmp_path: Path) -> None:
    path = tmp_path / "no-target.toml"
    path.write_text('[machine]\ntype = "armv7-board"\n[kernel]\npackage = "linux"\n[booted]\nmark = "ready"\n')
    with pytest.raises(InputError, match="emulated, or has a"):
        read_system(path)


@pytest.mark.parametrize("given", [{"options": {"acpi": "off"}}, {"shape": "firecracker", "cpu": "max"}])
def test_a_microvm_without_acpi_has_one_cpu(given: dict[str, object]) -> None:
    """Its guest would start one of two, and a sweep over CPUs would find that they cost nothing."""
    with pytest.raises(ValidationError, match="vcpus is 2: a microvm without ACPI .* one CPU only"):
        Machine.model_validate({"type": "microvm", "vcpus": 2, **given})
