"""What access times tell of a boot: read, unread, or nothing, by the rules of mount options and of the clock."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.findings.access_times import QUESTIONS, Read, find_unread

DAY = 86_400
BOOT = 1_700_000_000
"""When the kernel began, by the machine's clock; it has been up for 30 s."""
DEV = "devtmpfs /dev devtmpfs rw,relatime 0 0\n"
MOUNTS = f"/dev/root / ext4 rw,relatime 0 0\n{DEV}proc /proc proc rw 0 0\n"
OLD = BOOT - 9 * DAY

Ask = Callable[..., Read]


def clock(**changed: str) -> str:
    facts = {
        "up": "30.12 20.00",
        "btime": f"{BOOT}",
        "began": f"{BOOT}",
        "init": "/sbin/init",
        "cmdline": "console=ttyS0 root=/dev/mmcblk0p2 rw",
        **changed,
    }
    return "".join(f"{name} {value}\n" for name, value in facts.items())


def file(path: str, read: int, changed: int = OLD, *, mode: int = 0o100644, size: int = 1000, node: str = "1 7") -> str:
    return f"{mode:x} {read} {changed} {changed} {node} {size} {path}\n"


INIT = file("/sbin/init", BOOT + 1)


def ask(files: str, mounts: str = MOUNTS, **facts: str) -> Read:
    said = {"mounts": mounts, "clock": clock(**facts), "files": INIT + files, "end": f"{BOOT + 33}\n"}
    return find_unread({name: text.encode() for name, text in said.items()}, {})


def unread(found: Read) -> list[str]:
    return [one.path for one in found.unused.unused]


def test_a_file_is_unread_where_a_reading_would_have_left_its_time() -> None:
    listed = [
        file("/a/read", BOOT + 5),
        file("/a/last-week", OLD + DAY),  # relatime notes it again after a day
        file("/a/written-since", BOOT - 7200, BOOT - 3600),
        file("/a/this-morning", BOOT - 3600),  # read once more or not: relatime would leave it
        file("/b", 0, mode=0o40755),
        file("/b/never", 0),
        file("/b/nor-this", 0),
    ]
    found = ask("".join(listed))
    assert unread(found) == ["/a/last-week", "/a/written-since", "/b/never", "/b/nor-this"]
    assert "/b" in found.unused.without and found.unsure == 1
    assert any("1 files (1,000 bytes) were read in the last day" in note and "touch -a" in note for note in found.notes)
    # Without relatime every reading is noted.
    strict = ask("".join(listed), MOUNTS.replace("rw,relatime 0 0\ndev", "rw 0 0\ndev"))
    assert "/a/this-morning" in unread(strict) and strict.unsure == 0


def test_equal_seconds_decide_nothing() -> None:
    # The kernel compares nanoseconds, and these are not told.
    assert ask(file("/a", BOOT - 3600, BOOT - 3600)).unsure == 1


def test_a_clock_that_was_set_as_it_booted_has_two_stretches() -> None:
    # Built in 2023, booted in 1970, set by a time server after some seconds.
    early = file("/etc/inittab", 3)
    late = file("/usr/bin/app", BOOT + 20)
    listed = early + late + file("/usr/bin/other", OLD, OLD + 60)
    found = ask(listed, began="0")
    assert unread(found) == ["/usr/bin/other"]
    assert any("clock was set by +1,700,000,000 s" in note for note in found.notes)
    # Times of 0 may be of an image, and of a boot that began at 0: taken for read.
    assert unread(ask(file("/zero", 0, 0), began="0")) == []


def test_hard_links_count_once_and_links_by_their_own_time() -> None:
    listed = file("/x", OLD, OLD + 5, node="2 9") + file("/y", OLD, OLD + 5, node="2 9")
    listed += file("/bin/vi", OLD, OLD + 5, mode=0o120777, size=7)
    found = ask(listed)
    assert [(one.path, one.size) for one in found.unused.unused] == [("/bin/vi", 7), ("/x", 1000), ("/y", 0)]


@pytest.mark.parametrize(
    ("mounts", "facts", "why", "what_to_do"),
    [
        (MOUNTS.replace("rw,relatime", "rw,noatime", 1), {}, "mounted noatime", "take noatime out"),
        (MOUNTS.replace("rw,relatime", "ro,relatime", 1), {}, "mounted read-only, so", "boot a writable copy"),
        (MOUNTS.replace("ext4 rw", "overlay rw", 1), {}, "the root is overlay", "local file system"),
        (MOUNTS, {"cmdline": "root=/dev/sda1 ro quiet"}, "mounted read-only first", "add rw"),
        (MOUNTS, {"cmdline": "root=/dev/sda1"}, "mounted read-only first", "add rw"),
        (MOUNTS, {"init": "/lib/systemd/systemd"}, "keeps no access times, whatever .* not on the root", "UBIFS"),
        (MOUNTS.replace(DEV, ""), {}, "/dev is no devtmpfs", "DEVTMPFS_MOUNT"),
        (MOUNTS, {"up": "soon"}, "says no time", None),
        ("", {}, "names no root", None),
    ],
)
def test_a_root_that_keeps_no_times_is_refused(
    mounts: str, facts: dict[str, str], why: str, what_to_do: str | None
) -> None:
    with pytest.raises(InputError, match=why) as caught:
        ask(file("/a", OLD), mounts, **facts)
    assert what_to_do is None or what_to_do in (caught.value.hint or "")


def test_a_root_whose_init_left_no_time_keeps_none() -> None:
    said = {"mounts": MOUNTS, "clock": clock(), "files": file("/sbin/init", OLD), "end": f"{BOOT + 33}"}
    with pytest.raises(InputError, match=r"whatever its mount options say: /sbin/init, which this boot started"):
        find_unread({name: text.encode() for name, text in said.items()}, {})


def test_an_initramfs_needs_no_rw() -> None:
    mounts = f"rootfs / rootfs rw,size=108k 0 0\n{DEV}"
    assert unread(ask(file("/a", 0, 0), mounts, cmdline="panic=-1")) == ["/a"]


def test_a_name_is_whatever_a_file_system_takes() -> None:
    names = [
        "/a/two words ",
        "/a/ line\u2028sep",
        "/a/next\x85line",
        "/a/form\x0cfeed\r",
        "/a/\udce9t\udce9",
        "/a/[x]*",
    ]
    listed = "".join(file(name, OLD) for name in names) + file("/a/what?", BOOT + 1)
    said = {"mounts": MOUNTS, "clock": clock(), "files": INIT + listed, "end": f"{BOOT + 33}"}
    found = find_unread({one: text.encode(errors="surrogateescape") for one, text in said.items()}, {})
    assert unread(found) == sorted(names) and not any("not understood" in note for note in found.notes)


@pytest.mark.skipif(shutil.which("busybox") is None, reason="needs busybox")
@pytest.mark.parametrize("shell", [["sh"], ["busybox", "sh"]])
def test_a_name_with_a_new_line_in_it_says_nothing_of_another_file(shell: list[str], tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    forged = tmp_path / "etc" / f"x\n{file('', OLD).rstrip()}{tmp_path}" / "etc"
    forged.mkdir(parents=True)
    for path in (forged / "passwd", tmp_path / "etc" / "passwd", tmp_path / "etc" / "never", tmp_path / "in\nside"):
        path.touch()
        os.utime(path, (OLD, OLD))
    os.utime(tmp_path / "etc" / "passwd", (BOOT + 5, OLD))
    command = QUESTIONS["files"].replace("find / ", f"find {tmp_path} ")
    listed = subprocess.run([*shell, "-c", command], capture_output=True, text=True, check=True).stdout
    # What is there was made just now.
    clock_of_now = {"btime": f"{BOOT}", "began": f"{BOOT}"}
    found = ask(listed, MOUNTS.replace("rw,relatime 0 0\ndev", "rw 0 0\ndev"), **clock_of_now)
    assert unread(found) == [f"{tmp_path}/etc/never"] and found.unused.without == (f"{tmp_path}/etc/never",)
    assert any("new line in their name" in note for note in found.notes)


def test_what_is_not_looked_at_is_named() -> None:
    mounts = f"{MOUNTS}/dev/sda3 /data ext4 rw 0 0\n"
    notes = ask(f"{file('/a', OLD)}something else\n", mounts).notes
    assert any("another file system: /data (ext4)" in note for note in notes)
    assert any("1 lines of the listing are not understood" in note for note in notes)


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_that_is_missing_is_told(name: str) -> None:
    said = {"mounts": MOUNTS, "clock": clock(), "files": INIT, "end": f"{BOOT + 33}"}
    with pytest.raises(InputError, match=f"target.shell: {name}: the answer was cut off"):
        find_unread({one: text.encode() for one, text in said.items() if one != name}, {name: "the answer was cut off"})
