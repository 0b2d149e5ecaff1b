"""The objects of a kernel, from a linker's map and kbuild's .cmd files as they are written."""

from pathlib import Path

import pytest

from bootlab.build.kernel.objects import collect_objects, read_objects
from bootlab.errors import InputError

MAP = """
Archive member included to satisfy reference by file (symbol)

lib/cmdline.o                 init/main.o (get_option)

Linker script and memory map

.text           0xffffffff81000000   0x600000 load address 0x0000000001000000
                0xffffffff81000000                _text = .
 *(.text .text.fixup)
 .text          0xffffffff81000000       0xcf init/main.o
 *fill*         0xffffffff810000cf        0x1 cccccccc
 .text          0xffffffff810000d0        0x0 init/version.o
 .text          0xffffffff810000d0       0x30 lib/lib.a(cmdline.o)
                0xffffffff810000d0                get_option
 .text.unlikely.somewhere_far
                0xffffffff81000100       0x10 init/main.o
 .comment       0x0000000000000000       0x26 init/main.o
"""
CMD = """savedcmd_init/main.o := gcc -c -o init/main.o {tree}/init/main.c

source_init/main.o := {tree}/init/main.c

deps_init/main.o := \\
    $(wildcard include/config/SMP) \\
    $(wildcard include/config/BLK_DEV_INITRD) \\
  {tree}/include/linux/types.h \\
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    objects = tmp_path / "objects"
    (objects / "init").mkdir(parents=True)
    (objects / "vmlinux.map").write_text(MAP)
    (objects / "init" / ".main.o.cmd").write_text(CMD.format(tree=tmp_path / "tree"))
    return objects


def test_addresses_sources_and_options(folder: Path, tmp_path: Path) -> None:
    found = collect_objects(folder, tmp_path / "tree")
    assert found is not None
    main, cmdline = found.objects
    assert (main.path, main.source, main.size) == ("init/main.o", "init/main.c", 0xCF + 0x10)
    assert main.reads == {"SMP", "BLK_DEV_INITRD"}
    assert (cmdline.path, cmdline.source) == ("lib/cmdline.o", None)
    places = {0xFFFFFFFF81000000: 0, 0xFFFFFFFF810000CE: 0, 0xFFFFFFFF810000D0: 1, 0xFFFFFFFF8100010F: 0}
    assert {address: found.at(address) for address in places} == places
    for nowhere in (0xFFFFFFFF80FFFFFF, 0xFFFFFFFF810000CF, 0xFFFFFFFF81000110):
        assert found.at(nowhere) is None


def test_saved_and_read_again(folder: Path, tmp_path: Path) -> None:
    found = collect_objects(folder, tmp_path / "tree")
    assert found is not None
    found.save(tmp_path / "objects.json")
    assert read_objects(tmp_path / "objects.json") == found


def test_no_map(tmp_path: Path) -> None:
    assert collect_objects(tmp_path, tmp_path) is None


@pytest.mark.parametrize("text", ["", "{}", '{"objects": [1], "places": []}', "[]"])
def test_damaged(tmp_path: Path, text: str) -> None:
    (tmp_path / "objects.json").write_text(text)
    with pytest.raises(InputError, match="no list of a kernel's objects"):
        read_objects(tmp_path / "objects.json")
