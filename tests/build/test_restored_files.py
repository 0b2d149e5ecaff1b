"""What a power-on starts that another kernel restores: that one with its initramfs, beside the system's own disks."""

from pathlib import Path

import pytest

from bootlab.build.boot_files import root_entries_of
from bootlab.build.cache import Cache
from bootlab.build.restored_files import COLD_START, RESTORED, prepare
from bootlab.build.root.initramfs import read_contents
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import PowerOnKind, System
from tests.build.kernel.test_image import PAYLOADS, bzimage, elf

WORDS = "console=ttyS0 root=/dev/vda rw"


def system(folder: Path, kernel: bytes, kind: PowerOnKind) -> System:
    (folder / "own").write_bytes(kernel)
    (folder / "small").write_bytes(bzimage(PAYLOADS["xz"](elf(pvh=False))))
    (folder / "init").write_text("#!/bin/sh\n")
    return System.model_validate(
        {
            "name": "test",
            "machine": {"type": "q35"},
            "kernel": {"image": folder / "own", "cmdline": WORDS},
            "initramfs": {"init": folder / "init", "busybox": False},
            "rootfs": {"init": folder / "init", "busybox": False},
            "disks": [{"size_mib": 8, "filesystem": "swap"}],
            "restorer": {
                "kernel": {"image": folder / "small", "cmdline": "resume=/dev/vdb root=/dev/vda"},
                "initramfs": {"mount_root": True, "sleep_agent": True, "suite": "bookworm"},
            },
            "power_on": {"kind": kind},
            "booted": {"mark": "ready"},
        }
    )


@pytest.mark.network
def test_the_restorer_knows_the_kernel_that_it_restores_and_how_to_start_it_cold(tmp_path: Path) -> None:
    shop = Workshop(Cache(tmp_path / "cache"))
    kernel = bzimage(PAYLOADS["lz4"](elf()))
    cold = prepare(shop, system(tmp_path, kernel, PowerOnKind.COLD))
    files = prepare(shop, system(tmp_path, kernel, PowerOnKind.HIBERNATED))
    assert (cold.kernel.name, files.kernel.name) == ("own", "small") and files.disks == cold.disks
    assert files.hashes["initramfs"] != cold.hashes["initramfs"] and files.hashes["rootfs"] == cold.hashes["rootfs"]
    assert files.initramfs is not None and cold.initramfs is not None
    told = {f"/{entry.path}": entry.data for entry in read_contents(files.initramfs) or ()}
    assert told[RESTORED] == b"6.9.0-lab #1\n" and told[COLD_START] == f"{WORDS}\n".encode()
    root = root_entries_of(shop, system(tmp_path, kernel, PowerOnKind.HIBERNATED), "rootfs")
    lies = {entry.path: entry.data for entry in root}
    assert lies["boot/vmlinuz"] == kernel and lies["boot/initrd.img"] == cold.initramfs.read_bytes()


def test_a_kernel_that_kexec_does_not_take_is_refused(tmp_path: Path) -> None:
    shop = Workshop(Cache(tmp_path / "cache"))
    with pytest.raises(InputError, match="restorer: own is no bzImage, and bootlab-sleep"):
        prepare(shop, system(tmp_path, elf(), PowerOnKind.HIBERNATED))
