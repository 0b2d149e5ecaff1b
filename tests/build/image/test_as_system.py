"""An image as a system: its machine, what is ready, and the system file that says the same."""

from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.build.image.as_system import describe_image, firmware_of, system_of_image
from bootlab.build.image.contents import BIOS, UEFI, Chain, ImageContents, LoadedProgram, PartitionFound
from bootlab.build.image.image_file import ImageFile
from bootlab.build.image.kept_contents import ReadImage
from bootlab.system import Attachment, Disk, MachineType, NetworkPeer, read_system
from bootlab.system.text import system_text

SERIAL = Chain(
    loader="GRUB", kernel="kernel-0", kernel_path="/boot/vmlinuz", words="ro console=tty0 console=ttyS0,115200"
)
SCREEN = Chain(loader="GRUB", kernel="kernel-0", kernel_path="/boot/vmlinuz", words="ro quiet", wait_s=5)
UKI = Chain(
    loader="UKI",
    programs=(LoadedProgram(kind="UKI", version="252.39", path="/EFI/BOOT/bootx64.efi", file="program-0"),),
    kernel="kernel-0",
    words="console=ttyS0",
)


def image(tmp_path: Path, **chains: Chain) -> ReadImage:
    path = tmp_path / "my disk.qcow2"
    path.write_bytes(b"x")
    parts = (PartitionFound(number=1, kind="ext4", bytes=5 << 20),)
    contents = ImageContents(format="qcow2", bytes=1, scheme="gpt", partitions=parts, os_name="Small 1", chains=chains)
    return ReadImage(ImageFile(path, "qcow2", 1), contents, tmp_path, "ab" * 32)


def test_an_image_with_a_serial_console_is_ready_at_its_prompt(tmp_path: Path) -> None:
    system = system_of_image(image(tmp_path, bios=SERIAL, uefi=SERIAL))
    assert system.name == "my-disk" and system.booted.console == "login:" and system.machine.firmware == "default"
    assert system.network is not None and system.network.peer is NetworkPeer.BOOTLAB
    assert system.network.probes["ssh"].tcp == 22 and system.kernel.installed


def test_one_without_is_ready_when_port_22_answers(tmp_path: Path) -> None:
    read = image(tmp_path, bios=SCREEN)
    assert system_of_image(read).booted.mark == "ssh"
    assert any("no console on a serial line" in line and "port 22" in line for line in describe_image(read))


def test_uefi_where_there_is_no_bios(tmp_path: Path) -> None:
    assert system_of_image(image(tmp_path, uefi=UKI)).machine.firmware == "ovmf"
    assert firmware_of(image(tmp_path, bios=Chain(loader="GRUB"), uefi=UKI).contents) == "ovmf"


def test_arm64_is_ready_when_port_22_answers_whatever_its_console_is(tmp_path: Path) -> None:
    read = image(tmp_path, uefi=UKI)
    read = replace(read, contents=read.contents.model_copy(update={"arch": "aarch64"}))
    system = system_of_image(read)
    assert (system.machine.type, system.machine.firmware, system.booted.mark) == (MachineType.VIRT, "ovmf", "ssh")
    assert any(line.startswith("boots by UEFI (AAVMF)") for line in describe_image(read))


def test_an_iso_is_a_cd(tmp_path: Path) -> None:
    read = image(tmp_path, bios=SERIAL)
    read = replace(read, contents=read.contents.model_copy(update={"format": "iso"}))
    system = system_of_image(read)
    assert system.image is not None and system.image.attach is Attachment.CD
    assert describe_image(read)[0].endswith("ISO 9660 of 0 MiB, El Torito for BIOS; attached as a CD (image.attach)")


def test_what_is_told_of_an_image(tmp_path: Path) -> None:
    told = describe_image(image(tmp_path, uefi=UKI, bios=SCREEN))
    assert told[:3] == [
        "my disk.qcow2: Small 1; qcow2, partition 1 (ext4, 5 MiB)",
        "boots by BIOS (SeaBIOS): GRUB, its menu waits 5 s, kernel /boot/vmlinuz",
        'would boot by UEFI (OVMF), with machine.firmware = "ovmf": UKI 252.39, kernel not found',
    ]


@pytest.mark.parametrize("key", [BIOS, UEFI])
def test_its_system_file_says_the_same(key: str, tmp_path: Path) -> None:
    system = system_of_image(image(tmp_path, **{key: SERIAL})).with_seed(7)
    system = system.model_copy(update={"description": 'a "quoted" \\ name\n\x1b'})
    (tmp_path / "system.toml").write_text(system_text(system))
    assert read_system(tmp_path / "system.toml") == system
    more = system.with_cmdline("quiet").model_copy(update={"disks": (Disk(size_mib=16), Disk(size_mib=8, serial="b"))})
    (tmp_path / "system.toml").write_text(system_text(more))
    assert read_system(tmp_path / "system.toml") == more
