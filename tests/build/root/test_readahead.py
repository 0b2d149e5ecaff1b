"""What is read ahead, as it lies in a root: packs of files, consoles and facts; init beside it; files in boot order."""

import zlib
from pathlib import Path

import pytest

from bootlab.build.formats.cpio import Entry
from bootlab.build.root.file_tree import FileTree
from bootlab.build.root.printed import Learned
from bootlab.build.root.readahead import (
    PACKS,
    identify_readahead,
    in_boot_order,
    lay_readahead,
    layout_of,
    learned_pack,
    tell_if_in_vain,
)
from bootlab.errors import InputError
from bootlab.system import ReadAhead, Rootfs

_REST = "root 1\nkernel 6.1\ngoal g\npackages 1\nlearned 1\norder block\nf etc/b\nf a\nd 1 0 4096 8192\nd 0 0 4096 -1\n"
PACK = f"bootlab-readahead 1 {len(_REST)} {zlib.crc32(_REST.encode())}\n{_REST}"


def _facts(text: str = PACK) -> dict[str, str]:
    lines = text.splitlines()
    return {f"readahead.{number}": line for number, line in enumerate(lines, 1)} | {"readahead.end": str(len(lines))}


def _root(*, systemd: bool = False) -> FileTree:
    tree = FileTree()
    tree.add_link("sbin/init", "/lib/systemd/systemd")
    if systemd:
        tree.add_file("lib/systemd/systemd", b"ELF")
    return tree


def _layout(**layout: object) -> Learned:
    found = layout_of(Rootfs.model_validate({"packages": ("dash",), **layout}))
    assert found is not None
    return found


def _laid(tree: FileTree, wanted: ReadAhead) -> dict[str, bytes]:
    lay_readahead(tree, wanted)
    return {entry.path: entry.data for entry in tree.entries()}


@pytest.mark.parametrize(
    ("cmdline", "record", "said"),
    [
        ("quiet", False, []),
        ("quiet init=/sbin/init rdinit=/x", False, []),
        # Of several the kernel takes the last.
        ("init=/init init=/sbin/bootlab-readahead", False, []),
        ("init=/sbin/init init=/over", False, ["init=/over: nothing may be read ahead, unless it runs /sbin/init"]),
        ("init=/over", True, ["init=/over: nothing may be noted, unless it runs /sbin/init"]),
    ],
)
def test_a_command_line_with_another_init_is_told(cmdline: str, record: bool, said: list[str]) -> None:
    lines: list[str] = []
    tell_if_in_vain(ReadAhead(record=True) if record else ReadAhead(text=PACK), cmdline, None, lines.append)
    assert lines == [f"rootfs.readahead: kernel.cmdline has {line}" for line in said]


def test_a_pack_of_another_kernel_is_told(tmp_path: Path) -> None:
    lines: list[str] = []
    for release in ("6.1", "6.12"):
        (tmp_path / release / "lib/modules" / release).mkdir(parents=True)
    tell_if_in_vain(ReadAhead(text=PACK), "", tmp_path / "6.1", lines.append)
    tell_if_in_vain(ReadAhead(record=True), "", tmp_path / "6.12", lines.append)
    # Whose release nobody knows: no modules, or those of two.
    tell_if_in_vain(ReadAhead(text=PACK), "", tmp_path, lines.append)
    assert lines == []
    tell_if_in_vain(ReadAhead(text=PACK), "", tmp_path / "6.12", lines.append)
    (line,) = lines
    assert line.startswith("rootfs.readahead.text: ignored by the guest: it is of the kernel 6.1, and this is 6.12")


def test_the_real_init_is_started_by_the_program_and_a_unit_of_its_own_tells_the_goal() -> None:
    files = _laid(_root(systemd=True), ReadAhead(text=PACK, goal="graphical.target"))
    assert files["sbin/init"] == b"/sbin/bootlab-readahead"
    assert files["sbin/bootlab-readahead.init"] == b"/lib/systemd/systemd"
    unit = files["etc/systemd/system/bootlab-readahead.service"].decode()
    assert "After=graphical.target\n" in unit and "--name graphical.target\n" in unit
    # systemd holds text logins (Type=idle) back while a job runs, which one of oneshot does until it has ended.
    assert "Type=simple\n" in unit
    # Wanted by what it comes behind: multi-user.target, before graphical.target, would come behind what it wants.
    assert files["etc/systemd/system/graphical.target.wants/bootlab-readahead.service"].endswith(b"readahead.service")
    assert "etc/bootlab/units/bootlab-readahead.unit" not in files
    with pytest.raises(InputError, match=r"no /sbin/init"):
        lay_readahead(FileTree(), ReadAhead())


def test_each_init_has_a_unit_of_its_own_kind() -> None:
    scripts, own = _root(), _root()
    scripts.add_directory("etc/rc2.d")
    own.add_file("sbin/bootlab-init", b"ELF")
    own.add_directory("etc/rc2.d")
    scripted = _laid(scripts, ReadAhead())
    assert scripted["etc/rc2.d/S99bootlab-readahead"] == b"../init.d/bootlab-readahead"
    assert b" goal &" in scripted["etc/init.d/bootlab-readahead"]
    files = _laid(own, ReadAhead())
    lines = files["etc/bootlab/units/bootlab-readahead.unit"].splitlines()
    # Behind all others, as systemd's unit and the script: what is deferred is read ahead, too.
    assert {b"exec /sbin/bootlab-readahead goal", b"defer yes", b"after $all"} <= set(lines)
    assert "etc/rc2.d/S99bootlab-readahead" not in files


def test_a_root_that_learns_has_every_file_where_one_that_reads_ahead_has_it() -> None:
    learning, reading = _laid(_root(), ReadAhead(record=True)), _laid(_root(), ReadAhead(text=PACK))
    assert learning.keys() == reading.keys()
    assert [len(data) for data in learning.values()] == [len(data) for data in reading.values()]
    assert reading["etc/bootlab/readahead"].startswith(PACK.encode() + b"\0")
    assert "etc/bootlab/readahead" not in _laid(_root(), ReadAhead())


@pytest.mark.parametrize("printed", ["pack", "console"])
def test_a_pack_is_a_file_or_the_console_that_it_was_printed_on(printed: str, tmp_path: Path) -> None:
    path = tmp_path / printed
    lines = [f"bootlab: fact {name} {value}\r\n" for name, value in _facts().items()]
    path.write_text(PACK if printed == "pack" else "[ 1.0] Linux\r\n" + "".join(lines) + "bootlab: check ok\n")
    assert _laid(_root(), ReadAhead(pack=path))["etc/bootlab/readahead"].rstrip(b"\0") == PACK.encode()
    one = identify_readahead(ReadAhead(pack=path))
    path.write_bytes(path.read_bytes() + b"\n")
    assert identify_readahead(ReadAhead(pack=path)) != one


def test_another_order_is_another_pack_that_is_whole() -> None:
    data = _laid(_root(), ReadAhead(text=PACK, order="need"))["etc/bootlab/readahead"]
    head, _, rest = data.rstrip(b"\0").partition(b"\n")
    assert b"\norder need\n" in rest and b"order block" not in rest
    assert head == b"bootlab-readahead 1 %d %d" % (len(rest), zlib.crc32(rest))


@pytest.mark.parametrize(
    ("text", "said"),
    [("hello\n", "printed no pack"), (PACK[:-5], "cut short"), (PACK.replace("8192", "8193"), "cut short or damaged")],
)
def test_what_is_no_whole_pack_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "pack"
    path.write_text(text)
    for ask in (
        lambda: lay_readahead(_root(), ReadAhead(pack=path)),
        lambda: _layout(layout=path),
    ):
        with pytest.raises(InputError, match=said):
            ask()
    with pytest.raises(InputError, match="No such file"):
        identify_readahead(ReadAhead(pack=tmp_path / "nope"))


def test_facts_give_the_pack_or_say_what_is_missing() -> None:
    assert PACKS.of_facts(_facts()) == PACK
    for broken in ({}, {"readahead.end": "9"}, {**_facts(), "readahead.end": "soon"}):
        with pytest.raises(InputError, match="printed no pack"):
            PACKS.of_facts(broken)
    with pytest.raises(InputError, match="cut short or damaged"):
        PACKS.of_facts({**_facts(), "readahead.3": "kernel 6.2"})


def test_files_lie_in_the_order_in_which_they_were_needed(tmp_path: Path) -> None:
    path = tmp_path / "pack"
    path.write_text(PACK)
    entries = [Entry("a", 0o100644), Entry("c", 0o120777), Entry("etc", 0o40755), Entry("etc/b", 0o100644)]
    names = [entry.path for entry in in_boot_order([entries[1], *entries], _layout(layout=path))]
    assert names == ["etc", "a", "etc/b", "c", "c"]
    assert in_boot_order(entries, _layout(layout_text=PACK)) == in_boot_order(entries, _layout(layout=path))
    with pytest.raises(InputError, match=r"rootfs\.layout_text: the pack is cut short"):
        _layout(layout_text=PACK[:-5])
    with pytest.raises(ValueError, match="layout and layout_text: give one of them"):
        _layout(layout=path, layout_text=PACK)


def test_a_pack_of_a_root_that_lies_otherwise_is_refused() -> None:
    wanted = learned_pack(ReadAhead(text=PACK))
    assert wanted is not None and learned_pack(ReadAhead(record=True)) is None
    wanted.expect_learned_on(1)
    wanted.expect_learned_on(1 | 1 << 63)
    with pytest.raises(InputError, match=r"rootfs\.readahead\.text: .* lies otherwise") as raised:
        wanted.expect_learned_on(2)
    assert "rootfs.readahead.record = true" in str(raised.value.hint)
