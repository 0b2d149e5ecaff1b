"""Calls by name and by pointer, in programs that the compilers really make."""

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
COMPILERS = {"x86_64": "x86_64-linux-gnu-gcc", "aarch64": "aarch64-linux-gnu-gcc"}


def symbols(program: Path) -> dict[str, int]:
    with program.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        return {one.name: one["st_value"] for one in table.iter_symbols() if one["st_info"]["type"] == "STT_FUNC"}


@pytest.mark.parametrize("arch", COMPILERS)
def test_who_names_whom(arch: str, tmp_path: Path) -> None:
    if shutil.which(COMPILERS[arch]) is None:
        pytest.skip(f"needs {COMPILERS[arch]}: make setup-build")
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(SOURCE)
    words = [COMPILERS[arch], "-O2", "-nostdlib", "-static", "-no-pie", "-fno-pie", str(source), "-o", str(program)]
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


def test_what_is_no_kernel(tmp_path: Path) -> None:
    path = tmp_path / "vmlinux"
    path.write_bytes(b"nothing")
    with pytest.raises(InputError, match="not a linked kernel"):
        NamedCalls(path, [])
