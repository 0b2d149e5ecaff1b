"""Reading a system file: every mistake is named at once, as file:key, and none is a traceback."""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import ClockKind, read_system
from bootlab.system.file import parse_system, read_text
from tests.system.files import GOOD, write


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    system = read_system(write(tmp_path, GOOD))
    assert system.kernel.image == tmp_path / "vmlinuz"
    assert system.name == "system"
    assert system.clock.kind is ClockKind.VIRTUAL


def test_missing_files_are_named_with_all_other_mistakes(tmp_path: Path) -> None:
    text = GOOD.replace('image = "vmlinuz"', 'image = "gone"\nsymbols = 3').replace(
        '"q35"', '"toaster"\nfirmware = "bios"'
    )
    text += (
        '\n[initramfs]\ninit = "init"\nfiles = { "/a b" = "file" }\n[[disks]]\nsize_mib = 1\n[[disks]]\npath = "disk"\n'
    )
    with pytest.raises(InputError) as caught:
        read_system(write(tmp_path, text))
    lines = [line.split("system.toml:")[1] for line in caught.value.message.splitlines()]
    missing = [line.split(": no such file: ") for line in lines if ": no such file: " in line]
    assert [key for key, _ in missing] == [
        "kernel.image", "initramfs.init", 'initramfs.files."/a b"', "disks[1].path", "machine.firmware",
    ]  # fmt: skip
    assert [path for _, path in missing] == [str(tmp_path / name) for name in ("gone", "init", "file", "disk", "bios")]
    assert {line.split(":")[0] for line in lines} > {"kernel.symbols", "machine.type"}


def test_ten_mistakes_are_ten_lines(tmp_path: Path) -> None:
    text = """
name = "no spaces please"
nonsense = 1
seed = 0
[machine]
type = "toaster"
memory_mib = "lots"
vcpus = 0
[kernel]
cmdline = 5
[initramfs]
compression = "rar"
init = "init"
[[disks]]
size_mib = 16
colour = "red"
[booted]
console = "("
[check]
console = "ok"
send = "x"
"""
    with pytest.raises(InputError) as caught:
        read_system(write(tmp_path, text))
    lines = caught.value.message.splitlines()
    keys = [line.split("system.toml:")[1].split(":")[0] for line in lines]
    assert sorted(keys) == sorted(
        [
            "name", "nonsense", "seed", "machine.type", "machine.memory_mib", "machine.vcpus", "kernel.cmdline",
            "initramfs.compression", "initramfs.init", "disks.0.colour", "booted.console", "check",
        ]
    )  # fmt: skip
    assert all(str(tmp_path) in line for line in lines)


@pytest.mark.parametrize("what", ["missing.toml", "."])
def test_no_file(tmp_path: Path, what: str) -> None:
    with pytest.raises(InputError, match=r"no such file|directory"):
        read_system(tmp_path / what)


def test_what_an_editor_puts_before_the_text_is_no_part_of_it(tmp_path: Path) -> None:
    system = write(tmp_path, GOOD)
    system.write_bytes(b"\xef\xbb\xbf" + system.read_bytes())
    assert read_system(system).kernel.cmdline == "console=ttyS0"


def test_not_text(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        read_system(path)


@pytest.mark.parametrize("pattern", ["a{99999999999999999999}", "(" * 5000 + ")" * 5000])
def test_a_pattern_that_is_too_much_is_named(pattern: str, tmp_path: Path) -> None:
    text = GOOD.replace('mark = "ready"', f"console = '{pattern}'")
    with pytest.raises(InputError, match=r"system\.toml:booted\.console: not a regular expression"):
        read_system(write(tmp_path, text))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (f"seed = 0x{'f' * 6000}", "seed: input should be less than or equal to 2147483647, got a number with more"),
        (f"seed = {'9' * 6000}", " not TOML: a number with more digits than any can have"),
        (f"seed = {'[' * 6000}", " not TOML: nested too deeply"),
        ("seed = 1\nseed = 2", " not TOML: Cannot overwrite a value (at line 3, column 9)"),
        ('"a\\u001b[31m\\nb" = 1', "a\\x1b[31m\\nb: unknown key"),
        (f"{'x' * 100_000} = 1", f"{'x' * 80} ... {'x' * 80}: unknown key"),
        (f"seed = '{'x' * 1_000_000}'", "seed: input should be a valid integer, got 'xxxx"),
        (f"name = '{'x' * 101}'", "name: is not 1 to 100 letters, digits and . _ -, a letter or digit first, got 'xxx"),
    ],
)
def test_what_is_too_much_is_one_line_that_names_its_key(line: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_system(write(tmp_path, f"\n{line}\n{GOOD}"))
    assert caught.value.message.startswith(f"{tmp_path}/system.toml:{complaint}")
    assert caught.value.message.isprintable() and len(caught.value.message) < 1000
    assert caught.value.hint


@pytest.mark.parametrize("value", ["true", '"5"', "nan", "inf"])
def test_what_is_no_number_of_seconds_is_refused(value: str, tmp_path: Path) -> None:
    """A truth is no second, although Python can count with it."""
    with pytest.raises(InputError, match=r"system\.toml:booted\.deadline_s: input should be "):
        read_system(write(tmp_path, f"{GOOD}deadline_s = {value}\n"))


def test_a_file_whose_name_is_too_long_gives_a_name_that_is_not(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    assert read_system(path.rename(path.with_name(f"{'x' * 240}.toml"))).name == "x" * 100


@pytest.mark.parametrize("endless", ["/dev/zero", "/dev/full"])
def test_what_never_ends_is_not_read_for_ever(endless: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{endless}: a device, not a regular file"):
        read_system(Path(endless))
    (tmp_path / "long.toml").write_bytes(b"#" * (9 << 20))
    with pytest.raises(InputError, match="more than 8 MiB, expected a TOML system file"):
        read_system(tmp_path / "long.toml")


def bind(place: Path) -> None:
    # Its path is longer than a socket's may be.
    with contextlib.chdir(place.parent), socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place.name)


@pytest.mark.parametrize(("make", "what"), [(os.mkfifo, "a FIFO"), (bind, "a socket")])
def test_what_is_no_file_is_named_and_not_waited_for(make: Callable[[Path], None], what: str, tmp_path: Path) -> None:
    """Nobody writes to the FIFO: whoever opens it, waits for ever. So it is another process that is asked, for 60 s."""
    make(tmp_path / "odd")
    file = write(tmp_path, GOOD.replace('image = "vmlinuz"', 'image = "odd"'))
    source = tmp_path / "source.toml"
    source.write_text(GOOD.replace('image = "vmlinuz"', 'build = { source = "odd" }'))
    for asked, said in (
        (tmp_path / "odd", f"odd: {what}, not a regular file"),
        (file, f"kernel.image: {what}, not a file: {tmp_path}/odd"),
        (source, f"kernel.build.source: {what}, not a file: {tmp_path}/odd"),
    ):
        words = [sys.executable, "-m", "bootlab", "boot", str(asked)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_a_pipe_of_the_shell_is_as_good_as_a_file(tmp_path: Path) -> None:
    """`bootlab boot <(make-a-system)`: somebody writes to it."""
    write(tmp_path, GOOD)
    reading, writing = os.pipe()
    os.write(writing, GOOD.replace('"vmlinuz"', f'"{tmp_path}/vmlinuz"').encode())
    os.close(writing)
    try:
        assert read_system(Path(f"/dev/fd/{reading}")).kernel.image == tmp_path / "vmlinuz"
    finally:
        os.close(reading)


def test_a_file_that_no_record_can_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="udcff.toml: its name is not UTF-8"):
        read_system(tmp_path / "\udcff.toml")


def test_paths_are_looked_for_elsewhere_where_they_were_moved(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    file = write(tmp_path / "here", GOOD + '\n[initramfs]\npath = "made later"\n')
    (tmp_path / "there").mkdir()
    (file.parent / "vmlinuz").rename(tmp_path / "there/image")
    asked: dict[str, Path] = {}

    def move(key: str, path: Path) -> Path | None:
        asked[key] = path
        return tmp_path / "there/image" if key == "kernel.image" else None

    system = parse_system(read_text(file), file, move)
    assert system.kernel.image == tmp_path / "there/image"
    assert system.initramfs is not None and system.initramfs.path == file.parent / "made later"
    assert asked == {"kernel.image": file.parent / "vmlinuz", "initramfs.path": file.parent / "made later"}
    with pytest.raises(InputError, match="kernel.image: no such file: .*nowhere"):
        parse_system(read_text(file), file, lambda key, path: tmp_path / "nowhere")
