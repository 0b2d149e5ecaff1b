"""Links small programs of 32-bit arm out of assembler, with the real tools."""

import shutil
import subprocess
from pathlib import Path

import pytest

PREFIX = "arm-linux-gnueabihf-"
wants_assembler = pytest.mark.skipif(shutil.which(f"{PREFIX}as") is None, reason=f"{PREFIX}as is not installed")

BOOTLOADER = """
.syntax unified
.section .secure_text, "ax"
.arm
.globl psci_cpu_on
.type psci_cpu_on, %function
psci_cpu_on: bx lr
.size psci_cpu_on, . - psci_cpu_on
.text
.globl __image_copy_start, _start, save_boot_params_ret, switch_to_hypervisor_ret, reset, _end, decompress_kernel
__image_copy_start:
_start: b reset
reset: nop
save_boot_params_ret:
switch_to_hypervisor_ret: bl board_init_r
label: b label
.thumb
.thumb_func
.type board_init_r, %function
board_init_r: bx lr
.size board_init_r, . - board_init_r
.balign 4
decompress_kernel: nop
_end:
"""


def link(folder: Path, source: str, *words: str) -> Path:
    (folder / "code.s").write_text(source)
    subprocess.run([f"{PREFIX}as", "-march=armv7ve", "-o", "code.o", "code.s"], cwd=folder, check=True)
    subprocess.run([f"{PREFIX}ld", *words, "-o", "code", "code.o"], cwd=folder, check=True)
    return folder / "code"
