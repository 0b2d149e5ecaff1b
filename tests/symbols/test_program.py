"""Functions of real programs by file offset, held against what the compiler's own tools say."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.symbols.program import Program, belongs_to, read_program
from bootlab.symbols.roles import Role

pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("cc", "nm", "objcopy", "strip", "readelf")),
    reason="needs cc and binutils",
)

SOURCE = r"""
#include <stdio.h>
int shown = 3;
__attribute__((noinline)) static int inner(int value) { return value * shown; }
__attribute__((noinline)) int outer(int value) { return inner(value) + inner(value + 1); }
int renamed(int value) __attribute__((alias("outer")));
int main(int argc, char **argv) { return printf("%d %s\n", outer(argc), argv[0]) < 0; }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `program`, `library.so`, `stripped`, `program.debug` and `linked` (.gnu_debuglink)."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "program.c").write_text(SOURCE)
    commands = (
        "cc -O1 -Wl,--build-id=none -o program program.c",
        "cc -O1 -Wl,--build-id -o built program.c",
        "cc -O1 -shared -fPIC -o library.so program.c",
        "strip -o stripped built",
        "strip -o stripped.so library.so",
        "objcopy --only-keep-debug built built.debug",
        "objcopy --only-keep-debug program program.debug",
        "objcopy --strip-all --add-gnu-debuglink=program.debug program linked",
    )
    for command in commands:
        subprocess.run(command.split(), cwd=folder, check=True)
    return folder


def program_at(path: Path, *debug: Path) -> Program:
    found = read_program(path.read_bytes(), str(path), debug)
    assert found is not None
    return found


def offsets_by_nm(path: Path, *options: str, nm: str = "nm") -> dict[str, int]:
    """Return text symbol -> file offset, by nm(1) and readelf(1)."""
    segments = []
    for line in subprocess.check_output(["readelf", "-lW", path], text=True).splitlines():
        words = line.split()
        if words[:1] == ["LOAD"]:
            segments.append((int(words[1], 16), int(words[2], 16), int(words[4], 16)))
    found = {}
    for line in subprocess.check_output([nm, *options, path], text=True).splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwWi":
            address = int(words[0], 16)
            for offset, start, size in segments:
                if start <= address < start + size:
                    found[words[2].split("@")[0]] = offset + address - start
    return found


def by_name(program: Program) -> dict[str, int]:
    return {name: address for address, role, name in program.functions if role is Role.PLAIN}


@pytest.mark.parametrize("name", ["program", "built", "library.so"])
def test_offsets_are_those_of_nm(folder: Path, name: str) -> None:
    program, theirs = program_at(folder / name), offsets_by_nm(folder / name)
    ours = by_name(program)
    assert {"main", "inner", "outer"} <= set(ours)
    assert ours == {each: theirs[each] for each in ours}
    assert "renamed" not in ours, "an alias of another function"
    assert "shown" not in ours
    assert not program.stripped
    assert program.arch == os.uname().machine


ARM_SOURCE = """
__attribute__((noinline, target("arm"))) int in_a32(int value) { return value * 3; }
__attribute__((noinline, target("thumb"))) int in_t32(int value) { return in_a32(value) + 1; }
void _start(void) { in_t32(2); }
"""


@pytest.mark.skipif(shutil.which("arm-linux-gnueabihf-gcc") is None, reason="needs gcc-arm-linux-gnueabihf")
@pytest.mark.parametrize("instructions", ["-marm", "-mthumb"])
def test_a_program_for_32_bit_arm(tmp_path: Path, instructions: str) -> None:
    (tmp_path / "program.c").write_text(ARM_SOURCE)
    words = f"arm-linux-gnueabihf-gcc -O1 -nostdlib -static {instructions} -march=armv7-a -mfloat-abi=hard -mfpu=neon"
    subprocess.run([*words.split(), "-o", "program", "program.c"], cwd=tmp_path, check=True)
    program = program_at(tmp_path / "program")
    ours = by_name(program)
    # nm takes the odd addresses of T32 functions for what they are, too.
    theirs = offsets_by_nm(tmp_path / "program", nm="arm-linux-gnueabihf-nm")
    assert {"_start", "in_a32", "in_t32"} <= set(ours)
    assert ours == {each: theirs[each] for each in ours}
    assert program.arch == "armv7"


def test_lines_are_in_order_and_closed(folder: Path) -> None:
    functions = program_at(folder / "program").functions
    addresses = [function.address for function in functions]
    assert addresses == sorted(set(addresses))
    assert functions[-1].role is Role.END
    assert {function.name for function in functions if function.role is Role.THUNK} >= {".plt"}


def test_a_stripped_library_still_has_its_dynamic_symbols(folder: Path) -> None:
    program = program_at(folder / "stripped.so")
    ours = by_name(program)
    assert program.stripped
    assert {"main", "outer"} <= set(ours)
    assert "inner" not in ours
    theirs = offsets_by_nm(folder / "stripped.so", "-D")
    assert ours == {name: theirs[name] for name in ours}
    # What lies between exported functions is not theirs.
    between = by_name(program_at(folder / "library.so"))["inner"]
    before = [function for function in program.functions if function.address <= between][-1]
    assert before.name != "inner"


def test_a_stripped_program_has_none(folder: Path) -> None:
    program = program_at(folder / "stripped")
    assert program.stripped
    assert program.build_id is not None
    assert not {"main", "inner", "outer"} & set(by_name(program))


def test_debug_files_by_build_id_and_by_link(folder: Path) -> None:
    whole = by_name(program_at(folder / "built"))
    debug = [folder / "program.debug", folder / "built.debug"]
    assert by_name(program_at(folder / "stripped", *debug)) == whole
    assert program_at(folder / "linked").debug_link == "program.debug"
    assert by_name(program_at(folder / "linked", *debug)) == by_name(program_at(folder / "program"))
    assert not {"inner"} & set(by_name(program_at(folder / "stripped", debug[0]))), "of another build"


def test_a_file_belongs_to_a_program_of_its_own_build_only(folder: Path) -> None:
    def belongs(name: str, program: str) -> bool:
        path = folder / name
        return belongs_to(path, path.read_bytes(), (folder / program).read_bytes())

    assert belongs("built", "stripped") and belongs("built.debug", "stripped"), "by build ID"
    assert belongs("program", "linked"), "by its code"
    assert belongs("program.debug", "linked"), "by the name that the program asks for"
    assert not belongs("library.so", "stripped") and not belongs("library.so", "linked")
    assert not belongs("built.debug", "linked") and not belongs("program.debug", "stripped")
    assert by_name(program_at(folder / "linked", folder / "program")) == by_name(program_at(folder / "program"))


def test_a_debug_file_that_is_none(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a debug file\n")
    assert by_name(program_at(folder / "stripped", tmp_path / "text")) == by_name(program_at(folder / "stripped"))
    with pytest.raises(InputError, match="debug file"):
        program_at(folder / "stripped", tmp_path / "gone")


def test_what_is_no_program() -> None:
    assert read_program(b"", "empty") is None
    assert read_program(b"#!/bin/sh\n", "script") is None
    assert read_program(b"\x7fELF\x01\x01" + bytes(100), "32 bits") is None


def test_damage_is_told(folder: Path) -> None:
    data = (folder / "program").read_bytes()
    outcomes = set()
    for size in [*range(0, 200, 7), *range(200, len(data), 997)]:
        try:
            read_program(data[:size], "cut")
        except InputError as error:
            assert "cut: truncated or damaged" in error.message
            outcomes.add("told")
    for at in [*range(16, 64), *range(len(data) - 2000, len(data), 13)]:
        try:
            read_program(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :], "damaged")
        except InputError:
            outcomes.add("told")
    assert outcomes == {"told"}
