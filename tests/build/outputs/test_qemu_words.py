"""Other tools' QEMU command lines: what a system can say of them, and what is left out with its reason."""

import pytest

from bootlab.build.outputs.qemu_words import QemuDrive, parse_qemu_words
from bootlab.errors import InputError
from bootlab.system import Attachment

# Buildroot 2026.02, board/qemu/x86_64/readme.txt and board/qemu/aarch64-virt/readme.txt, as start-qemu.sh has them.
PC = (
    'exec qemu-system-x86_64 -M pc -kernel bzImage -drive file=rootfs.ext2,if=virtio,format=raw -append "rootwait '
    'root=/dev/vda console=tty1 console=ttyS0"  -net nic,model=virtio -net user  ${EXTRA_ARGS} "$@"'
)
VIRT = (
    "qemu-system-aarch64 -M virt -cpu cortex-a53 -nographic -smp 1 -kernel Image -append "
    '"rootwait root=/dev/vda console=ttyAMA0" -netdev user,id=eth0 -device virtio-net-device,netdev=eth0 '
    "-drive file=rootfs.ext4,if=none,format=raw,id=hd0 -device virtio-blk-device,drive=hd0"
)


def test_buildroots_pc() -> None:
    found = parse_qemu_words(PC, "start-qemu.sh")
    assert (found.arch, found.machine, found.cpu, found.memory_mib, found.vcpus) == ("x86_64", "pc", None, 128, 1)
    assert (found.kernel, found.cmdline) == ("bzImage", "rootwait root=/dev/vda console=tty1 console=ttyS0")
    assert found.drives == [QemuDrive("rootfs.ext2", "virtio")] and found.network and not found.left_out
    assert found.drives[0].attachment is Attachment.VIRTIO


def test_a_drive_is_attached_by_the_device_that_names_it() -> None:
    found = parse_qemu_words(VIRT, "readme")
    assert (found.arch, found.machine, found.cpu) == ("aarch64", "virt", "cortex-a53")
    assert found.drives == [QemuDrive("rootfs.ext4", "virtio")] and found.network and not found.left_out


def test_runqemus_words() -> None:
    words = (
        "/x/qemu-system-x86_64 -device virtio-net-pci,netdev=net0,mac=52:54:00:12:35:02 -netdev user,id=net0 "
        "-object rng-random,filename=/dev/urandom,id=rng0 -device virtio-rng-pci,rng=rng0 "
        "-drive file=a,,b.ext4,if=virtio,format=raw -usb -device usb-tablet -cpu Skylake-Client "
        "-machine q35,i8042=off -smp 4 -m 256 -serial mon:stdio -serial null -enable-kvm"
    )
    found = parse_qemu_words(words, "qemuboot.conf")
    assert (found.machine, found.options, found.cpu, found.vcpus) == ("q35", {"i8042": "off"}, "Skylake-Client", 4)
    assert found.drives == [QemuDrive("a,b.ext4", "virtio")] and found.network
    assert list(found.left_out) == [
        "-object rng-random,filename=/dev/urandom,id=rng0",
        "-device virtio-rng-pci,rng=rng0",
        "-usb",
        "-device usb-tablet",
        "-serial null",
        "-enable-kvm",
    ]
    assert "machine.devices" in found.left_out["-device usb-tablet"]


@pytest.mark.parametrize(
    ("words", "drive"),
    [
        ("-hda disk.img", QemuDrive("disk.img", "ide")),
        ("disk.img", QemuDrive("disk.img", "ide")),
        ("-sd sdcard.img", QemuDrive("sdcard.img", "sd")),
        (
            "-drive if=none,id=hd,file=d.wic -device virtio-scsi-pci -device scsi-hd,drive=hd",
            QemuDrive("d.wic", "scsi"),
        ),
        ("-drive file=d.qcow2,format=qcow2,if=pflash", QemuDrive("d.qcow2", "pflash", "qcow2")),
    ],
)
def test_ways_to_name_a_disk(words: str, drive: QemuDrive) -> None:
    assert parse_qemu_words(f"qemu-system-x86_64 {words}", "x").drives == [drive]


@pytest.mark.parametrize(("words", "mib"), [("-m 512", 512), ("-m 1G", 1024), ("-m size=64M,slots=2", 64)])
def test_sizes_of_memory(words: str, mib: int) -> None:
    assert parse_qemu_words(f"qemu-system-riscv64 {words}", "x").memory_mib == mib


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ("echo hello", "no qemu-system-... is called"),
        ("qemu-system-mips -M malta", "qemu-system-mips: bootlab has no machine of that architecture"),
        ("qemu-system-i386 -M pc", "qemu-system-i386"),
        ("qemu-system-x86_64 -m lots", "-m lots: not a size"),
        ("qemu-system-x86_64 -smp many", "-smp many: not a number"),
        ('qemu-system-x86_64 -append "root', "not a command line"),
    ],
)
def test_what_cannot_be_read_is_told(words: str, match: str) -> None:
    with pytest.raises(InputError, match=match):
        parse_qemu_words(words, "x")


def test_words_that_are_not_known_are_named_and_a_foreign_card_too() -> None:
    found = parse_qemu_words("qemu-system-x86_64 -net nic,model=ne2k_pci -fancy thing -plain -nic none", "x")
    assert not found.network
    assert found.left_out["-fancy thing"] == "not known here"
    assert found.left_out["-plain"] == "not known here"
    assert "virtio card" in found.left_out["-net nic,model=ne2k_pci"]
