"""The decompressor's functions, from a small one that a compiler made and a bzImage around it."""

import platform
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.symbols.decompressor import list_decompressor_functions
from bootlab.symbols.roles import Role

pytestmark = [
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in ("cc", "nm", "objcopy")), reason="needs cc and binutils"
    ),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="compiles for an x86-64 kernel"),
]

SOURCE = r"""
__asm__(".section .head.text,\"ax\"\n.globl startup_32\nstartup_32: nop\n.Lhere: nop\nlocal_label: nop\n.skip 0x1fd\n"
        ".globl startup_64\nstartup_64: call extract_kernel\n ret\n");
static char heap[0x3000];
__attribute__((noinline)) static int inflate(int value) { return value * 3 + heap[value]; }
int extract_kernel(int value) { heap[5] = 1; return inflate(value) + inflate(value + 1); }
"""
SCRIPT = """SECTIONS { . = 0; .head.text : { *(.head.text) } .text : { *(.text*) } .data : { *(.data*) *(.rodata*) }
.bss : { *(.bss*) } . = ALIGN(0x1000); _end = .; /DISCARD/ : { *(.note*) *(.comment) *(.eh_frame) } }"""
INIT_SIZE, PREFERRED = 0x3378000, 0x1000000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `vmlinux`, `code` (the same as a flat binary) and `bzImage`."""
    folder = tmp_path_factory.mktemp("decompressor")
    (folder / "source.c").write_text(SOURCE)
    (folder / "script").write_text(SCRIPT)
    for command in (
        "cc -O1 -ffreestanding -fno-pic -mcmodel=small -fcf-protection=none -c source.c",
        "ld -T script -o vmlinux source.o",
        "objcopy -O binary vmlinux code",
    ):
        subprocess.run(command.split(), cwd=folder, check=True)
    header = bytearray(5 * 512)
    header[0x1F1] = 4
    header[0x202:0x206] = b"HdrS"
    struct.pack_into("<I", header, 0x230, 0x200000)
    struct.pack_into("<QI", header, 0x258, PREFERRED, INIT_SIZE)
    (folder / "bzImage").write_bytes(bytes(header) + (folder / "code").read_bytes() + bytes(64))
    return folder


def nm(path: Path) -> dict[str, int]:
    lines = subprocess.check_output(["nm", path], text=True).splitlines()
    return {line.split()[-1]: int(line.split()[0], 16) for line in lines}


def functions(folder: Path, image: bytes | None = None) -> list[tuple[int, Role, str]]:
    found = list_decompressor_functions(
        (folder / "vmlinux").read_bytes(), "vmlinux", image or (folder / "bzImage").read_bytes()
    )
    assert found is not None
    return [(address, role, name) for address, role, name in found]


def test_every_function_has_two_places(folder: Path) -> None:
    symbols = nm(folder / "vmlinux")
    again = PREFERRED + INIT_SIZE - symbols["_end"]
    found = {(address, name) for address, role, name in functions(folder) if role is Role.PLAIN}
    names = ("startup_32", "startup_64", "extract_kernel", "inflate")
    assert found == {(start + symbols[name], name) for start in (0x100000, again) for name in names}
    addresses = [address for address, _, _ in functions(folder)]
    assert addresses == sorted(addresses)
    assert functions(folder)[-1][1] is Role.END


def test_of_another_kernel(folder: Path) -> None:
    image = (folder / "bzImage").read_bytes()
    with pytest.raises(InputError, match="vmlinux: the decompressor of another kernel"):
        functions(folder, image.replace(b"\x90", b"\x91", 1))
    with pytest.raises(InputError, match="of another kernel"):
        functions(folder, b"\x7fELF" + bytes(5000))


def test_other_files(folder: Path) -> None:
    image = (folder / "bzImage").read_bytes()
    assert list_decompressor_functions(image, "bzImage", image) is None
    assert list_decompressor_functions((folder / "source.o").read_bytes(), "source.o", image) is None
    with pytest.raises(InputError, match="damaged"):
        list_decompressor_functions((folder / "vmlinux").read_bytes()[:200], "vmlinux", image)
