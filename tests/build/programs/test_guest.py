"""bootlab's guest programs: static, for either architecture, and the same bytes from every build."""

import importlib.util
import platform
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from bootlab.build.cache import Cache
from bootlab.build.programs import guest

_MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64", "armv7": "EM_ARM", "riscv64": "EM_RISCV"}

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs ziglang")


@pytest.mark.parametrize("arch", _MACHINES)
def test_the_mark_program_is_static_and_repeatable(tmp_path: Path, arch: str) -> None:
    program = guest.compile_programs(arch, Cache(tmp_path / "first"))[guest.MARK]
    with program.open("rb") as file:
        elf = ELFFile(file)
        assert elf["e_machine"] == _MACHINES[arch]
        assert elf["e_type"] == "ET_EXEC"
        assert [part["p_type"] for part in elf.iter_segments() if part["p_type"] in ("PT_INTERP", "PT_DYNAMIC")] == []
    again = guest.compile_programs(arch, Cache(tmp_path / "second"))[guest.MARK]
    assert again.read_bytes() == program.read_bytes()


@pytest.mark.skipif(platform.machine() not in _MACHINES, reason="runs the program on this machine's CPU")
def test_the_mark_program_runs(tmp_path: Path) -> None:
    program = guest.compile_programs(platform.machine(), Cache(tmp_path))[guest.MARK]
    assert subprocess.run([program], check=False, stderr=subprocess.DEVNULL).returncode != 0


def test_facts_are_a_script_for_busybox(tmp_path: Path) -> None:
    facts = guest.compile_programs("x86_64", Cache(tmp_path))[guest.FACTS]
    assert facts.read_text(encoding="utf-8").startswith("#!")
