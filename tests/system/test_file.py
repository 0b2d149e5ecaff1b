"""Reading a system file: every mistake is named at once, as file:key, and none is a traceback."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import ClockKind, read_system
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


def test_not_text(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        read_system(path)
