"""What the plugin is told for a profile, and how a functions file is read again."""

import json
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.profile.asked.profiling import (
    DECOMPRESSOR,
    FUNCTIONS,
    UBOOT,
    KernelFacts,
    function_names,
    functions_text,
    make_profile_config,
    read_functions,
    read_kernel_facts,
)
from bootlab.symbols.functions import Function
from bootlab.symbols.program import Program
from bootlab.symbols.roles import Role
from bootlab.symbols.table import read_symbols
from tests.symbols import conftest as kernels

BASE = kernels.X86_BASE
FACTS = KernelFacts(
    functions=((BASE, Role.PLAIN, "startup_64"), (BASE + 16, Role.ENTRY, "asm_exc_nmi"), (BASE + 32, Role.END, "end")),
    hooks={"switch": BASE + 16, "wake": BASE + 24},
    offsets={"task_struct.comm": 2976, "module_memory": 72},
    initcall_levels={BASE + 16: "early"},
    missing=("no types",),
)


def program(*functions: Function) -> Program:
    return Program(arch="x86_64", build_id=None, debug_link=None, stripped=False, functions=functions)


BUSYBOX = program(Function(0x1000, Role.PLAIN, "main"), Function(0x1010, Role.END, "end"))


def test_lines_and_files() -> None:
    config = make_profile_config(FACTS, span_ns=5000, programs={"/bin/busybox": BUSYBOX, "/bin/stripped": program()})
    assert config.text(Path("/run/1")).splitlines() == [
        "functions /run/1/functions.txt",
        f"hook switch {BASE + 16:x}",
        f"hook wake {BASE + 24:x}",
        "offset task_struct.comm 2976",
        "offset module_memory 72",
        "span 5000",
        "object /bin/busybox /run/1/functions-1.txt",
    ]
    assert config.files == {
        FUNCTIONS: "bootlab-functions 1\nffffffff81000000 - startup_64\n"
        "ffffffff81000010 entry asm_exc_nmi\nffffffff81000020 end end\n",
        "functions-1.txt": "bootlab-functions 1\n1000 - main\n1010 end end\n",
    }


def test_the_decompressor_is_an_object() -> None:
    functions = [Function(0x100200, Role.PLAIN, "startup_64"), Function(0x100300, Role.END, "end")]
    config = make_profile_config(FACTS, stages={UBOOT: (), DECOMPRESSOR: functions})
    assert config.text(Path("/run/1")).splitlines()[-1] == "object [decompressor] /run/1/functions-1.txt"
    assert config.files["functions-1.txt"] == "bootlab-functions 1\n100200 - startup_64\n100300 end end\n"


def test_a_bootloader_moves() -> None:
    functions = [Function(0x4A000000, Role.PLAIN, "_start"), Function(0x4A000100, Role.END, "end")]
    config = make_profile_config(FACTS, stages={UBOOT: functions}, relocate=(0x4A000040, 0x4A000000))
    lines = config.text(Path("/run/1")).splitlines()
    assert "hook relocate 4a000040 4a000000" in lines and "object [U-Boot] /run/1/functions-1.txt" in lines


def test_names_that_the_format_cannot_hold() -> None:
    deep = "/" + "long/" * 20 + "program"
    config = make_profile_config(FACTS, programs={deep: BUSYBOX, "/bin/two words": BUSYBOX, "/opt/program": BUSYBOX})
    assert config.objects == {"program": "functions-1.txt", "/opt/program": "functions-2.txt"}
    with pytest.raises(InputError, match="newline"):
        config.text(Path("/tmp/two\nlines"))
    with pytest.raises(InputError, match="span"):
        make_profile_config(FACTS, span_ns=-1)


def test_facts_survive_the_cache() -> None:
    assert KernelFacts.from_json(json.loads(json.dumps(FACTS.as_json()))) == FACTS
    assert FACTS.names == ["startup_64", "asm_exc_nmi", ""]
    with pytest.raises(KeyError):
        KernelFacts.from_json({})


def test_a_functions_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / FUNCTIONS
    rows = [*FACTS.functions, (BASE + 64, "-", "operator new(unsigned long)")]
    path.write_text(functions_text(rows))
    assert read_functions(path) == rows
    assert function_names(read_functions(path)) == ["startup_64", "asm_exc_nmi", "", "operator new(unsigned long)"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not a functions file"),
        ("bootlab-functions 2\n", "not a functions file"),
        ("bootlab-functions 1\n10 - a\nwhat\n", ":3: not a line"),
        ("bootlab-functions 1\n10 -\n", ":2: not a line"),
        ("bootlab-functions 1\n\xff", "not UTF-8"),
    ],
)
def test_what_is_no_functions_file(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / FUNCTIONS
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=complaint):
        read_functions(path)
    with pytest.raises(InputError, match="No such file"):
        read_functions(tmp_path / "gone")


def test_a_kernel_without_types_and_tables(tmp_path: Path) -> None:
    tables = kernels.Tables(kernels.some_symbols(BASE), "6.12", BASE)
    path = tmp_path / "vmlinux"
    path.write_bytes(kernels.x86_elf(bytes(0x6000) + tables.data))
    facts = read_kernel_facts(read_symbols(path))
    assert facts.hooks == {}
    assert facts.offsets == {"module.name": 24, "device_driver.name": 0}
    assert facts.initcall_levels == {}
    assert len(facts.functions) > 600
    text = "\n".join(facts.missing)
    assert "no function __switch_to: stacks of different tasks" in text
    assert "CONFIG_DEBUG_INFO_BTF" in text
    assert "initcall tables" in text
    # What is left is still a config.
    settings = make_profile_config(facts).settings
    assert settings == ("offset module.name 24", "offset device_driver.name 0", "span 20000")
