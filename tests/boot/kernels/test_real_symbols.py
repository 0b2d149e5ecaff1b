"""Symbols of Debian's own kernels: two versions, three architectures, bzImage payloads and bare Images.

Only packages that the cache already has are looked at; nothing is fetched. The last word has the kernel itself: booted
without KASLR, its /proc/kallsyms must be ours, symbol by symbol.
"""

import hashlib
import math
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian import packages
from bootlab.build.formats import cpio
from bootlab.build.kernel.image import KernelImage, expect_arch, extract_vmlinux, inspect
from bootlab.build.root.file_tree import FileTree
from bootlab.build.workshop import Workshop
from bootlab.process import run
from bootlab.symbols.table import SymbolTable, read_symbols

pytestmark = pytest.mark.kernel

KERNELS = [
    ("bookworm", "x86_64", 0xFFFFFFFF81000000),
    ("trixie", "x86_64", 0xFFFFFFFF81000000),
    ("bookworm", "aarch64", 0xFFFF800008000000),
    ("trixie", "aarch64", 0xFFFF800080000000),
    ("trixie", "riscv64", 0xFFFFFFFF80000000),
]
"""Suite, architecture, and where that kernel is linked."""
EVERYWHERE = (
    "start_kernel", "rest_init", "kernel_init", "kernel_init_freeable", "do_one_initcall", "console_on_rootfs",
    "wait_for_initramfs", "free_initmem", "run_init_process", "panic",
)  # fmt: skip
ENTRIES = {
    "x86_64": ("startup_64", "pvh_start_xen"),
    "aarch64": ("primary_entry", "__primary_switched"),
    "riscv64": ("_start_kernel", "relocate_enable_mmu"),
}
IN_FRONT_OF_TEXT = {"riscv64": 0x2000}
"""Where the image begins with something else than _text: its head, in whole pages."""

MACHINES = {
    "x86_64": ("microvm", "max", "ttyS0"),
    "aarch64": ("virt", "max,pauth=off", "ttyAMA0"),
    "riscv64": ("virt", "max", "ttyS0"),
}
INIT = b"""#!/bin/busybox sh
/bin/busybox mount -t proc p /proc
/bin/busybox grep -v '\\[' /proc/kallsyms > /listed
echo LISTED $(/bin/busybox md5sum < /listed)
/bin/busybox reboot -f
"""

Kernel = tuple[KernelImage, SymbolTable, Path, int]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(one, marks=pytest.mark.promise("kernel symbols")) if one[:2] == ("bookworm", "aarch64") else one
        for one in KERNELS
    ],
    ids=lambda kernel: f"{kernel[0]}-{kernel[1]}",
)
def kernel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    suite, arch, start = request.param
    folder = tmp_path_factory.mktemp("kernel")
    image = inspect(packaged_kernel(suite, arch))
    expect_arch(image, arch)
    vmlinux = folder / "vmlinux"
    extract_vmlinux(image.path, vmlinux)
    yield image, read_symbols(vmlinux), vmlinux, start


def packaged_kernel(suite: str, arch: str) -> Path:
    flavour = "riscv64" if arch == "riscv64" else f"cloud-{packages.ARCHITECTURES[arch]}"
    (path,) = package(f"linux-image-{flavour}", suite, arch).glob("boot/vmlinu[xz]-*")
    return path


def package(name: str, suite: str, arch: str) -> Path:
    return packages.fetch(Workshop(Cache.default()), name, suite, arch, max_age_days=math.inf).tree


def test_version_is_that_of_the_file_name(kernel: Kernel) -> None:
    image, _, vmlinux, _ = kernel
    assert image.version == image.path.name.partition("-")[2]
    assert inspect(vmlinux).version == image.version
    assert (inspect(vmlinux).pvh_entry is not None) == (image.arch == "x86_64")


def test_table_is_whole_and_in_order(kernel: Kernel) -> None:
    image, table, _, start = kernel
    assert table.arch == image.arch
    assert table.text_start == start
    assert table.address("_text") == start + IN_FRONT_OF_TEXT.get(image.arch, 0)
    symbols = list(table)
    assert len(symbols) > 40_000
    assert [symbol.address for symbol in symbols] == sorted(symbol.address for symbol in symbols)
    assert all(symbol.name.isascii() and symbol.name.isprintable() for symbol in symbols)
    assert {symbol.kind for symbol in symbols} <= set("aAbBdDrRtTvVwW")
    end = table.address("_einittext")
    assert end is not None
    functions = list(table.functions())
    assert sum(start <= function.address <= end for function in functions) > 0.95 * len(functions)


@pytest.mark.parametrize("name", EVERYWHERE)
def test_functions_that_marks_are_tied_to(kernel: Kernel, name: str) -> None:
    _, table, _, _ = kernel
    check_function(table, name)


def test_entry_points(kernel: Kernel) -> None:
    image, table, vmlinux, start = kernel
    for name in ENTRIES[image.arch]:
        check_function(table, name)
    if image.arch == "aarch64":
        # The image's first instructions branch to its entry point, whatever the symbols say.
        word = int.from_bytes(vmlinux.read_bytes()[4:8], "little")
        assert word >> 26 == 0b000101
        assert table.address("primary_entry") == start + 4 + 4 * (word & 0x1FFFFFF)
    elif image.arch == "riscv64":
        # "MZ", then a jump to where the kernel begins; bits of its 20-bit distance as in the JAL instruction.
        word = int.from_bytes(vmlinux.read_bytes()[2:6], "little")
        assert word & 0xFFF == 0x6F
        distance = (word >> 12 & 0xFF) << 12 | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1
        assert table.address("_start_kernel") == start + 2 + distance
    else:
        entry = inspect(vmlinux).pvh_entry
        assert entry is not None
        # Linked at __START_KERNEL_map + the physical address.
        assert table.address("pvh_start_xen") == entry + 0xFFFFFFFF80000000


def check_function(table: SymbolTable, name: str) -> None:
    address, code = table.address(name), table.code(name, 16)
    assert address is not None
    assert code
    assert code.count(0) < 16
    assert table.name_at(address) is not None
    assert table.name_at(address + 4) == table.name_at(address)
    assert name in {function.name for function in table.functions() if function.address == address}


def test_speed(kernel: Kernel) -> None:
    _, table, vmlinux, _ = kernel
    began_ns = time.process_time_ns()
    again = read_symbols(vmlinux)
    assert time.process_time_ns() - began_ns < 2_000_000_000
    assert list(again) == list(table)


@pytest.mark.boot
def test_the_running_kernel_lists_the_same(kernel: Kernel, tmp_path: Path) -> None:
    image, table, _, _ = kernel
    program = f"qemu-system-{image.arch}"
    if shutil.which(program) is None:
        pytest.skip(f"qemu: no {program}")
    # Debian 12 has no riscv64.
    tree = package("busybox-static", "trixie" if image.arch == "riscv64" else "bookworm", image.arch)
    contents = FileTree()
    contents.add_directory("/proc")
    contents.add_device("/dev/console", 5, 1)
    (busybox,) = tree.glob("**/bin/busybox")
    contents.add_file("/bin/busybox", busybox.read_bytes(), 0o755)
    contents.add_file("/init", INIT, 0o755)
    initramfs = tmp_path / "initramfs"
    initramfs.write_bytes(cpio.write(contents.entries()))
    machine, cpu, console = MACHINES[image.arch]
    words = f"{program} -M {machine} -cpu {cpu} -m 512 -accel tcg,thread=single -icount shift=0,sleep=off".split()
    words += ["-nodefaults", "-nographic", "-no-reboot", "-serial", "stdio"]
    cmdline = f"console={console} panic=-1 reboot=t nokaslr cryptomgr.notests"
    files = ["-kernel", str(image.path), "-initrd", str(initramfs)]
    output = run([*words, *files, "-append", cmdline], deadline_s=240)
    listed = re.search(r"LISTED ([0-9a-f]{32})", output.text)
    assert listed is not None, output.text[-2000:]
    lines = "".join(f"{symbol.address:016x} {symbol.kind} {symbol.name}\n" for symbol in table)
    assert listed[1] == hashlib.md5(lines.encode()).hexdigest()
