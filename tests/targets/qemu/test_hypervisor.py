"""The hypervisor that a guest is shown: KVM's features as one number, and where there can be none."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import read_system
from bootlab.targets.qemu.hypervisor import hypervisor_line

TEXT = """
[machine]
type = "{machine}"
{more}
[clock]
kind = "{clock}"
[kernel]
package = "linux-image-cloud-amd64"
[booted]
mark = "ready"
"""


def write(folder: Path, more: str, machine: str = "microvm", clock: str = "virtual") -> Path:
    """Write a system file."""
    path = folder / "system.toml"
    path.write_text(TEXT.format(more=more, machine=machine, clock=clock))
    return path


def test_features_as_a_guest_of_kvm_reads_them(tmp_path: Path) -> None:
    assert hypervisor_line(read_system(write(tmp_path, 'hypervisor = "kvm"'))) == "kvm 100807b\n"
    plain = read_system(write(tmp_path, ""))
    assert hypervisor_line(plain) == "" and "hypervisor" not in plain.model_dump_json()


@pytest.mark.parametrize(
    ("more", "machine", "clock", "complaint"),
    [
        ('hypervisor = "kvm"', "virt", "virtual", 'machine.hypervisor = "kvm" is shown to an x86-64 guest'),
        ('hypervisor = "kvm"', "q35", "wall", 'machine.hypervisor: clock.kind = "wall" has the hypervisor'),
        ('hypervisor = "xen"', "q35", "virtual", "machine.hypervisor: "),
    ],
)
def test_where_it_cannot_be_shown(tmp_path: Path, more: str, machine: str, clock: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read_system(write(tmp_path, more, machine, clock))
