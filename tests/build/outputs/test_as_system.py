"""Outputs as systems: machine, parts, what is said of them, and the same kernel built anew."""

from pathlib import Path

import pytest
import zstandard

from bootlab.build.cache import Cache
from bootlab.build.outputs.as_system import describe_output, rebuilt_kernel, system_of_output
from bootlab.build.outputs.output import BuildOutput
from bootlab.build.outputs.recognise import read_output
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import Attachment, MachineType, NetworkPeer, read_system
from bootlab.system.text import system_text
from tests.build.outputs.folders import (
    VIRT,
    buildroot,
    buildroot_started,
    bzimage,
    plain_image,
    write,
    yocto,
    yocto_source,
)
from tests.build.outputs.test_nixos import system as nixos


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(Cache(tmp_path / "cache"))


def test_buildroots_pc(shop: Workshop, tmp_path: Path) -> None:
    output = read_output(buildroot_started(tmp_path))
    system = system_of_output(shop, output)
    assert system.name == "qemu_x86_64" and system.description.startswith("Buildroot 2026.02.3")
    assert system.machine.type is MachineType.PC and system.machine.cpu == "max" and system.machine.memory_mib == 128
    assert system.kernel.image == output.kernel and system.rootfs is not None and system.rootfs.path == output.rootfs
    assert system.network is not None and system.network.peer is NetworkPeer.BOOTLAB
    assert system.booted.console == "login:"
    said = describe_output(output)
    assert said[1] == "boots bzImage, rootfs.ext2 on pc; ready when the console says 'login:'"
    assert any(line.startswith("found, too: start-qemu.sh") for line in said)
    file = write(tmp_path / "system.toml", system_text(system))
    assert read_system(file) == system


def test_its_kernel_built_anew(shop: Workshop, tmp_path: Path) -> None:
    output = read_output(buildroot_started(tmp_path))
    build = system_of_output(shop, output, rebuilt=True).kernel.build
    assert build is not None and output.source is not None
    assert (build.source, build.config, build.patches) == (
        output.source.source,
        output.source.config,
        output.source.patches,
    )
    kernel = rebuilt_kernel(output)
    assert kernel is not None and kernel.build == build and kernel.cmdline == output.guest.cmdline
    without = read_output(buildroot(tmp_path / "b", "bzImage", "rootfs.ext2"))
    assert rebuilt_kernel(without) is None
    with pytest.raises(InputError, match="its kernel's source was not found"):
        system_of_output(shop, without, rebuilt=True)


def test_yoctos_compressed_root(shop: Workshop, tmp_path: Path) -> None:
    folder = yocto(tmp_path, content=zstandard.compress(b"root" + bytes(4096)))
    yocto_source(tmp_path)
    system = system_of_output(shop, read_output(folder))
    assert system.rootfs is not None and system.rootfs.path is not None
    assert system.rootfs.path.read_bytes().startswith(b"root")
    assert (system.machine.type, system.machine.vcpus, system.machine.cpu) == (MachineType.Q35, 4, "Skylake-Client")


def test_arm64_riscv64_and_disks(shop: Workshop, tmp_path: Path) -> None:
    arm = system_of_output(shop, read_output(buildroot_started(tmp_path / "a", VIRT)))
    assert (arm.machine.type, arm.machine.arch, arm.machine.cpu) == (MachineType.VIRT, "aarch64", "cortex-a53")
    words = (
        "exec qemu-system-riscv64 -M virt-9.2 -bios fw_jump.elf -kernel Image -append 'root=/dev/vda' "
        "-drive file=rootfs.ext2,if=virtio -drive file=data.img,if=none,id=d -device nvme,drive=d"
    )
    output = buildroot_started(tmp_path / "b", words)
    for name in ("fw_jump.elf", "data.img"):
        write(output / "images" / name)
    write(output / "images/Image", plain_image("riscv64"))
    riscv = system_of_output(shop, read_output(output))
    assert riscv.machine.arch == "riscv64" and riscv.machine.firmware.endswith("images/fw_jump.elf")
    assert [disk.attach for disk in riscv.disks] == [Attachment.NVME]


def test_a_card(shop: Workshop, tmp_path: Path) -> None:
    options = 'BR2_LINUX_KERNEL_INTREE_DTS_NAME="allwinner/sun8i-h3-orangepi-pc"\n'
    output = read_output(buildroot(tmp_path, "zImage", "sdcard.img", arch="arm", more=options))
    system = system_of_output(shop, output)
    assert system.machine.type is MachineType.ORANGEPI_PC and system.card is not None and system.card.path is not None
    assert system.card.path.stat().st_size == 64 << 20 and not system.kernel.cmdline


def test_nixos_is_ready_in_its_initrd(shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIX_STORE_DIR", str(tmp_path / "store"))
    system = system_of_output(shop, read_output(nixos(tmp_path)))
    assert system.booted.console == r"Stage 1|Running in initrd" and system.initramfs is not None


def test_machines_that_are_not_ours(shop: Workshop, tmp_path: Path) -> None:
    words = "exec qemu-system-aarch64 -M sbsa-ref -kernel Image"
    with pytest.raises(InputError, match="machine 'sbsa-ref' of aarch64, and bootlab has virt"):
        system_of_output(shop, read_output(buildroot_started(tmp_path / "b", words)))


@pytest.mark.parametrize(("words", "match"), [("-m 4", "memory_mib"), ("-smp 900", "vcpus")])
def test_a_machine_that_cannot_be_had(words: str, match: str, shop: Workshop, tmp_path: Path) -> None:
    output = buildroot_started(tmp_path, f"exec qemu-system-x86_64 -M q35 -kernel bzImage {words}")
    with pytest.raises(InputError, match=f"cannot be had here: .*{match}"):
        system_of_output(shop, read_output(output))


def test_a_qcow2_root_beside_a_kernel_is_refused(shop: Workshop, tmp_path: Path) -> None:
    output = buildroot_started(tmp_path)
    write(output / "images/rootfs.ext2", b"QFI\xfb" + bytes(512))
    with pytest.raises(InputError, match="a qcow2 image, and beside a kernel"):
        system_of_output(shop, read_output(output))


def test_more_files_than_can_be_told_are_counted(tmp_path: Path) -> None:
    output: BuildOutput = read_output(buildroot(tmp_path, "bzImage", "rootfs.ext2", *(f"x{n}" for n in range(20))))
    assert describe_output(output)[-3].startswith("found, too: 8 more files")


@pytest.mark.parametrize(
    ("kernel", "match"),
    [(bzimage()[:1024], "cut off|truncated"), (plain_image("aarch64"), "kernel for aarch64, the machine is")],
)
def test_a_kernel_that_cannot_boot_is_refused(kernel: bytes, match: str, shop: Workshop, tmp_path: Path) -> None:
    output = buildroot_started(tmp_path)
    write(output / "images/bzImage", kernel)
    with pytest.raises(InputError, match=match):
        system_of_output(shop, read_output(output))


def test_a_root_that_is_not_compressed_as_its_name_says_is_refused(shop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"rootfs\.ext4\.zst: not a zstd file, as its name says"):
        system_of_output(shop, read_output(yocto(tmp_path, content=b"root")))
