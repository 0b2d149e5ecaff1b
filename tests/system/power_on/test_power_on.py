"""What a system file may say of a power-on: kinds, faults that belong to them, and a region in the middle of memory."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.measure.power_on import system_before
from bootlab.system import NULL_WORD, System, read_system, without_null

SYSTEM = """
name = "kept"
[machine]
type = "q35"
memory_mib = 256
[kernel]
package = "linux-image-cloud-amd64"
cmdline = "root=/dev/vda"
[initramfs]
mount_root = true
[rootfs]
files = { "etc/motd" = "MOTD" }
filesystem = "erofs"
device = "kept-ram"
kept_ram = { size_mib = 8 }
[booted]
mark = "ready"
"""
SLEEPER = """
[initramfs]
mount_root = true
sleep_agent = true
[rootfs]
files = { "etc/motd" = "MOTD" }
[[disks]]
size_mib = 16
[[disks]]
size_mib = 64
filesystem = "swap"
[power_on]
kind = "hibernated"
"""


def read(folder: Path, text: str) -> System:
    (folder / "motd").write_text("hello")
    (folder / "system.toml").write_text(text.replace("MOTD", "motd"))
    return read_system(folder / "system.toml")


def sleeper() -> str:
    head, _, rest = SYSTEM.partition("[initramfs]")
    return (
        head.replace("root=/dev/vda", "root=/dev/vda resume=/dev/vdc")
        + SLEEPER
        + "[booted]"
        + rest.partition("[booted]")[2]
    )


def test_a_region_is_told_to_the_kernel(tmp_path: Path) -> None:
    system = read(tmp_path, SYSTEM)
    assert system.rootfs is not None and system.rootfs.kept_ram is not None
    assert system.rootfs.kept_ram.word(system.memory_at) == "memmap=8M!128M" and system.power_on is None
    assert read(tmp_path, sleeper()).swap_device == "/dev/vdc"


def test_an_arm64_kernel_is_told_how_much_memory_it_has_and_its_device_tree_of_the_region(tmp_path: Path) -> None:
    text = SYSTEM.replace('"q35"', '"virt"').replace("size_mib = 8", "size_mib = 8, at_mib = 1272")
    system = read(tmp_path, text)
    assert system.kept_ram is not None and system.kept_ram.word(system.memory_at) == "mem=248M"
    assert system.kept_span == range(248 << 20, 256 << 20)
    with pytest.raises(InputError, match="kernel.cmdline: mem=99M, and rootfs.kept_ram decides"):
        read(tmp_path, text.replace("root=/dev/vda", "root=/dev/vda mem=99M"))
    with pytest.raises(InputError, match="size_mib: 104 of 256 MiB leave no room for the initramfs"):
        read(tmp_path, text.replace("size_mib = 8, at_mib = 1272", "size_mib = 104, at_mib = 1176"))
    with pytest.raises(InputError, match="size_mib: 2048 of 256 MiB leave no room for the initramfs"):
        read(tmp_path, text.replace("size_mib = 8, at_mib = 1272", "size_mib = 2048, at_mib = 1176"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("size_mib = 8 }", "size_mib = 9 }", "whole sections of 2 MiB"),
        ("size_mib = 8 }", "size_mib = 8, at_mib = 64 }", "96"),
        ("size_mib = 8 }", "size_mib = 128 }", "must end 32 MiB before the end"),
        ('device = "kept-ram"\n', "", "go together"),
        ("kept_ram = { size_mib = 8 }\n", "", "go together"),
        ("mount_root = true", 'path = "motd"', "an initramfs that a recipe makes"),
        ("root=/dev/vda", "root=/dev/vda rw", "is read-only"),
        ('type = "q35"', 'type = "virt"\narchitecture = "riscv64"', 'arm64 on "virt"'),
        ('type = "q35"', 'type = "virt"', "at_mib = 1272"),
        ("size_mib = 8 }", "size_mib = 8, dax = true }", "dm-verity reads each block through the page cache"),
        ("[booted]", '[power_on]\nkind = "cold"\nfault = "ram-lost"\n[booted]', 'kind is "cold"'),
        ("[booted]", '[power_on]\nkind = "self-refresh"\nfault = "file-bit"\n[booted]', "one needs the other"),
        ("[booted]", '[power_on]\nkind = "warm-reset"\nfault = "image-cut"\n[booted]', "of kind hibernated"),
        ("[booted]", '[power_on]\nkind = "later"\n[booted]', "power_on.kind"),
        ("[booted]", '[power_on]\nkind = "hibernated"\n[booted]', 'filesystem = "swap"'),
        ("[booted]", '[power_on]\nkind = "warm-reset"\n[clock]\nkind = "wall"\n[booted]', 'clock.kind = "virtual"'),
    ],
)
def test_what_cannot_be_is_refused_with_its_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in SYSTEM
    with pytest.raises(InputError, match="power_on|kept_ram|kept-ram|cmdline|initramfs") as caught:
        read(tmp_path, SYSTEM.replace(old, new, 1))
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("sleep_agent = true\n", "", "initramfs.sleep_agent = true"),
        (" resume=/dev/vdc", "", "kernel.cmdline: power_on.kind"),
        ('size_mib = 64\nfilesystem = "swap"', 'path = "motd"\nfilesystem = "swap"', "is of a fresh disk"),
        ('filesystem = "swap"', 'filesystem = "swap"\nattach = "nvme"', "on virtio"),
    ],
)
def test_a_machine_that_cannot_hibernate_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in sleeper()
    with pytest.raises(InputError) as caught:
        read(tmp_path, sleeper().replace(old, new, 1))
    assert said in caught.value.message


def test_a_root_that_nobody_can_mount_and_change_is_refused_before_a_boot_leaves_an_image(tmp_path: Path) -> None:
    text = sleeper().replace('kind = "hibernated"', 'kind = "hibernated"\nfault = "root-changed"')
    read(tmp_path, text)
    with pytest.raises(InputError, match='rootfs.filesystem = "ext4"'):
        read(tmp_path, text.replace("[[disks]]", 'filesystem = "erofs"\n[[disks]]', 1))


def test_a_machine_that_finds_nothing_may_be_on_any_clock(tmp_path: Path) -> None:
    text = SYSTEM.replace('device = "kept-ram"\nkept_ram = { size_mib = 8 }\n', "")
    cold = '[power_on]\nkind = "cold"\n[clock]\nkind = "wall"\n[booted]'
    assert read(tmp_path, text.replace("[booted]", cold)).power_on is not None


def test_a_root_that_finds_nothing_cannot_be_found(tmp_path: Path) -> None:
    text = SYSTEM.replace('device = "kept-ram"\nkept_ram = { size_mib = 8 }\n', "")
    with pytest.raises(InputError, match='rootfs.device = "kept-ram"'):
        read(tmp_path, text.replace("[booted]", '[power_on]\nkind = "self-refresh"\n[booted]'))


def test_a_bit_turns_in_a_file_that_is_in_the_region(tmp_path: Path) -> None:
    text = SYSTEM.replace("size_mib = 8 }", 'size_mib = 8, without = ["usr/share"] }')
    fault = '[power_on]\nkind = "self-refresh"\nfault = "file-bit"\nfault_file = "{}"\n[booted]'
    read(tmp_path, text.replace("[booted]", fault.format("/usr/bin/app")))
    with pytest.raises(InputError, match="fault_file: /usr/share/a is in no RAM: rootfs.kept_ram.without"):
        read(tmp_path, text.replace("[booted]", fault.format("/usr/share/a")))


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ('filesystem = "erofs"', None),
        ('filesystem = "ext4"', None),
        ('filesystem = "squashfs"', "files of squashfs do not lie there as they are"),
        ('filesystem = "erofs"\ncompression = "lz4"', "files of erofs with lz4 do not lie there as they are"),
    ],
)
def test_files_are_mapped_where_they_lie_as_they_are(tmp_path: Path, form: str, said: str | None) -> None:
    text = SYSTEM.replace('filesystem = "erofs"', form).replace("= 8 }", '= 8, verify = "header", dax = true }')
    if said is None:
        system = read(tmp_path, text)
        assert system.kept_ram is not None and system.kept_ram.dax
        return
    with pytest.raises(InputError, match=f"rootfs.kept_ram.dax: {said}"):
        read(tmp_path, text)


DISK = '[[disks]]\nsize_mib = 9\nfilesystem = "changes"\n[booted]'
CHANGED = SYSTEM.replace("size_mib = 8 }", "size_mib = 8, changes_mib = 4 }").replace("[booted]", DISK)


def test_what_is_written_over_a_root_goes_to_a_disk_of_its_own(tmp_path: Path) -> None:
    assert read(tmp_path, CHANGED).changes_device == "/dev/vdb"
    assert read(tmp_path, SYSTEM).changes_device is None
    read(tmp_path, CHANGED.replace("[booted]", '[power_on]\nkind = "self-refresh"\nfault = "save-cut"\n[booted]'))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (DISK, "[booted]", 'size_mib = 9, filesystem = "changes"; here are 0'),
        ("size_mib = 9", "size_mib = 8", "its size_mib is more than 8"),
        ("changes_mib = 4", "changes_mib = 248", "248 MiB of memory, and beside the region the machine has 248"),
        (", changes_mib = 4", "", 'filesystem = "changes" is of rootfs.kept_ram.changes_mib'),
        ("size_mib = 9\n", 'path = "motd"\n', "is of a fresh disk"),
        ('filesystem = "changes"', 'filesystem = "changes"\nattach = "nvme"', "on virtio"),
    ],
)
def test_changes_that_have_nowhere_to_go_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in CHANGED
    with pytest.raises(InputError) as caught:
        read(tmp_path, CHANGED.replace(old, new, 1))
    assert said in caught.value.message


def test_a_fault_of_changes_is_of_a_root_that_has_some(tmp_path: Path) -> None:
    text = SYSTEM.replace("[booted]", '[power_on]\nkind = "self-refresh"\nfault = "changes-bit"\n[booted]')
    with pytest.raises(InputError, match='fault = "changes-bit" is of rootfs.kept_ram.changes_mib'):
        read(tmp_path, text)


def test_a_null_change_is_of_the_boot_that_is_measured_and_not_of_the_one_before(tmp_path: Path) -> None:
    found = read(tmp_path, SYSTEM + '[power_on]\nkind = "self-refresh"\n')
    nulls = [found.with_cmdline(f"{NULL_WORD}={number}") for number in (1, 2)]
    assert system_before(nulls[0]) == system_before(nulls[1]) == system_before(found)
    assert without_null(f"a {NULL_WORD}=1 b -- c") == "a b -- c" and without_null("a=1") == "a=1"
    # What is in a hibernation image is measured as it is taken up: there each has its own.
    asleep = read(tmp_path, sleeper())
    assert system_before(asleep.with_cmdline(f"{NULL_WORD}=1")) != system_before(asleep)


def test_an_init_settles_for_a_system_that_writes_to_its_root(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="settles is of a system that writes to its root"):
        read(tmp_path, SYSTEM.replace("size_mib = 8", "size_mib = 8, settles = true"))
