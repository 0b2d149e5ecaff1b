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


def test_facts_of_an_installed_system_come_on_top_of_those_that_there_are(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    plain = {guest.FACTS: tmp_path / "facts"}
    above = guest.add_system_facts(plain)
    assert above[guest.FACTS].name == "facts_system.sh" and above[f"{guest.FACTS}.plain"] == plain[guest.FACTS]
    devices = guest.add_system_facts(plain | guest.compile_coldplug(platform.machine(), cache, record=True))
    names = [devices[f"{guest.FACTS}{rest}"].name for rest in ("", ".plain", ".plain.plain")]
    assert names == ["facts_system.sh", "facts_devices.sh", "facts.sh"]
    for name in names[:2]:
        assert '"$0.plain"' in (guest.GUEST / name).read_text()
