"""32-bit arm: a kernel's and a bootloader's functions out of real ELF files, in Thumb code with all that marks it."""

import subprocess
from pathlib import Path

import pytest

from bootlab.symbols.decompressor import list_decompressor_functions
from bootlab.symbols.functions import Function, list_functions
from bootlab.symbols.initcall_levels import LEVELS, read_initcall_levels
from bootlab.symbols.roles import Role
from bootlab.symbols.table import read_symbols
from tests.symbols.arm_programs import BOOTLOADER, PREFIX, link, wants_assembler

pytestmark = wants_assembler

KERNEL = """
.syntax unified
.thumb
.macro function name
.globl \\name
.type \\name, %function
.thumb_func
\\name: bx lr
.balign 16
.endm
.section .head.text, "ax"
.globl _text
_text:
function stext
.text
function vector_swi
local_restart: nop
.balign 16
function sys_read
.type mmioset, %function
.globl mmioset
.thumb_func
mmioset:
function memset
.globl _etext
.section .stubs, "ax"
.word vector_swi
.thumb_func
vector_irq: subs pc, lr, #0
.section .init.text, "ax"
.globl _sinittext
_sinittext: nop
.balign 16
function early_one
function late_one
function console_one
.globl _einittext
_einittext:
.section .init.data, "aw"
.globl __initcall_start, __con_initcall_start, __con_initcall_end
__initcall_start: .word early_one
""" + "\n".join(
    f".globl __initcall{level}_start\n__initcall{level}_start:" + ("\n.word late_one" if level == "7" else "")
    for level in ("0", "1", "2", "3", "4", "5", "rootfs", "6", "7")
) + "\n__con_initcall_start: .word console_one\n__con_initcall_end:\n"  # fmt: skip


KERNEL_SCRIPT = """
SECTIONS {
  . = 0xc0008000; .head.text : { *(.head.text) }
  . = 0xc0100000; .text : { *(.text) _etext = .; }
  . = 0xc0200000; __vectors_lma = .;
  .stubs 0xffff1000 : AT(__vectors_lma) { *(.stubs) }
  . = 0xc0201000; .init.text : { *(.init.text) } .init.data : { *(.init.data) }
}
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    (tmp_path / "script").write_text(KERNEL_SCRIPT)
    return link(tmp_path, KERNEL, "-T", "script")


def test_a_kernel_s_functions_and_vectors(kernel: Path) -> None:
    found = list_functions(read_symbols(kernel))
    text = [one for one in found if 0xC0100000 <= one.address < 0xC0200000]
    assert text[:3] == [
        Function(0xC0100000, Role.ENTRY, "vector_swi"),
        Function(0xC0100020, Role.SYSCALL, "sys_read"),
        Function(0xC0100030, Role.PLAIN, "memset"),
    ]
    assert text[3].role is Role.END
    assert [one for one in found if one.address >= 0xFFFF0000] == [
        Function(0xFFFF0000, Role.STUBS, "vectors"),
        Function(0xFFFF0020, Role.END, "end"),
        Function(0xFFFF1004, Role.STUBS, "vector_irq"),
        Function(0xFFFF2000, Role.END, "end"),
    ]
    # The image ends before the vectors.
    assert found[-5].role is Role.END and found[-5].address < 0xC0300000
    assert [one.address for one in found] == sorted({one.address for one in found})


def test_initcall_tables_of_addresses_of_thumb_code(kernel: Path) -> None:
    table = read_symbols(kernel)
    assert {table.name_at(address): level for address, level in read_initcall_levels(table).items()} == {
        "early_one": "early", "late_one": LEVELS[9], "console_one": "console",
    }  # fmt: skip


def test_a_decompressor_s_functions_are_where_the_image_is_loaded(tmp_path: Path) -> None:
    path = link(tmp_path, BOOTLOADER.replace('.section .secure_text, "ax"', ".text"), "-Ttext=0", "-e", "_start")
    subprocess.run([f"{PREFIX}objcopy", "-O", "binary", path, tmp_path / "zImage"], check=True)
    image = (tmp_path / "zImage").read_bytes()
    found = list_decompressor_functions(path.read_bytes(), "vmlinux", image, (0x42000000,))
    assert found is not None and (found[0].address, found[-1].role) == (0x42000000, Role.END)
    assert {"psci_cpu_on", "_start", "reset", "board_init_r"} <= {one.name for one in found}
