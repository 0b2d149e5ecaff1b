"""What a compression study builds, what it leaves out and why, and what it says of a compressor that is not there."""

from pathlib import Path
from typing import Any

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, InputError
from bootlab.experiments.compression.study import KERNEL_TOOLS, CompressionStudy, explain, initramfses, kernels
from bootlab.system import Compression, System


def system(**changes: Any) -> System:
    return System.model_validate(
        {
            "name": "made-up",
            "machine": {"type": "microvm"},
            "kernel": {"build": {"package": "linux-source-6.12", "options": {"KERNEL_XZ": "y", "SMP": False}}},
            "initramfs": {"init": "/init"},
            "booted": {"mark": "ready"},
            **changes,
        }
    )


def study(value: System, tmp_path: Path, **more: Any) -> CompressionStudy:
    return CompressionStudy(Workshop(Cache(tmp_path)), value, [1, 10], [1], **more)


def test_each_kernel_asks_for_one_algorithm_and_overrules_the_systems() -> None:
    made = {name: make() for name, make in kernels(system()).items()}
    assert list(made) == [*KERNEL_TOOLS, "none"]
    for name in KERNEL_TOOLS:
        kernel = made[name].kernel
        assert kernel.entry.value == "image" and kernel.build is not None
        wanted = {key for key, value in kernel.build.options.items() if key.startswith("KERNEL_") and value == "y"}
        assert wanted == {f"KERNEL_{name.upper()}"}
        assert kernel.build.options["SMP"] == "n"
    assert made["none"].kernel.entry.value == "pvh"
    assert made["none"].kernel.build == system().kernel.build


def test_each_initramfs_differs_in_its_compression_alone() -> None:
    made = {name: make() for name, make in initramfses(system()).items()}
    assert list(made) == [kind.value for kind in Compression]
    for name, one in made.items():
        assert one.initramfs is not None and one.initramfs.compression.value == name
        assert one.with_part("initramfs", compression="gzip") == system()


def test_what_cannot_be_compressed_is_left_out_with_the_reason(tmp_path: Path) -> None:
    assert study(system(), tmp_path).what == ["kernel", "initramfs"]
    stock = study(system(kernel={"package": "linux-image-cloud-amd64"}), tmp_path)
    assert (stock.what, stock.left_out) == (
        ["initramfs"], ["kernel: only a kernel that is built ([kernel.build]) is compressed anew"]
    )  # fmt: skip
    embedded = study(system(initramfs={"init": "/init", "embedded": True}), tmp_path)
    assert embedded.left_out == ["initramfs: it is embedded, and compressed with the kernel"]
    arm = study(system(machine={"type": "virt"}), tmp_path)
    assert arm.left_out[0].startswith("kernel: an arm64 or riscv64 kernel does not unpack itself")


def test_what_was_asked_for_and_cannot_be_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--what kernel: only a kernel that is built"):
        study(system(kernel={"image": "/k"}), tmp_path, what=["kernel"])
    with pytest.raises(InputError, match="--what initramfs: initramfs.path is a finished archive"):
        study(system(initramfs={"path": "/i"}), tmp_path, what=["initramfs"])
    with pytest.raises(InputError, match="nothing to compress: kernel: .*; initramfs: the system has none"):
        study(system(kernel={"image": "/k"}, initramfs=None), tmp_path)
    board = {"machine": {"type": "orangepi-pc"}, "bootloader": {"package": "u-boot"}, "card": {}}
    with pytest.raises(InputError, match="a board's bootloader loads kernel and initramfs while the clock runs"):
        study(system(**board), tmp_path)
    with pytest.raises(InputError, match="wall clock does not show"):
        study(system(clock={"kind": "wall"}), tmp_path)


def test_a_missing_compressor_names_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    failed = BootlabError("make: error 127\nmore")
    assert explain("kernel", "lzma", failed) == "lzma is not installed (Debian package xz-utils)"
    assert explain("initramfs", "lzo", failed) == "make: error 127"
    assert explain("kernel", "none", failed) == "make: error 127"
