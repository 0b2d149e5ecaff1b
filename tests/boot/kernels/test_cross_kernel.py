"""Tiny kernels for other architectures, compiled with cross compilers from Debian's source, and started."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from bootlab.build.cache import Cache
from bootlab.build.kernel.build import build_kernel
from bootlab.build.kernel.image import ImageKind, inspect
from bootlab.build.workshop import Workshop
from bootlab.measure.record import BootRecord, Outcome
from bootlab.process import require_program
from bootlab.symbols.table import read_symbols
from bootlab.system import KernelBuild, System, read_system

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

HERE = Path(__file__).parents[1] / "tiny_kernel"


def test_an_arm64_kernel_boots_to_ready(shop: Workshop, run_boot: Callable[[System], BootRecord]) -> None:
    system = read_system(HERE / "tiny-arm64.toml")
    record = run_boot(system)
    assert record.outcome is Outcome.READY, record.detail
    wanted = ("kernel_entry", "start_kernel", "init_exec", "first_user_instruction", "ready")
    assert [mark for mark in wanted if mark not in record.marks] == []
    assert system.kernel.build is not None
    built = build_kernel(shop, system.kernel.build, "aarch64")
    assert built.from_cache
    image = inspect(built.image)
    assert (image.arch, image.kind, image.version) == ("aarch64", ImageKind.ARM64_IMAGE, built.release)
    assert built.decompressor is None


def test_a_riscv64_kernel_that_moves_itself_boots_to_ready(
    shop: Workshop, run_boot: Callable[[System], BootRecord]
) -> None:
    system = read_system(HERE / "tiny-riscv64.toml")
    records = [run_boot(system.with_seed(seed)) for seed in (1, 2)]
    assert [record.outcome for record in records] == [Outcome.READY] * 2, [record.detail for record in records]
    wanted = ("image_entry", "kernel_entry", "start_kernel", "init_exec", "first_user_instruction", "ready")
    for record in records:
        assert [mark for mark in wanted if mark not in record.marks] == []
        assert record.kaslr_slide is not None and record.kaslr_slide % (2 << 20) == 0
    print("slides", [hex(record.kaslr_slide or 0) for record in records])
    assert system.kernel.build is not None
    built = build_kernel(shop, system.kernel.build, "riscv64")
    assert built.from_cache
    image = inspect(built.image)
    assert (image.arch, image.kind, image.version) == ("riscv64", ImageKind.RISCV64_IMAGE, built.release)
    # A relocation fills in where its own table of symbols begins; the linker's tells whether that was found.
    ours, linkers = read_symbols(built.image), read_symbols(built.vmlinux)
    assert ours.text_start == linkers.text_start
    names = ("_text", "start_kernel", "do_one_initcall", "run_init_process", "panic")
    assert [ours.address(name) for name in names] == [linkers.address(name) for name in names]


def test_a_module_is_built_installed_and_loaded(run_boot: Callable[[System], BootRecord], tmp_path: Path) -> None:
    init = tmp_path / "init"
    init.write_text(
        "#!/bin/busybox sh\n"
        "/bin/busybox mount -t proc proc /proc\n"
        "for module in $(/bin/busybox cat /etc/bootlab/modules); do /bin/busybox insmod $module; done\n"
        "/bin/busybox grep -q crc_itu_t /proc/modules && /sbin/bootlab-mark ready\n"
        "/bin/busybox poweroff -f\n"
    )
    system = read_system(HERE / "tiny-arm64.toml")
    record = run_boot(system.with_part("initramfs", init=init, modules=("crc-itu-t",)))
    assert record.outcome is Outcome.READY, record.detail


def test_an_armv7_kernel_starts(shop: Workshop) -> None:
    build = KernelBuild(
        package="linux-source-6.12", suite="trixie", base="tinyconfig", fragments=(HERE / "tiny-armv7.config",)
    )
    built = build_kernel(shop, build, "armv7")
    assert inspect(built.image).arch == "armv7"
    with built.vmlinux.open("rb") as file:
        assert ELFFile(file)["e_machine"] == "EM_ARM"
    # A system file has no machine for it yet; QEMU alone has.
    words = [require_program("qemu-system-arm"), "-machine", "virt", "-m", "64", "-nodefaults", "-display", "none"]
    words += ["-serial", "stdio", "-no-reboot", "-kernel", str(built.image), "-append", "console=ttyAMA0 panic=-1"]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=20)
        console = done.stdout
    except subprocess.TimeoutExpired as error:
        console = error.stdout or b""
    assert f"Linux version {built.release}".encode() in console
    assert b"Kernel panic" in console


def test_what_cannot_be_compiled_here_names_the_package(cache: Cache, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "bootlab", "build", "kernel", "--package", "linux-source-6.12", "--suite", "trixie"]
    # Everything but the cross compiler.
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in Path("/usr/bin").iterdir():
        if not program.name.startswith("arm-linux-gnueabihf"):
            (folder / program.name).symlink_to(program)
    done = subprocess.run(
        [*words, "--arch", "armv7"], capture_output=True, text=True, check=False, env={"PATH": str(folder), "HOME": "/"}
    )
    assert done.returncode == 3
    assert "arm-linux-gnueabihf-gcc, arm-linux-gnueabihf-ld" in done.stderr
    assert "apt-get install gcc-arm-linux-gnueabihf binutils-arm-linux-gnueabihf" in done.stderr
