"""The QEMU command line, word for word: a changed option is a reviewable diff (make golden rewrites)."""

import os
from pathlib import Path

import pytest

from bootlab.system import Accelerator, BootFiles, NetworkPeer, System
from bootlab.targets.qemu.argv import qemu_argv
from bootlab.targets.qemu.wiring import PluginFiles, Wiring

DATA = Path(__file__).parents[2] / "data" / "argv"
CARD_LOG = PluginFiles(
    Path("/p/bootlab-plugin.so"),
    Path("/run/c"),
    Path("/run/o"),
    log=Path("/run/5%d/card.log"),
    logged="sdcard_read_block",
)
PLUGIN = PluginFiles(Path("/p/bootlab-plugin.so"), Path("/run,1/plugin.conf"), Path("/run,1/trace.txt"))
FILES = BootFiles(kernel=Path("/k/vmlinuz"), initramfs=Path("/k/initrd,1"), disks=(Path("/d/a,b.img"),))
WITH_DISK = {"disks": [{"size_mib": 16}], "network": {"guest_port": 7777}}

CASES = {
    "q35-virtual": (
        {"machine": {"type": "q35", "options": {"hpet": "off"}}, **WITH_DISK},
        FILES,
        PLUGIN,
        Accelerator.TCG,
    ),
    "microvm-virtual": (
        {"machine": {"type": "microvm"}, **WITH_DISK, "clock": {"shift": 1}},
        FILES,
        PLUGIN,
        Accelerator.TCG,
    ),
    "microvm-pcie": (
        {"machine": {"type": "microvm", "options": {"pcie": "on"}}, **WITH_DISK},
        FILES,
        None,
        Accelerator.TCG,
    ),
    "q35-root-nvme": (
        {"machine": {"type": "q35"}, "rootfs": {"path": "/d/root.img", "device": "nvme"}},
        FILES.model_copy(update={"disks": (Path("/d/root.img"),)}),
        PLUGIN,
        Accelerator.TCG,
    ),
    "q35-root-scsi": (
        {
            "machine": {"type": "q35"},
            "rootfs": {"path": "/d/root.img", "device": "scsi"},
            "disks": [{"size_mib": 16, "attach": "scsi"}],
        },
        FILES.model_copy(update={"disks": (Path("/d/root.img"), Path("/d/data.img"))}),
        PLUGIN,
        Accelerator.TCG,
    ),
    "pc-qboot": (
        {"machine": {"type": "pc", "firmware": "qboot", "vcpus": 2}},
        FILES.model_copy(update={"disks": ()}),
        None,
        Accelerator.TCG,
    ),
    "microvm-huge-pages": (
        {"machine": {"type": "microvm", "page_size": "2M", "options": {"rtc": "off"}}, "clock": {"kind": "wall"}},
        FILES.model_copy(update={"disks": ()}),
        None,
        Accelerator.KVM,
    ),
    "virt-small-pages": (
        {"machine": {"type": "virt", "page_size": "4K"}},
        FILES.model_copy(update={"disks": ()}),
        PLUGIN,
        Accelerator.TCG,
    ),
    "virt-virtual": (
        {"machine": {"type": "virt", "cpu": "max,pauth=off"}, **WITH_DISK},
        FILES,
        PLUGIN,
        Accelerator.TCG,
    ),
    "virt-riscv64": (
        {"machine": {"type": "virt", "architecture": "riscv64"}, **WITH_DISK},
        FILES,
        PLUGIN,
        Accelerator.TCG,
    ),
    "orangepi-pc": (
        {"machine": {"type": "orangepi-pc"}, "clock": {"shift": 1}, "card": {"path": "card.img"}},
        FILES.model_copy(update={"disks": (), "card": Path("/c/card,1.img")}),
        CARD_LOG,
        Accelerator.TCG,
    ),
    "virt-riscv64-flash": (
        {
            "machine": {"type": "virt", "architecture": "riscv64"},
            "bootloader": {"package": "u-boot"},
            "flash": {"path": "flash.img"},
        },
        FILES.model_copy(update={"disks": (), "flash": Path("/c/flash,1.img"), "firmware": Path("/c/spl.bin")}),
        PLUGIN,
        Accelerator.TCG,
    ),
    "q35-virtual-peer": (
        {"machine": {"type": "q35"}, **WITH_DISK, "network": {"peer": "bootlab"}},
        FILES,
        PLUGIN,
        Accelerator.TCG,
    ),
    "microvm-firecracker": (
        {"machine": {"shape": "firecracker"}, **WITH_DISK, "network": {"peer": "bootlab"}},
        FILES,
        PLUGIN,
        Accelerator.TCG,
    ),
    "microvm-virtual-peer": (
        {"machine": {"type": "microvm"}, **WITH_DISK, "network": {"peer": "bootlab"}},
        FILES,
        PLUGIN,
        Accelerator.TCG,
    ),
    "q35-wall-kvm": (
        {"machine": {"type": "q35", "cpu": "host"}, "clock": {"kind": "wall"}, **WITH_DISK},
        FILES,
        None,
        Accelerator.KVM,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_argv(name: str) -> None:
    document, files, plugin, accelerator = CASES[name]
    system = System.model_validate(
        {
            "name": name,
            "kernel": {"image": Path("/k/vmlinuz"), "cmdline": "console=ttyS0 panic=-1"},
            "booted": {"mark": "ready"},
            "seed": 7,
            **document,
        }
    )
    port = 40000 if system.network else None
    wire = 9 if system.network is not None and system.network.peer is NetworkPeer.BOOTLAB else None
    argv = qemu_argv(system, files, Wiring(Path("/tmp/q,1/qmp"), accelerator, port, plugin, wire))
    text = "\n".join(argv) + "\n"
    golden = DATA / f"{name}.txt"
    if os.environ.get("BOOTLAB_GOLDEN") == "write":
        golden.write_text(text)
    assert text == golden.read_text()


def test_wiring_never_reaches_the_guest() -> None:
    """Ports, sockets and file names may differ between two boots that must be identical: none may be in guest view."""
    system = System.model_validate(
        {
            "name": "x",
            "machine": {"type": "q35"},
            "kernel": {"image": Path("/k/vmlinuz"), "cmdline": "a"},
            "booted": {"mark": "ready"},
            **WITH_DISK,
        }
    )
    one = qemu_argv(system, FILES, Wiring(Path("/a"), host_port=1, plugin=PLUGIN))
    other = qemu_argv(system, FILES, Wiring(Path("/b"), host_port=2, plugin=None))
    only = [word for word in one if word not in other]
    assert all(word.startswith(("unix:", "user,id=net0,hostfwd=", "-plugin", "/p/")) for word in only), only


def test_firmware_that_waits_for_a_key_a_card_without_its_rom_and_a_kernel_that_qemu_loads() -> None:
    files = FILES.model_copy(
        update={"disks": (), "image": Path("/i/disk.img"), "image_format": "raw", "words": "root=/dev/vda1 ro"}
    )
    given = {"name": "s", "kernel": {"installed": True}, "booted": {"console": "login:"}}
    machine = {"type": "q35", "boot_menu_s": 3}
    image, network = {"path": "disk.img", "loader": "direct"}, {"peer": "bootlab", "option_rom": False}
    system = System.model_validate({**given, "machine": machine, "image": image, "network": network})
    argv = qemu_argv(system, files, Wiring(Path("/s"), wire=9))
    plain = System.model_validate({**given, "machine": {"type": "q35"}, "image": {"path": "disk.img"}})
    assert not {"-boot", "-kernel", "-append"} & set(qemu_argv(plain, files, Wiring(Path("/s"))))
    told = dict(zip(argv, argv[1:], strict=False))
    assert told["-boot"] == "menu=on,splash-time=3000" and told["-append"] == "root=/dev/vda1 ro"
    assert told["-kernel"] == str(FILES.kernel) and any("drive=image" in word for word in argv)
    assert not any("bootindex" in word for word in argv), "QEMU gives what it loads itself the first place"
    assert any(word.startswith("virtio-net-pci") and ",romfile=" in f"{word}," for word in argv)


def test_secure_boot_keeps_the_firmwares_variables_in_smm() -> None:
    given = {"name": "s", "kernel": {"installed": True}, "booted": {"console": "login:"}, "image": {"path": "disk.img"}}
    files = FILES.model_copy(update={"disks": (), "image": Path("/i/disk.img"), "image_format": "raw"})
    plain = System.model_validate({**given, "machine": {"type": "q35", "firmware": "ovmf"}})
    secure = System.model_validate({**given, "machine": {"type": "q35", "firmware": "ovmf", "secure_boot": True}})
    one, other = (qemu_argv(system, files, Wiring(Path("/s"))) for system in (plain, secure))
    assert [word for word in other if word not in one] == [
        "-global", "driver=cfi.pflash01,property=secure,value=on", "q35,smm=on",
    ]  # fmt: skip


def test_a_cd_is_in_a_drive_on_a_virtio_controller_and_only_read() -> None:
    given = {"name": "s", "kernel": {"installed": True}, "booted": {"console": "login:"}}
    files = FILES.model_copy(update={"disks": (), "image": Path("/i/live.iso"), "image_format": "raw"})
    image = {"path": "live.iso", "attach": "cd"}
    system = System.model_validate({**given, "machine": {"type": "q35"}, "image": image})
    argv = qemu_argv(system, files, Wiring(Path("/s")))
    told = [word for word in argv if "image" in word]
    assert told == [
        "virtio-scsi-pci,id=image-controller,disable-legacy=on,ioeventfd=off,num_queues=1,cmd_per_lun=1",
        "if=none,id=image,format=raw,media=cdrom,readonly=on,file=/i/live.iso",
        "scsi-cd,drive=image,serial=image,bootindex=0,bus=image-controller.0",
    ]


def test_a_life_keeps_what_it_writes_and_a_later_one_begins_later() -> None:
    files = FILES.model_copy(
        update={
            "disks": (),
            "image": Path("/i/disk.img"),
            "image_format": "raw",
            "firmware": Path("/f/code.fd"),
            "firmware_variables": Path("/f/vars.fd"),
        }
    )
    given = {"name": "s", "machine": {"type": "q35"}, "kernel": {"installed": True}, "booted": {"console": "login:"}}
    first = System.model_validate({**given, "image": {"path": "disk.img"}})
    third = System.model_validate({**given, "image": {"path": "disk.img", "life": 3}})
    passing = qemu_argv(first, files, Wiring(Path("/s")))
    lasting = qemu_argv(first, files, Wiring(Path("/s"), lasting=True))
    assert "if=none,id=image,format=raw,snapshot=on,file=/i/disk.img" in passing
    assert "if=none,id=image,format=raw,file=/i/disk.img" in lasting
    assert "if=pflash,format=raw,unit=1,file=/f/vars.fd" in lasting
    assert "if=pflash,format=raw,unit=0,readonly=on,file=/f/code.fd" in lasting
    assert [word.replace(",snapshot=on", "") for word in passing] == lasting
    assert "base=2024-01-01T00:00:00,clock=vm" in passing
    assert "base=2024-01-01T02:00:00,clock=vm" in qemu_argv(third, files, Wiring(Path("/s")))
