"""Offsets from BTF that an encoder of the test's own wrote, in files that have other things around it."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.symbols.btf import Btf, find_btf, read_btf

INT, POINTER, ARRAY, STRUCT, UNION, ENUM, FORWARD, TYPEDEF, CONST = 1, 2, 3, 4, 5, 6, 7, 8, 10
FUNCTION, PROTOTYPE, VARIABLE, SECTION, FLOAT, DECL_TAG, TYPE_TAG, ENUM64 = 12, 13, 14, 15, 16, 17, 18, 19
Member = tuple[str, int, int]


class Writer:
    """BTF as pahole writes it: every string once, types numbered from 1."""

    def __init__(self) -> None:
        self.types = b""
        self.strings = b"\0"
        self.count = 0

    def string(self, text: str) -> int:
        data = text.encode() + b"\0"
        at = self.strings.find(b"\0" + data) if text else -1
        if not text:
            return 0
        if at < 0:
            at = len(self.strings) - 1
            self.strings += data
        return at + 1

    def add(self, name: str, kind: int, size_or_type: int, *words: int, vlen: int = 0, flag: bool = False) -> int:
        info = vlen | kind << 24 | flag << 31
        self.types += struct.pack(f"<3I{len(words)}I", self.string(name), info, size_or_type, *words)
        self.count += 1
        return self.count

    def struct(self, name: str, size: int, members: list[Member], *, union: bool = False, flag: bool = False) -> int:
        words = [word for each, kind, bits in members for word in (self.string(each), kind, bits)]
        return self.add(name, UNION if union else STRUCT, size, *words, vlen=len(members), flag=flag)

    def data(self) -> bytes:
        header = struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(self.types), len(self.types), len(self.strings))
        return header + self.types + self.strings


@pytest.fixture(scope="module")
def blob() -> bytes:
    """Return types with one of every kind, task_struct last."""
    w = Writer()
    number = w.add("int", INT, 4, 32)
    character = w.add("char", INT, 1, 8)
    text = w.add("", ARRAY, 0, character, number, 16)
    pointer = w.add("", POINTER, character)
    w.add("other", FORWARD, 0)
    w.add("mode", ENUM, 4, w.string("MODE_A"), 0, w.string("MODE_B"), 4, vlen=2)
    w.add("wide", ENUM64, 8, w.string("WIDE_A"), 7, 1, vlen=1)
    w.add("main", FUNCTION, w.add("", PROTOTYPE, number, w.string("argc"), number, vlen=1))
    variable = w.add("jiffies", VARIABLE, number, 1)
    w.add(".data", SECTION, 64, variable, 0, 4, vlen=1)
    w.add("double", FLOAT, 8)
    w.add("tagged", DECL_TAG, number, 0xFFFFFFFF)
    entity = w.struct("sched_entity", 64, [("on_rq", number, 8), ("name", pointer, 64)])
    entity_t = w.add("entity_t", TYPEDEF, w.add("", CONST, w.add("user", TYPE_TAG, entity)))
    inner = w.struct("", 8, [("pid", number, 0), ("tgid", number, 32)])
    choice = w.struct("", 16, [("", inner, 64), ("raw", text, 0)], union=True)
    # Bit fields: size in the upper 8 bits of the word, offset below.
    flags = w.struct("", 4, [("a", number, 1 << 24 | 0), ("b", number, 3 << 24 | 5)], flag=True)
    w.struct("task_struct", 8, [("unlike", number, 0)])
    w.struct(
        "task_struct",
        4096,
        [("state", number, 0), ("", choice, 64), ("se", entity_t, 512), ("", flags, 1024), ("comm", text, 2048)],
    )
    return w.data()


@pytest.fixture(scope="module")
def types(blob: bytes) -> Btf:
    found = find_btf(blob)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("path", "offset"),
    [
        ("task_struct.state", 0),
        ("task_struct.comm", 256),
        ("task_struct.raw", 8),
        ("task_struct.pid", 16),
        ("task_struct.tgid", 20),
        ("task_struct.se", 64),
        ("task_struct.se.on_rq", 65),
        ("task_struct.se.name", 72),
        ("task_struct.a", 128),
        ("task_struct.unlike", 0),
        ("sched_entity.name", 8),
        # A bit field inside a byte, a pointer's target, things that are not there.
        ("task_struct.b", None),
        ("task_struct.se.name.first", None),
        ("task_struct.nothing", None),
        ("task_struct.se.state", None),
        ("task_struct", None),
        ("task_struct.", None),
        ("nothing.state", None),
        ("", None),
        ("int.state", None),
        ("mode.MODE_A", None),
    ],
)
def test_offsets(types: Btf, path: str, offset: int | None) -> None:
    assert types.offset(path) == offset


def test_sizes_and_enumerators(types: Btf) -> None:
    assert types.size("sched_entity") == 64
    assert types.size("mode") is None
    assert types.size("nothing") is None
    assert types.enumerator("mode", "MODE_B") == 4
    assert types.enumerator("wide", "WIDE_A") == 7
    assert types.enumerator("mode", "WIDE_A") is None
    assert types.enumerator("sched_entity", "name") is None


def test_found_inside_an_image_behind_false_starts(tmp_path: Path, blob: bytes) -> None:
    path = tmp_path / "Image"
    false_starts = b"\x9f\xeb\x01\x00" + bytes(40) + blob[:60] + b"\xff" * 24
    path.write_bytes(b"MZ" + bytes(1001) + false_starts + blob + bytes(4096))
    found = read_btf(path)
    assert found is not None
    assert found.offset("task_struct.comm") == 256


@pytest.mark.parametrize("size", [0, 1, 23, 24, 100, -1])
def test_cut_off_is_none(blob: bytes, size: int) -> None:
    assert find_btf(blob[:size]) is None


def test_damage_never_ends_in_a_traceback(blob: bytes) -> None:
    for at in range(len(blob)):
        found = find_btf(blob[:at] + bytes([blob[at] ^ 0xFF]) + blob[at + 1 :])
        if found is not None:
            found.offset("task_struct.se.name")
            found.size("task_struct")
            found.enumerator("mode", "MODE_B")


def test_a_struct_inside_itself_ends() -> None:
    w = Writer()
    w.struct("task_struct", 8, [("", 1, 0), ("", 1, 32), ("", 1, 64), ("state", 1, 0)])
    found = find_btf(w.data())
    assert found is not None
    assert found.offset("task_struct.nothing") is None
    assert found.offset("task_struct.state") == 0


def test_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "other").write_bytes(b"no types in here" * 1000)
    with pytest.raises(InputError, match="empty"):
        read_btf(tmp_path / "empty")
    with pytest.raises(InputError, match="no such file"):
        read_btf(tmp_path / "gone")
    assert read_btf(tmp_path / "other") is None


COMPILED = r"""
#include <stddef.h>
#include <stdio.h>
struct name { int hash; const char *text; };
struct entry {
    long pid;
    union { char inside[3]; struct { short a, pid_too; }; };
    struct name name;
    struct entry *next;
};
struct other { char text, pid, next; };
struct entry *entries;
struct other *others;
#ifdef PRINT
int main(void)
{
	printf("entry.pid %zu\n", offsetof(struct entry, pid));
	printf("entry.pid_too %zu\n", offsetof(struct entry, pid_too));
	printf("entry.name.text %zu\n", offsetof(struct entry, name.text));
	printf("entry.next %zu\n", offsetof(struct entry, next));
	printf("other.pid %zu\n", offsetof(struct other, pid));
	printf("other.next %zu\n", offsetof(struct other, next));
	return 0;
}
#endif
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs cc")
def test_types_that_the_compiler_writes(tmp_path: Path) -> None:
    # It writes a string once for each use, unlike pahole.
    (tmp_path / "types.c").write_text(COMPILED)
    for words in ("-gbtf -c -o types.o types.c", "-DPRINT -o types types.c"):
        subprocess.run(["cc", *words.split()], cwd=tmp_path, check=True)
    types = read_btf(tmp_path / "types.o")
    assert types is not None
    printed = subprocess.check_output([tmp_path / "types"], text=True).splitlines()
    assert {line.split()[0]: int(line.split()[1]) for line in printed} == {
        path: types.offset(path) for path in (line.split()[0] for line in printed)
    }
