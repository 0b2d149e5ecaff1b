"""What a guest's program has learned is looked at line by line, and held against the root that it is to serve."""

from pathlib import Path

import pytest

from bootlab.build.root.preload import HABITS
from bootlab.build.root.printed import Learned, Printed
from bootlab.build.root.readahead import PACKS
from bootlab.errors import InputError

_ORIGIN = "root 1\nkernel 6.1\n"
_PACK = (
    f"{_ORIGIN}goal g\npackages 1\nlearned 1\norder block\ntrial need 5\nf 3 doors/x\nf etc/b\nm 0 4096\nd 0 0 1 -1\n"
)
_HABITS = f"{_ORIGIN}packages 1\nuser ann 1000\nuser bob 2\nf 1000 0 3 doors/x\nf 0 2 etc/b\nm 0 1\nd 1 0 1 8192\n"


def learned(of: Printed, rest: str) -> Learned:
    return Learned(of, "rootfs.KEY", of.expect_whole(of.sealed(rest.encode()), "rootfs.KEY"))


@pytest.mark.parametrize(("of", "rest"), [(PACKS, _PACK), (HABITS, _HABITS)])
def test_a_whole_one_has_its_files(of: Printed, rest: str) -> None:
    assert learned(of, rest).files == ("3 doors/x", "etc/b")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\r\n"])
def test_a_console_may_end_its_lines_as_it_likes(end: str, tmp_path: Path) -> None:
    data = PACKS.sealed(_PACK.encode())
    lines = data.decode().splitlines()
    facts = [f"[  1.5] bootlab: fact readahead.{number} {line}" for number, line in enumerate(lines, 1)]
    path = tmp_path / "console.log"
    path.write_bytes(end.join(["login:", *facts, f"bootlab: fact readahead.end {len(lines)}", ""]).encode())
    assert PACKS.read(path, "rootfs.KEY") == data


@pytest.mark.parametrize("of", [PACKS, HABITS])
@pytest.mark.parametrize(
    "line", ["hello", "d", "d x 0 1 1", "d -1 0 1 1", "d 0 0 1", "f ", "f a\0b", f"root {'9' * 5000}", "m \u00b2 1", ""]
)
def test_a_line_that_it_cannot_have_is_named_though_the_sum_fits(of: Printed, line: str) -> None:
    with pytest.raises(InputError, match=rf"rootfs\.KEY: line 4 is none that a {of.name} has: ") as caught:
        learned(of, f"{_ORIGIN}{line}\nf 1 a\n")
    assert caught.value.hint == f"make it anew: rootfs.{of.word}.record = true"


@pytest.mark.parametrize("rest", ["root 1\n", "kernel 6.1\n"])
def test_it_says_what_it_was_learned_on(rest: str) -> None:
    with pytest.raises(InputError, match="does not say what it was learned on"):
        learned(PACKS, rest)


def test_one_of_another_root_is_refused_and_one_of_a_changed_root_is_told() -> None:
    told: list[str] = []
    pack = learned(PACKS, _PACK.replace("f etc/b\n", "f etc/b\nf etc/c\n"))
    pack.expect_files_in({"etc/b", "etc/c"}, told.append)
    assert told == []
    pack.expect_files_in({"etc/b"}, told.append)
    assert told == ["rootfs.KEY: 2 of its 3 files are not in this root, 3 doors/x for one"]
    with pytest.raises(InputError, match=r"rootfs\.KEY: none of its 3 files is in this root, 3 doors/x for one"):
        pack.expect_files_in({"etc/d"}, told.append)
    learned(PACKS, _ORIGIN).expect_files_in(set(), told.append)
    assert len(told) == 1


def test_habits_of_a_root_that_lies_otherwise_are_refused() -> None:
    habits = learned(HABITS, _HABITS)
    habits.expect_learned_on(1)
    with pytest.raises(InputError, match=r"rootfs\.KEY: it was learned on a root that lies otherwise") as caught:
        habits.expect_learned_on(2)
    assert "rootfs.preload.record = true" in str(caught.value.hint)


def test_a_disk_image_in_its_place_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "root.img"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match=r"rootfs\.KEY: .*root\.img: more than 64 MiB, expected a pack"):
        PACKS.read(path, "rootfs.KEY")
