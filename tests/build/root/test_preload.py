"""What is read for sessions, as it lies in a root: the service, PAM's line, and habits of files, consoles and facts."""

import zlib
from pathlib import Path

import pytest

from bootlab.build.root.file_tree import FileTree
from bootlab.build.root.preload import HABITS, identify_preload, lay_preload
from bootlab.errors import InputError
from bootlab.system import Preload
from bootlab.system.part import Part

_REST = "root 1\nkernel 6.1\npackages 1\nuser ann 1000\nf 1000 usr/bin/wm\nm 8192 4096\nd 0 0 4096 -1\n"
KNOWN = f"bootlab-preload 1 {len(_REST)} {zlib.crc32(_REST.encode())}\n{_REST}"
_SESSIONS = "etc/pam.d/common-session"
_SERVICE = "etc/systemd/system/bootlab-preload.service"


def facts(text: str = KNOWN) -> dict[str, str]:
    lines = text.splitlines()
    return {f"preload.{number}": line for number, line in enumerate(lines, 1)} | {"preload.end": str(len(lines))}


def _laid(wanted: Preload) -> dict[str, bytes]:
    tree = FileTree()
    tree.add_file("lib/systemd/systemd", b"ELF")
    tree.add_file(_SESSIONS, b"session\trequired\tpam_unix.so")
    lay_preload(tree, wanted)
    return {entry.path: entry.data for entry in tree.entries()}


def test_the_service_stands_beside_the_login_window_and_pam_tells_it_of_sessions() -> None:
    files = _laid(Preload())
    assert b"After=display-manager.service " in files[_SERVICE]
    # Whatever is started by default has it, and has no more for its sake.
    assert files["etc/systemd/system/default.target.wants/bootlab-preload.service"] == f"/{_SERVICE}".encode()
    assert b"DefaultDependencies=no\n" in files[_SERVICE]
    lines = files[_SESSIONS].decode().splitlines()
    assert lines[0].endswith("pam_unix.so")
    assert lines[1].split() == ["session", "optional", "pam_exec.so", "quiet", "/sbin/bootlab-preload", "session"]
    assert "etc/bootlab/preload" not in files


def test_a_root_without_systemd_or_sessions_is_refused() -> None:
    with pytest.raises(InputError, match=r"no systemd, or no /etc/pam.d/common-session"):
        lay_preload(FileTree(), Preload())


def test_a_root_that_learns_has_every_file_where_one_that_reads_has_it() -> None:
    learning, reading = _laid(Preload(record=True)), _laid(Preload(text=KNOWN))
    assert [(name, len(data)) for name, data in learning.items()] == [
        (name, len(data)) for name, data in reading.items()
    ]
    assert learning["etc/bootlab/preload"].rstrip(b"\0") == b"bootlab-preload record\n"
    assert reading["etc/bootlab/preload"].rstrip(b"\0") == KNOWN.encode()


@pytest.mark.parametrize("printed", ["file", "console"])
def test_habits_are_a_file_or_the_console_that_they_were_printed_on(printed: str, tmp_path: Path) -> None:
    path = tmp_path / printed
    lines = [f"bootlab: fact {name} {value}\r\n" for name, value in facts().items()]
    path.write_text(KNOWN if printed == "file" else "login: " + "".join(lines))
    assert _laid(Preload(habits=path))["etc/bootlab/preload"].rstrip(b"\0") == KNOWN.encode()
    one = identify_preload(Preload(habits=path))
    path.write_bytes(path.read_bytes() + b"\n")
    assert identify_preload(Preload(habits=path)) != one


@pytest.mark.parametrize(
    ("text", "why"),
    [(KNOWN[:-3], "cut short or damaged"), (KNOWN.replace("ann", "bob"), "cut short or damaged"), ("x", "no list of")],
)
def test_what_is_damaged_is_refused_with_its_key(text: str, why: str) -> None:
    with pytest.raises(InputError, match=rf"rootfs\.preload\.text: .*{why}"):
        _laid(Preload(text=text))


def test_habits_that_were_printed_in_part_are_none() -> None:
    part = facts()
    del part["preload.2"]
    with pytest.raises(InputError, match="or only a part"):
        HABITS.of_facts(part)
    with pytest.raises(InputError, match=r"nope: No such file"):
        identify_preload(Preload(habits=Path("nope")))


def test_habits_come_from_one_place() -> None:
    assert issubclass(Preload, Part)
    with pytest.raises(ValueError, match="text and record: give one of them"):
        Preload(text=KNOWN, record=True)


@pytest.mark.parametrize("count", ["99999999999", "\N{SUPERSCRIPT TWO}", "9" * 5000])
def test_a_count_that_a_guest_made_up_is_refused(count: str) -> None:
    with pytest.raises(InputError, match="or only a part"):
        HABITS.of_facts(facts() | {"preload.end": count})


def test_a_length_that_no_text_has_is_refused() -> None:
    with pytest.raises(InputError, match="no list of habits"):
        HABITS.expect_whole(b"bootlab-preload 1 " + b"9" * 5000 + b" 1\n", "rootfs.preload.text")
