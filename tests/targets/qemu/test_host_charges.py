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


@pytest.mark.parametrize(
    ("clock", "machine", "complaint"),
    [
        ('kind = "wall"\nhost_model = "lean"', "q35", "host_model is charged to the virtual clock"),
        ('host_model = "lean"', "virt", "clock.host_model: the exits of an x86-64 guest of KVM are known"),
        ('host_model = "le an"', "q35", "clock.host_model: is no host model"),
        ("host_model = 5", "q35", "clock.host_model: "),
    ],
)
def test_where_it_means_nothing(tmp_path: Path, clock: str, machine: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read_system(write(tmp_path, clock, machine))
