"""A source file as init becomes a static program of the machine's architecture.

In the user's cache: zig compiles its C library on first use, which takes a minute.
"""

import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from bootlab.build.cache import Cache
from bootlab.build.programs import guest
from bootlab.build.programs.static_program import compile_static, with_programs
from bootlab.build.programs.symbols import read_program_symbols
from bootlab.errors import InputError
from bootlab.system import Booted, Initramfs, Kernel, Machine, MachineType, System
from tests.boot.conftest import EXAMPLES

pytestmark = pytest.mark.boot
SYSTEM = System(
    name="pc",
    machine=Machine(type=MachineType.Q35),
    kernel=Kernel(package="linux-image-cloud-amd64"),
    booted=Booted(mark="ready"),
)
HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'


@pytest.mark.parametrize(("arch", "machine"), [("x86_64", "EM_X86_64"), ("aarch64", "EM_AARCH64")])
def test_c_becomes_a_static_program(tmp_path: Path, cache: Cache, arch: str, machine: str) -> None:
    source = tmp_path / "hello.c"
    source.write_text(HELLO)
    made = compile_static(source, arch, cache)
    with made.open("rb") as file:
        elf = ELFFile(file)
        assert elf["e_machine"] == machine
        assert not [segment for segment in elf.iter_segments() if segment["p_type"] == "PT_INTERP"]


@pytest.mark.parametrize(
    ("arch", "kind"), [("x86_64", MachineType.Q35), ("aarch64", MachineType.VIRT), ("riscv64", MachineType.VIRT)]
)
def test_the_linker_names_what_a_stripped_program_is_made_of(cache: Cache, arch: str, kind: MachineType) -> None:
    source = EXAMPLES / "services" / "application.c"
    recipe = Initramfs(bootlab_init=True, files={"bin/application": source})
    system = SYSTEM.model_copy(update={"initramfs": recipe, "machine": Machine(type=kind, architecture=arch)})
    found = read_program_symbols(system, cache)
    assert {"main", "__libc_start_main"} <= {function.name for function in found["/bin/application"].functions}
    assert {"main", "units_socket"} <= {function.name for function in found[guest.INIT].functions}
    assert {"main"} <= {function.name for function in found[guest.CTL].functions}


def test_every_call_of_a_program_is_to_a_function_that_the_linker_named(cache: Cache) -> None:
    program = guest.compile_runtime("x86_64", cache)[guest.INIT]
    with program.open("rb") as file:
        text = ELFFile(file).get_section_by_name(".text")
        shift = text["sh_addr"] - text["sh_offset"]
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", program], capture_output=True, text=True, check=True
    )
    called = {int(line.split()[2], 16) - shift for line in listing.stdout.splitlines() if "\tcall   0x" in line}
    system = SYSTEM.model_copy(update={"initramfs": Initramfs(bootlab_init=True)})
    starts = {function.address for function in read_program_symbols(system, cache)[guest.INIT].functions}
    print(f"{len(called & starts)} of {len(called)}")
    assert len(called) > 300 and called <= starts


def test_the_same_source_elsewhere_gives_the_same_bytes(tmp_path: Path, cache: Cache) -> None:
    made = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "zig").symlink_to(cache.root / "zig")
        source = tmp_path / folder / "hello.c"
        source.write_text(HELLO)
        made.append(compile_static(source, "x86_64", Cache(tmp_path / folder)).read_bytes())
    assert made[0] == made[1]


def test_only_sources_of_a_recipe_are_replaced(tmp_path: Path, cache: Cache) -> None:
    source, plain = tmp_path / "hello.c", tmp_path / "motd"
    source.write_text(HELLO)
    plain.write_text("welcome\n")
    recipe = Initramfs(init=source, files={"/etc/motd": plain, "/bin/hello": source})
    made = with_programs(recipe, "x86_64", cache)
    assert made.files["/etc/motd"] == plain
    assert made.init == made.files["/bin/hello"] != source


def test_the_compilers_own_words_are_in_the_error(tmp_path: Path, cache: Cache) -> None:
    source = tmp_path / "broken.c"
    source.write_text("int main(void) { return nothing; }\n")
    with pytest.raises(InputError, match="broken.c: does not compile") as error:
        compile_static(source, "x86_64", cache)
    assert "nothing" in error.value.message
