"""The C of the tree: no circle among its files, no declaration without a function, each function behind its own header.

A room is a .c file with the .h of its name. It leans on another one if it includes that one's header or calls a
function that only that one defines. The source is read as text, without a compiler, so it takes a second.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from tests.test_architecture import find_circle

ROOT = Path(__file__).resolve().parent.parent
# Where a path in an #include may begin, besides the folder of the file itself: the Makefiles' -I.
FOLDERS = {"guest": ("guest", "guest/init"), "plugin": ("plugin",)}
# QEMU's functions, which QEMU defines.
FOREIGN = {"plugin/qemu_plugin_api"}
# Called by the C library, or by QEMU; and those of the C library that guest/shared/memory.c stands in for.
ENTRIES = {"main", "_start", "start", "qemu_plugin_install", "memset", "memcpy"}
# One header for the instruction sets of all architectures.
SHARED_HEADER = {
    "plugin/code/arm_instructions": "plugin/code/instructions",
    "plugin/code/riscv_instructions": "plugin/code/instructions",
}

_COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# Everything at the left margin: a definition's parameters end before its brace, a declaration's before its semicolon.
_FUNCTION = re.compile(
    r"^(?!static|typedef|struct [^(]*\{|#)[A-Za-z_][\w \t*()\",]*?\b(\w+)\(([^;{}]*)\)\s*([;{])", re.MULTILINE
)
_ATTRIBUTE = re.compile(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)\s*")
_WORD = re.compile(r"\b[a-z_]\w*\b")
_CALL = re.compile(r"(?<![.>])\b([a-z_]\w*)\(")


@dataclass
class Room:
    """A .c file with the .h of its name: what it includes, calls, says, declares in the header and defines."""

    includes: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    declares: set[str] = field(default_factory=set)
    defines: set[str] = field(default_factory=set)


def functions(text: str, end: str) -> set[str]:
    """Return the functions whose definitions (`end` is "{") or declarations (";") stand in a text without comments."""
    return {name for name, _, mark in _FUNCTION.findall(text) if mark == end}


def room_name(path: Path, root: Path) -> str:
    """Return the room of a file: its path without what tells source from header."""
    return path.relative_to(root).with_suffix("").as_posix()


def read_rooms(root: Path, top: str) -> dict[str, Room]:
    """Return name -> room for a top folder of a tree, tests included."""
    rooms: dict[str, Room] = defaultdict(Room)
    for path in sorted((root / top).rglob("*.[ch]")):
        text = path.read_text()
        bare = _ATTRIBUTE.sub("", _COMMENT_OR_TEXT.sub(" ", text))
        room = rooms[room_name(path, root)]
        for name in _INCLUDE.findall(text):
            tried = (folder / name for folder in (path.parent, *(root / folder for folder in FOLDERS[top])))
            found = next((file.resolve() for file in tried if file.is_file()), None)
            assert found is not None, f"{path.relative_to(root)}: #include {name}: there is no such file"
            room.includes.add(room_name(found, root.resolve()))
        room.words |= set(_WORD.findall(bare))
        room.calls |= set(_CALL.findall(_FUNCTION.sub("", bare)))
        (room.defines if path.suffix == ".c" else room.declares).update(
            functions(bare, "{" if path.suffix == ".c" else ";")
        )
    return dict(rooms)


def is_test(name: str) -> bool:
    """Return whether a room is a test's."""
    return "tests" in name.split("/")


def leanings(rooms: dict[str, Room]) -> dict[str, dict[str, set[str]]]:
    """Return room -> other room -> what it takes from there: its header, or functions that it alone defines."""
    owners = defaultdict(list)
    rooms = {name: room for name, room in rooms.items() if not is_test(name)}
    for name, room in rooms.items():
        for function in room.defines - ENTRIES:
            owners[function].append(name)
    found: dict[str, dict[str, set[str]]] = {name: defaultdict(set) for name in rooms}
    for name, room in rooms.items():
        for other in room.includes - {name}:
            found[name][other].add("its header")
        for called in room.calls:
            if len(owners[called]) == 1 and owners[called] != [name]:
                found[name][owners[called][0]].add(called)
    return found


def circle(rooms: dict[str, Room]) -> list[str]:
    """Return a line for each step of a circle among the rooms; empty without one."""
    leans = leanings(rooms)
    way = find_circle(leans)
    return [f"{a} -> {b}: {', '.join(sorted(leans[a][b]))}" for a, b in pairwise(way)]


def misplaced(rooms: dict[str, Room]) -> Iterator[str]:
    """Yield a line for each declaration without a function or a use, and for each function that its header lacks."""
    defined = {function for room in rooms.values() for function in room.defines}
    for name, room in rooms.items():
        if is_test(name) or name in FOREIGN:
            continue
        said = {word for other, others in rooms.items() if other != name for word in others.words}
        yield from (f"{name}.h: {function}() is defined nowhere" for function in sorted(room.declares - defined))
        yield from (f"{name}.h: nobody else takes {function}()" for function in sorted(room.declares & defined - said))
        header = rooms[SHARED_HEADER.get(name, name)].declares
        yield from (
            f"{name}.c: {function}() is neither static nor declared in its header"
            for function in sorted(room.defines - header - ENTRIES)
        )


@cache
def tree(top: str) -> dict[str, Room]:
    """Return the rooms of this tree."""
    return read_rooms(ROOT, top)


@pytest.mark.parametrize("top", FOLDERS)
def test_c_files_lean_on_each_other_in_no_circle(top: str) -> None:
    found = circle(tree(top))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("top", FOLDERS)
def test_every_function_is_behind_its_own_header(top: str) -> None:
    found = list(misplaced(tree(top)))
    assert not found, "\n" + "\n".join(found)


def test_every_file_says_what_it_is_for() -> None:
    """A stranger who opens a file reads that first, behind the licence and before the first #include."""
    files = [path for top in FOLDERS for path in (ROOT / top).rglob("*.[ch]") if "build" not in path.parts]
    assert len(files) > 100
    assert not [path for path in files if re.match(r"/\* SPDX-[^\n]*\n/\*\s", path.read_text()) is None]


@pytest.mark.parametrize("top", FOLDERS)
def test_the_c_files_are_read(top: str) -> None:
    """What is found in them is no less than there is: a reader that finds nothing would pass everything."""
    rooms = tree(top)
    assert sum(len(room.defines) for name, room in rooms.items() if not is_test(name)) > 100
    assert all(room.defines or room.declares or not (ROOT / f"{name}.c").is_file() for name, room in rooms.items())


def written(root: Path, files: dict[str, str]) -> dict[str, Room]:
    for name, text in files.items():
        (root / "plugin" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "plugin" / name).write_text(text)
    return read_rooms(root, "plugin")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {
                "a.c": '#include "b.h"\nint a(void)\n{\n\treturn b();\n}\n',
                "b.h": "int b(void);\n",
                "b.c": "int b(void)\n{\n}\n",
            },
            [],
        ),
        (
            {
                "a.h": "int a(void);\n",
                "a.c": '#include "b.h"\nint a(void)\n{\n\treturn b();\n}\n',
                "b.h": "int b(void);\n",
                "b.c": "int a(void);\nint b(void)\n{\n\treturn a();\n}\n",
            },
            {"plugin/a -> plugin/b: b, its header", "plugin/b -> plugin/a: a"},
        ),
        (
            {"a.h": '#include "sub/b.h"\n', "sub/b.h": "int b(void);\n", "sub/b.c": '#include "../a.h"\n'},
            {"plugin/a -> plugin/sub/b: its header", "plugin/sub/b -> plugin/a: its header"},
        ),
        # In a comment or a text it is no call; and what two define may be either's.
        ({"a.c": "int a(void)\n{\n}\n", "b.c": '/* a() */ int b(void)\n{\n\tputs("a()");\n}\n'}, []),
        (
            {"a.c": "int f(void)\n{\n\tg();\n}\n", "b.c": "int g(void)\n{\n}\n", "c.c": "int g(void)\n{\n\tf();\n}\n"},
            [],
        ),
    ],
)
def test_a_circle_is_found(tmp_path: Path, files: dict[str, str], expected: set[str] | list[str]) -> None:
    assert set(circle(written(tmp_path, files))) == set(expected)


def test_what_is_misplaced_is_found(tmp_path: Path) -> None:
    rooms = written(
        tmp_path,
        {
            "a.h": "int a_there(struct x *x);\n__attribute__((format(printf, 1, 2)))\nvoid a_gone(const char *);\n",
            "a.c": "static int own(void)\n{\n}\n\nint a_there(struct x *x)\n{\n}\n\nunsigned *b_here(int i)\n{\n}\n",
            "c.h": "int c_own(void);\nint c_tried(void);\n",
            "c.c": "int c_own(void)\n{\n}\n\nint c_tried(void)\n{\n\treturn a_there(0) + c_own();\n}\n",
            "tests/test_c.c": "int main(void)\n{\n\treturn c_tried();\n}\n",
        },
    )
    assert list(misplaced(rooms)) == [
        "plugin/a.h: a_gone() is defined nowhere",
        "plugin/a.c: b_here() is neither static nor declared in its header",
        "plugin/c.h: nobody else takes c_own()",
    ]
