"""[target] kind = "cloud-hypervisor": what is filled in, what of a system it cannot have, each by its key."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import ClockKind, CloudHypervisor, KernelEntry, MachineType, System, read_system

SYSTEM = """
[target]
kind = "cloud-hypervisor"
{target}
[kernel]
image = "vmlinux"
{kernel}
[booted]
mark = "ready"
{more}
"""


def read(folder: Path, target: str = "", kernel: str = "", more: str = "") -> System:
    (folder / "vmlinux").write_bytes(b"\x7fELF")
    path = folder / "system.toml"
    path.write_text(SYSTEM.format(target=target, kernel=kernel, more=more))
    return read_system(path)


def test_a_short_file_is_a_whole_machine(tmp_path: Path) -> None:
    system = read(tmp_path, 'tap = "tap0"', more="[network]")
    assert isinstance(system.target, CloudHypervisor) and system.target.binary == "cloud-hypervisor"
    assert (system.machine.type, system.machine.memory_mib) == (MachineType.Q35, 128)
    assert (system.clock.kind, system.kernel.entry) == (ClockKind.WALL, KernelEntry.PVH)


def test_it_takes_compressed_kernels_too(tmp_path: Path) -> None:
    assert read(tmp_path, kernel='entry = "image"').kernel.entry is KernelEntry.IMAGE


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ('[machine]\ntype = "microvm"', "machine.type"),
        ('[machine]\noptions = { hpet = "off" }', "machine.options"),
        ('[machine]\nfirmware = "qboot"', "machine.firmware"),
        ('[machine]\ncpu = "EPYC"', "machine.cpu"),
        ('[clock]\nkind = "virtual"', "clock.kind"),
        ('[clock]\naccelerator = "tcg"', "clock.accelerator"),
        ('[[disks]]\nsize_mib = 1\nattach = "nvme"', "disks.attach"),
        ("[network]", "network"),
        ('[check]\nconsole = "ok"\nsend = "x"\nexpect = "y"', "check.send"),
    ],
)
def test_what_it_has_not_got_is_refused_by_name(tmp_path: Path, more: str, key: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, more=more)
    assert f"{key}: " in caught.value.message and 'target.kind = "cloud-hypervisor"' in caught.value.message


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ('socket = "/tmp/api"\napi = false', "socket is that of the API"),
        ('mac = "06:00:ac:10:00:02"', "mac is of the network card"),
        ("boot_timer = true", "boot_timer: unknown key"),
        ('huge_pages = "1G"', "huge_pages"),
        ('prefault = true\nmemory_restore_mode = "ondemand"', "memory_restore_mode: brings pages"),
    ],
)
def test_settings_that_cannot_be_are_named(tmp_path: Path, target: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, target)
