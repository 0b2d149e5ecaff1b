"""[target] kind = "firecracker": what is filled in, what of a system it cannot have, each by its key."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import ClockKind, Firecracker, KernelEntry, MachineType, System, read_system

SYSTEM = """
[target]
kind = "firecracker"
{target}
[kernel]
image = "vmlinux"
{kernel}
[booted]
mark = "ready"
{more}
"""


JAIL = 'jailer = "jailer"\nuid = 1\ngid = 1'


def read(folder: Path, target: str = "", kernel: str = "", more: str = "") -> System:
    (folder / "vmlinux").write_bytes(b"\x7fELF")
    (folder / "metadata.json").write_text("{}")
    path = folder / "system.toml"
    path.write_text(SYSTEM.format(target=target, kernel=kernel, more=more))
    return read_system(path)


def test_a_short_file_is_a_whole_machine(tmp_path: Path) -> None:
    system = read(tmp_path, 'mmds = "metadata.json"\ntap = "tap0"', more="[network]")
    assert isinstance(system.target, Firecracker)
    assert (system.machine.type, system.machine.memory_mib) == (MachineType.MICROVM, 128)
    assert (system.clock.kind, system.kernel.entry) == (ClockKind.WALL, KernelEntry.PVH)
    # Relative to the file, as every path of it.
    assert system.target.mmds == tmp_path / "metadata.json"


def test_program_and_socket_are_relative_to_the_file_and_need_not_be_there(tmp_path: Path) -> None:
    target = read(tmp_path, 'binary = "./release/firecracker"\nsocket = "api.sock"').target
    assert isinstance(target, Firecracker)
    assert (target.binary, target.socket) == (f"{tmp_path}/release/firecracker", f"{tmp_path}/api.sock")
    named = read(tmp_path, 'binary = "firecracker-1.15"').target
    assert isinstance(named, Firecracker) and named.binary == "firecracker-1.15", "PATH finds it"


def test_a_jail_is_in_the_system_only_where_one_is_asked_for(tmp_path: Path) -> None:
    plain = read(tmp_path).target
    assert isinstance(plain, Firecracker) and not plain.model_dump().keys() & {"jailer", "uid", "cgroups", "netns"}
    words = '\ncgroup_version = 1\nparent_cgroup = "a/b"\ncgroups = ["cpu.shares=9"]\nchroot_base = "jails"'
    jailed = read(tmp_path, JAIL + words).target
    assert isinstance(jailed, Firecracker)
    assert (jailed.jailer, jailed.chroot_base, jailed.cgroup_version) == ("jailer", tmp_path / "jails", 1)
    moved = read(tmp_path, JAIL.replace('"jailer"', '"./jailer"')).target
    assert isinstance(moved, Firecracker) and moved.jailer == f"{tmp_path}/jailer"


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ('[machine]\ntype = "q35"', "machine.type"),
        ('[machine]\noptions = { acpi = "off" }', "machine.options"),
        ('[machine]\ndevices = ["usb-kbd"]', "machine.devices"),
        ('[machine]\nfirmware = "qboot"', "machine.firmware"),
        ('[machine]\ncpu = "EPYC"', "machine.cpu"),
        ('[machine]\npage_size = "2M"', "machine.page_size"),
        ("[machine]\nvcpus = 33", "machine.vcpus"),
        ('[clock]\nkind = "virtual"', "clock.kind"),
        ('[clock]\naccelerator = "tcg"', "clock.accelerator"),
        ('[marks]\nsched = "sched_init"', "marks"),
        ('[[disks]]\nsize_mib = 1\nattach = "usb"', "disks.attach"),
        ("[network]", "network"),
        ('[check]\nconsole = "ok"\nsend = "x"\nexpect = "y"', "check.send"),
    ],
)
def test_what_it_has_not_got_is_refused_by_name(tmp_path: Path, more: str, key: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, more=more)
    assert f"{key}: " in caught.value.message and 'target.kind = "firecracker"' in caught.value.message


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ('socket = "/tmp/api"\napi = false', "socket is that of the API"),
        (f'socket = "/{"x" * 120}"', "at most 107 bytes"),
        ('mac = "06:00:ac:10:00:02"', "mac is of the network card"),
        ('mac = "06"\ntap = "tap0"', "is no MAC address"),
        ('tap = "../../etc"', "is no name of a network device"),
        ('tap = "tap0"', "without \\[network\\]"),
        ('huge_pages = "1G"', "huge_pages"),
        ('mmds = "nowhere.json"\ntap = "tap0"', "no such file"),
        ("jailer = true", "jailer"),
        ("uid = 1", "uid is of the jail: give jailer, too"),
        ('jailer = "jailer"\nuid = 1', "give uid and gid"),
        (f'{JAIL}\nsocket = "/tmp/api"', "target.socket: with target.jailer it is in the jail"),
        (f'{JAIL}\njail_id = "a_b"', "jail_id"),
        (f'{JAIL}\ncgroups = ["cpu.weight=1"]', "give cgroup_version"),
        (f"{JAIL}\ncgroup_version = 3", "cgroup_version"),
        (f'{JAIL}\ncgroup_version = 2\ncgroups = ["../x=1"]', "is no setting"),
        (f'{JAIL}\ncgroup_version = 2\nparent_cgroup = "../x"', "is no path below the hierarchy"),
        (f'{JAIL}\ncgroup_version = 2\nparent_cgroup = "a\\n/../x"', "is no path below the hierarchy"),
        (f'{JAIL}\ncgroup_version = 1\nparent_cgroup = "x"', "of version 1 the jailer uses none without cgroups"),
        (f'{JAIL}\nresource_limits = ["cpu=1"]', "is no limit"),
        ('binary = ""', "binary"),
    ],
)
def test_settings_that_cannot_be_are_named(tmp_path: Path, target: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, target)


def test_a_compressed_kernel_is_not_what_it_takes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="kernel.entry: it takes an uncompressed kernel"):
        read(tmp_path, kernel='entry = "image"')
