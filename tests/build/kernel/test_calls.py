"""Calls by name and by pointer, in programs that the compilers really make."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from bootlab.build.kernel.calls import NamedCalls
from bootlab.errors import InputError

SOURCE = """
#define APART __attribute__((noinline, noclone))
APART void leaf(void) { __asm__ volatile("" ::: "memory"); }
APART void other(void) { __asm__ volatile("nop" ::: "memory"); }
APART void tail(void) { __asm__ volatile("nop" ::: "memory"); leaf(); }
APART void perhaps(int x) { if (x) other(); __asm__ volatile("nop" ::: "memory"); }
void (*volatile offered)(void) = leaf;
APART void by_pointer(void) { offered(); offered(); }
void _start(void) { leaf(); tail(); perhaps(offered != 0); by_pointer(); for (;;) ; }
"""
ARM = "arm-linux-gnueabihf-gcc"
COMPILERS = {
    "x86_64": ["x86_64-linux-gnu-gcc"],
    "aarch64": ["aarch64-linux-gnu-gcc"],
    "arm": [ARM, "-marm"],
    "thumb": [ARM, "-mthumb"],
}


def symbols(program: Path) -> dict[str, int]:
    with program.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        thumb = 1 if table.elffile["e_machine"] == "EM_ARM" else 0
        functions = [one for one in table.iter_symbols() if one["st_info"]["type"] == "STT_FUNC"]
        return {one.name: one["st_value"] & ~thumb for one in functions}


@pytest.mark.parametrize("arch", COMPILERS)
def test_who_names_whom(arch: str, tmp_path: Path) -> None:
    if shutil.which(COMPILERS[arch][0]) is None:
        pytest.skip(f"needs {COMPILERS[arch][0]}: make setup-build")
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(SOURCE)
    words = [*COMPILERS[arch], "-O2", "-nostdlib", "-static", "-no-pie", "-fno-pie", str(source), "-o", str(program)]
    subprocess.run(words, check=True, capture_output=True)
    at = symbols(program)
    calls = NamedCalls(program, list(at.values()))
    named = {(caller, callee) for caller in at for callee in at if calls.has(at[caller], at[callee])}
    assert named == {
        ("_start", "leaf"),
        ("_start", "tail"),
        ("_start", "perhaps"),
        ("_start", "by_pointer"),
        ("tail", "leaf"),
        ("perhaps", "other"),
    }


FAR = """
#define APART __attribute__((noinline, noclone))
#define ARM_CODE __attribute__((target("arm")))
APART ARM_CODE void in_arm(void) { __asm__ volatile("nop" ::: "memory"); }
APART void in_thumb(void) { __asm__ volatile("" ::: "memory"); }
APART void far_off(void) { __asm__ volatile(".space 4096" ::: "memory"); }
APART ARM_CODE void from_arm(void) { in_thumb(); far_off(); __asm__ volatile("" ::: "memory"); }
APART void from_thumb(int x) { if (x) far_off(); in_arm(); __asm__ volatile("" ::: "memory"); }
APART void beside(int x) { if (x) in_thumb(); __asm__ volatile("nop" ::: "memory"); }
void _start(void) { from_arm(); from_thumb(1); beside(0); for (;;) ; }
"""


def test_arm_code_and_thumb_code_that_call_each_other_as_objdump_has_it(tmp_path: Path) -> None:
    if shutil.which(ARM) is None:
        pytest.skip(f"needs {ARM}: make setup-build")
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(FAR)
    words = [ARM, "-mthumb", "-O2", "-nostdlib", "-static", str(source), "-o", str(program)]
    subprocess.run(words, check=True, capture_output=True)
    at = symbols(program)
    calls = NamedCalls(program, list(at.values()))
    told = subprocess.run(["arm-linux-gnueabihf-objdump", "-d", program], check=True, capture_output=True, text=True)
    branches, caller = set[tuple[str, str]](), ""
    for line in told.stdout.splitlines():
        if head := re.match(r"[0-9a-f]{8} <(\w+)>:", line):
            caller = head[1]
        elif to := re.search(r"\t(?:b|cb)\S*\s.*<(\w+)>", line):
            branches.add((caller, to[1]))
    named = {(caller, callee) for caller in at for callee in at if calls.has(at[caller], at[callee])}
    assert named == branches >= {("from_arm", "in_thumb"), ("from_thumb", "in_arm"), ("from_thumb", "far_off")}


def test_what_is_no_kernel(tmp_path: Path) -> None:
    path = tmp_path / "vmlinux"
    path.write_bytes(b"nothing")
    with pytest.raises(InputError, match="not a linked kernel"):
        NamedCalls(path, [])
