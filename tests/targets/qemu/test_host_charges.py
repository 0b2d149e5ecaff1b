"""What the plugin is told of a charged host model: its lines, and what backs the guest's memory."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.price.host_model import read_host_model
from bootlab.system import read_system
from bootlab.targets.qemu.host_charges import charge_lines, model_hash

TEXT = """
[machine]
type = "{machine}"
memory_mib = 64
page_size = "{page_size}"
[clock]
{clock}
[kernel]
package = "linux-image-cloud-amd64"
[booted]
mark = "ready"
"""


def write(folder: Path, clock: str, machine: str = "microvm", page_size: str = "auto") -> Path:
    """Write a system file."""
    path = folder / "system.toml"
    path.write_text(TEXT.format(clock=clock, machine=machine, page_size=page_size))
    return path


def test_lines_of_a_named_model(tmp_path: Path) -> None:
    system = read_system(write(tmp_path, 'host_model = "lean"'))
    assert model_hash(system) == {"host_model": read_host_model("lean").identity}
    lines = charge_lines(system).splitlines()
    assert all(line.split()[0] in ("price", "touch") for line in lines)
    assert not any("fault_2M" in line for line in lines)
    plain = read_system(write(tmp_path, ""))
    assert (model_hash(plain), charge_lines(plain)) == ({}, "")


def test_the_machine_says_what_backs_its_memory(tmp_path: Path) -> None:
    system = read_system(write(tmp_path, 'host_model = "lean"', page_size="2M"))
    lines = charge_lines(system)
    assert "touch fault_2M 200000 4000000 21 60000\n" in lines


def test_a_file_lies_beside_the_system_and_is_read_when_it_boots(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"clock\.host_model: no such file"):
        read_system(write(tmp_path, 'host_model = "own.toml"'))
    (tmp_path / "own.toml").write_text("name = 1\n")
    system = read_system(write(tmp_path, 'host_model = "own.toml"'))
    assert system.clock.host_model == str(tmp_path / "own.toml")
    with pytest.raises(InputError, match=r"own\.toml:name: "):
        model_hash(system)


def test_an_arm64_machine_is_charged_by_a_model_of_arm64_hosts_alone(tmp_path: Path) -> None:
    system = read_system(write(tmp_path, 'host_model = "altra"', "virt", page_size="2M"))
    assert model_hash(system) == {"host_model": read_host_model("altra").identity}
    lines = charge_lines(system)
    assert "price mmio_vgic mmio_read 8000000 800ffff 0 0 451\n" in lines and "price wfi wfi 0 " in lines
    assert "touch fault_2M 40000000 44000000 21 83000\n" in lines
    for model, machine in (("lean", "virt"), ("altra", "microvm")):
        other = read_system(write(tmp_path, f'host_model = "{model}"', machine))
        for ask in (model_hash, charge_lines):
            with pytest.raises(InputError, match=f"host model {model}: is of "):
                ask(other)


@pytest.mark.parametrize(
    ("clock", "machine", "complaint"),
    [
        ('kind = "wall"\nhost_model = "lean"', "q35", "host_model is charged to the virtual clock"),
        (
            'host_model = "altra"',
            'virt"\narchitecture = "riscv64',
            "clock.host_model: the exits of x86-64 and arm64 guests of KVM",
        ),
        ('host_model = "le an"', "q35", "clock.host_model: is no host model"),
        ("host_model = 5", "q35", "clock.host_model: "),
    ],
)
def test_where_it_means_nothing(tmp_path: Path, clock: str, machine: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read_system(write(tmp_path, clock, machine))
