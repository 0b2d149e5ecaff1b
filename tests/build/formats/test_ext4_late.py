"""The late part of an ext4 image: what changes in there changes no block outside, and the file system is whole."""

import stat
import subprocess
from pathlib import Path

import pytest

from bootlab.build.formats import ext4
from bootlab.build.formats.cpio import Entry
from bootlab.build.formats.ext4_late import BLOCK, LatePart
from bootlab.errors import InputError
from bootlab.process import require_program

PART = LatePart(("/app", "/bin/late"), 256)


def file(path: str, content: bytes) -> Entry:
    return Entry(path=path, mode=stat.S_IFREG | 0o644, data=content)


def folder(path: str) -> Entry:
    return Entry(path=path, mode=stat.S_IFDIR | 0o755)


def image(at: Path, *late: Entry, part: LatePart | None = PART, size_mib: int | None = None) -> bytes:
    at.mkdir()
    entries = [folder("app"), folder("bin"), *(file(f"bin/{number}", b"early" * 3000) for number in range(40)), *late]
    ext4.make_from(sorted(entries, key=lambda one: one.path), at / "image", size_mib, journal=True, late=part)
    return (at / "image").read_bytes()


def checked(at: Path) -> str:
    done = subprocess.run([require_program("e2fsck"), "-fn", at / "image"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


def folders_of(at: Path) -> list[int]:
    told = [
        subprocess.run(
            [require_program("debugfs"), "-R", f"blocks {path}", at / "image"], capture_output=True, text=True
        )
        for path in ("/", "/bin")
    ]
    return [int(one.stdout) for one in told]


def changed(before: bytes, after: bytes) -> set[int]:
    assert len(before) == len(after)
    return {at // BLOCK for at in range(0, len(after), BLOCK) if before[at : at + BLOCK] != after[at : at + BLOCK]}


@pytest.mark.parametrize("size_mib", [None, 300])
def test_late_files_grow_shrink_come_and_go_in_their_own_blocks(tmp_path: Path, size_mib: int | None) -> None:
    first = [file("app/a", b"x" * 5000), file("bin/late", b"y")]
    before = image(tmp_path / "before", *first, size_mib=size_mib)
    checked(tmp_path / "before")
    variants = {
        "longer": [file("app/a", b"x" * 300_000), file("bin/late", b"y")],
        "other": [file("app/a", b"z"), file("bin/late", b"yy")],
        "more": [*first, folder("app/b"), file("app/b/c", b"more" * 5000)],
    }
    part: set[int] = set()
    for name, late in variants.items():
        after = image(tmp_path / name, *late, size_mib=size_mib)
        checked(tmp_path / name)
        part |= changed(before, after)
    # Its inodes take 32 blocks, and its content what it may.
    assert len(part - set(range(min(part), min(part) + 32))) <= PART.blocks
    # Nothing of what mounting reads, superblock and descriptors, and none of the folders that have late files.
    assert not part & {0, 1}
    root, bin_ = (before[block * BLOCK : (block + 1) * BLOCK] for block in folders_of(tmp_path / "before"))
    assert b"late" in bin_ and b"app" in root and not part & set(folders_of(tmp_path / "before"))


def test_without_a_part_of_their_own_they_change_what_mounting_reads(tmp_path: Path) -> None:
    before = image(tmp_path / "before", file("app/a", b"x" * 5000), part=None)
    after = image(tmp_path / "after", file("app/a", b"x" * 50_000), part=None, size_mib=len(before) >> 20)
    assert {0, 1} <= changed(before, after)


def test_what_does_not_fit_is_refused_with_the_key_to_change(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rootfs.late_mib: 1 MiB are too few: the late files take 2 MiB"):
        image(tmp_path / "large", file("app/a", bytes(range(256)) * 5000))
    with pytest.raises(InputError, match="rootfs.late: 602 files and folders, 1 folders: the late part has 480 and 32"):
        image(tmp_path / "many", *(file(f"app/{number}", b"x") for number in range(601)))


def test_a_file_with_a_name_elsewhere_is_not_late() -> None:
    one = Entry(path="app/a", mode=stat.S_IFREG | 0o644, data=b"x", linked="bin/a")
    other = Entry(path="bin/a", mode=stat.S_IFREG | 0o644, data=b"x", linked="bin/a")
    early, late = PART.split([folder("app"), one, file("app/b", b""), folder("bin"), other, file("bin/late", b"")])
    assert [entry.path for entry in late] == ["app", "bin/late", "app/b"] and one in early and other in early
