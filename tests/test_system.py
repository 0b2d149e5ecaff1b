"""System files: every mistake is named at once, as file:key, and none is a traceback."""

import re
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import InputError
from bootlab.system import BOARDS, ClockKind, MachineType, System, read_system

GOOD = """
[machine]
type = "q35"
[kernel]
image = "vmlinuz"
cmdline = "console=ttyS0"
[booted]
mark = "ready"
"""


def write(folder: Path, text: str) -> Path:
    (folder / "vmlinuz").write_bytes(b"")
    path = folder / "system.toml"
    path.write_text(text)
    return path


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


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("image = ", "image = 3 #"), "kernel.image"),
        (('image = "vmlinuz"', 'image = "gone"'), "kernel.image: no such file"),
        (('image = "vmlinuz"', 'image = "vmlinuz"\npackage = "p"'), "exactly one of image"),
        (('image = "vmlinuz"', ""), "exactly one of image"),
        (('type = "q35"', 'type = "virt"\nfirmware = "qboot"'), "qboot"),
        (('image = "vmlinuz"', 'image = "vmlinuz"\nentry = "pvh"\n'), ""),
        (('mark = "ready"', 'mark = "ready"\nconsole = "x"'), "exactly one of mark"),
        (('mark = "ready"', 'mark = "ready"\n[check]\nmark = "ready"'), "check.mark is booted.mark"),
        (('mark = "ready"', 'mark = "is ready"'), "booted.mark: is no mark's name: 1 to 64"),
        (('mark = "ready"', 'mark = "ready"\n[check]\nmark = "' + "x" * 65 + '"'), "check.mark: is no mark's name"),
        (('type = "q35"', 'type = "q35"\n[clock]\naccelerator = "kvm"'), "cannot count instructions"),
        (('type = "q35"', ""), "machine.type: missing"),
        (('type = "q35"', 'type = "virt"\narchitecture = "riscv64"'), ""),
        (('type = "q35"', 'type = "q35"\narchitecture = "x86_64"'), ""),
        (
            ('type = "q35"', 'type = "q35"\narchitecture = "riscv64"'),
            "machine: architecture 'riscv64': machine.type 'q35' is x86_64",
        ),
        (
            ('type = "q35"', 'type = "virt"\narchitecture = "riscv64"\n[rootfs]\npackages = ["a"]\ndevice = "pmem"'),
            'rootfs.device = "pmem": QEMU has no NVDIMM for riscv64',
        ),
        (
            ('type = "q35"', 'type = "virt"\narchitecture = "armv7"'),
            "architecture 'armv7': machine.type 'virt' is aarch64 or riscv64",
        ),
        (("[machine]", "[machine"), "not TOML"),
    ],
)
def test_mistakes(tmp_path: Path, change: tuple[str, str], expected: str) -> None:
    path = write(tmp_path, GOOD.replace(*change))
    if not expected:
        read_system(path)
        return
    with pytest.raises(InputError, match=expected) as caught:
        read_system(path)
    assert "system.toml" in caught.value.message


def test_the_type_decides_the_architecture_unless_there_is_a_choice(tmp_path: Path) -> None:
    system = read_system(write(tmp_path, GOOD))
    arm = system.with_part("machine", type="virt")
    riscv = arm.with_part("machine", architecture="riscv64")
    assert [one.machine.arch for one in (system, arm, riscv)] == ["x86_64", "aarch64", "riscv64"]
    # What was recorded before there was a choice is still the same boot.
    assert "architecture" not in arm.model_dump(mode="json")["machine"]
    assert riscv.model_dump(mode="json")["machine"]["architecture"] == "riscv64"
    assert System.model_validate(riscv.model_dump()) == riscv


@pytest.mark.parametrize("what", ["missing.toml", "."])
def test_no_file(tmp_path: Path, what: str) -> None:
    with pytest.raises(InputError, match=r"no such file|directory"):
        read_system(tmp_path / what)


def test_not_text(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        read_system(path)


def test_changes_make_a_new_value(tmp_path: Path) -> None:
    system = read_system(write(tmp_path, GOOD))
    quiet = system.with_cmdline("quiet", "loglevel=0")
    assert quiet.kernel.cmdline == "console=ttyS0 quiet loglevel=0"
    assert system.kernel.cmdline == "console=ttyS0"
    assert system.with_part("machine", vcpus=2).machine.vcpus == 2
    with pytest.raises(InputError, match="machine.vcpus"):
        system.with_part("machine", vcpus=-1)
    with pytest.raises(InputError, match=r"no \[initramfs\]"):
        system.with_part("initramfs", busybox=False)
    assert system.with_seed(5).seed == 5


def test_every_key_is_documented() -> None:
    text = (Path(__file__).parents[1] / "docs" / "systems.md").read_text()
    for part, field in System.model_fields.items():
        model = next((kind for kind in _models(field.annotation)), None)
        for key in model.model_fields if model else ():
            assert key in text, f"docs/systems.md does not mention {part}.{key}"
        assert part in text


def _models(annotation: object) -> list[type]:
    from typing import get_args

    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for argument in get_args(annotation) for found in _models(argument)]


BOARD = """
[machine]
type = "orangepi-pc"
[kernel]
image = "k"
[bootloader]
package = "u-boot"
falcon = {falcon}
[card]
{card}
[booted]
mark = "ready"
{more}
"""


def board_system(tmp_path: Path, *, falcon: bool = False, card: str = "", more: str = "", without: str = "") -> System:
    text = BOARD.format(falcon=str(falcon).lower(), card=card, more=more)
    if without:
        text = re.sub(rf"(?m)^\[{without}\]\n([^\[]*\n)?", "", text)
    (tmp_path / "k").write_text("")
    (tmp_path / "init").write_text("")
    return _read_board(tmp_path, text)


SERIAL_BOARD = """
[machine]
type = "armv7-board"
[target]
kind = "serial"
port = "/dev/ttyUSB0"
power_on = ["usbrelay", "1=1"]
[booted]
console = "login:"
"""


def serial_board(tmp_path: Path, *changes: tuple[str, str]) -> System:
    text = SERIAL_BOARD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return _read_board(tmp_path, text)


def _read_board(tmp_path: Path, text: str) -> System:
    path = tmp_path / "board.toml"
    path.write_text(text)
    return read_system(path)


def test_a_board_has_what_its_hardware_has(tmp_path: Path) -> None:
    machine = board_system(tmp_path).machine
    assert (machine.arch, machine.cpu, machine.memory_mib, machine.vcpus) == ("armv7", "cortex-a7", 1024, 4)
    with pytest.raises(InputError, match="vcpus of machine.type 'orangepi-pc' is 4: the board has no other"):
        board_system(tmp_path).with_part("machine", vcpus=1)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"without": "card"}, "boots from its SD card: .card. composes one, or card.path names a finished one"),
        ({"without": "bootloader"}, "boots by U-Boot: .bootloader. says which, or card.path names a finished card"),
        ({"more": "[network]"}, "machine.type 'orangepi-pc' has no network"),
        ({"more": '[initramfs]\ninit = "init"', "falcon": True}, "no initramfs beside them: initramfs.embedded = true"),
        ({"card": "size_mib = 48"}, "card: size_mib must be a power of two"),
        ({"card": 'path = "none.img"'}, "card.path: no such file: .*/none.img"),
        ({"card": 'path = "k"\nload_address = 4'}, "card: path names a finished card; size_mib, dtb, load_address and"),
        ({"card": 'path = "k"\ndevice_tree = "appended"'}, "and device_tree are of one to be composed"),
        ({"card": 'device_tree = "none"'}, "card.device_tree: input should be 'separate' or 'appended', got 'none'"),
    ],
)
def test_a_board_that_cannot_be_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        board_system(tmp_path, **change)


def test_an_appended_tree_needs_a_kernel_that_looks_for_it(tmp_path: Path) -> None:
    assert board_system(tmp_path).appended_tree_options == ()
    appended = board_system(tmp_path, card='device_tree = "appended"')
    assert appended.appended_tree_options == ("ARM_APPENDED_DTB", "ARM_ATAG_DTB_COMPAT")
    falcon = board_system(tmp_path, card='device_tree = "appended"', falcon=True)
    assert falcon.appended_tree_options == ("ARM_APPENDED_DTB",)


def test_a_document_says_where_the_tree_is_only_where_that_was_asked(tmp_path: Path) -> None:
    separate, appended = (board_system(tmp_path, card=f'device_tree = "{one}"') for one in ("separate", "appended"))
    assert "device_tree" not in separate.model_dump()["card"]
    assert appended.model_dump()["card"]["device_tree"] == "appended"


def test_a_bootloader_is_of_a_board(tmp_path: Path) -> None:
    system = board_system(tmp_path)
    boards = r"machine.type 'q35' \(x86_64\) is none: 'orangepi-pc' \(armv7\), 'virt' \(riscv64\)"
    with pytest.raises(InputError, match=rf"\[bootloader\] is of a board; {boards}"):
        system.with_part("machine", type="q35")


RISCV_BOARD = """
[machine]
type = "virt"
architecture = "{architecture}"
memory_mib = {memory_mib}
{machine}
[kernel]
image = "k"
[bootloader]
package = "u-boot"
{bootloader}
[flash]
{flash}
[booted]
mark = "ready"
{more}
"""


def riscv_board(tmp_path: Path, *, without: tuple[str, ...] = (), memory_mib: int = 128, **words: str) -> System:
    filled = {"architecture": "riscv64", "machine": "", "bootloader": "", "flash": "", "more": "", **words}
    text = RISCV_BOARD.format(memory_mib=memory_mib, **filled)
    for part in without:
        text = re.sub(rf"(?m)^\[{part}\]\n([^\[]*\n)?", "", text)
    (tmp_path / "k").write_text("")
    return _read_board(tmp_path, text)


def test_the_virt_machine_is_a_board_if_it_boots_from_its_flash_chip(tmp_path: Path) -> None:
    system = riscv_board(tmp_path)
    assert system.board is BOARDS[MachineType.VIRT, "riscv64"]
    assert system.memory == range(0x80000000, 0x88000000)
    assert system.kernel_places == (0x80200000,)
    plain = riscv_board(tmp_path, without=("bootloader", "flash"))
    assert plain.board is None and plain.kernel_places == () and plain.memory is None
    # It is one by its bootloader alone: other devices are a matter of the machine.
    riscv_board(tmp_path, machine='devices = ["usb-kbd"]', more="[network]\n[[disks]]\nsize_mib = 1")


@pytest.mark.parametrize(
    "change, message",
    [
        ({"without": ("flash",)}, r"boots by \[bootloader\] from its flash chip: \[flash\] composes an image of it"),
        ({"without": ("bootloader",)}, r"boots from \[flash\] by U-Boot, whose SPL is not in it: \[bootloader\]"),
        ({"more": "[card]"}, r"boots from its flash chip and has no SD card: \[flash\], not \[card\]"),
        ({"more": "[card]", "without": ("bootloader", "flash")}, r"has no SD card: \[flash\], not \[card\]"),
        ({"bootloader": "falcon = true"}, "bootloader.falcon: not on machine.type 'virt': there SPL starts OpenSBI"),
        ({"bootloader": 'opensbi = "none.bin"'}, "bootloader.opensbi: no such file: .*/none.bin"),
        ({"flash": 'path = "none.img"'}, "flash.path: no such file: .*/none.img"),
        ({"flash": 'path = "k"\ncompression = "gzip"'}, "flash: path names a finished image; compression is of one to"),
        ({"machine": 'firmware = "k"'}, r"boots by \[bootloader\]: there is no machine.firmware beside it"),
        ({"memory_mib": 64}, "machine.memory_mib is 64: U-Boot's SPL on machine.type 'virt' needs 128"),
        ({"more": "[storage]\nmb_s = 20"}, "has no storage model: its bootloader loads the kernel"),
        ({"more": "[board_model]\nuart_baud = 115200"}, "board_model is of a board's SD card, serial line and camera"),
    ],
)
def test_a_riscv64_board_that_cannot_be_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        riscv_board(tmp_path, **change)


def test_a_flash_chip_is_of_a_board_that_has_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"boots from its SD card and has no flash chip: \[card\], not \[flash\]"):
        board_system(tmp_path, more="[flash]")
    with pytest.raises(InputError, match=r"\[flash\] is of a board; machine.type 'virt' \(aarch64\) is none"):
        riscv_board(tmp_path, without=("bootloader",), architecture="aarch64")
    with pytest.raises(InputError, match="bootloader.opensbi is a firmware of riscv64; .* is armv7"):
        board_system(tmp_path).with_part("bootloader", opensbi=Path("k"))


def test_a_board_has_its_console_for_a_clock_and_its_own_kernel(tmp_path: Path) -> None:
    system = serial_board(tmp_path)
    assert (system.clock.kind.value, system.machine.arch, system.machine.cpu) == ("console", "armv7", "unknown")
    assert system.kernel.installed
    assert system.target is not None
    assert system.target.words("a && b") == ["sh", "-c", "a && b"]
    assert read_system(tmp_path / "board.toml") == system


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("armv7-board", "q35"), "machine.type 'q35' must be a board"),
        (("[machine]", '[clock]\nkind = "wall"\n[machine]'), 'clock.kind = "console" is the clock of a board'),
        (("power_on = [", "power_off = ["), "give exactly one of power_on"),
        (('"serial"', '"serial"\nlabgrid = "place"'), "give exactly one of power_on"),
        (('"serial"', '"serial"\nzero = "("'), "target.zero: zero: not a regular expression"),
        (('"serial"', '"serial"\nmarks = { a = "(" }'), "target.marks: a: not a regular expression"),
        (('"serial"', '"serial"\ndeliver = "true"'), "kernel.installed is for a board that boots what is on it"),
        (("[booted]", '[kernel]\npackage = "linux"\n[booted]'), "target.deliver is missing"),
        (("[booted]", "[network]\n[booted]"), "are of an emulated machine"),
        (("serial", "jtag"), "target.kind: input should be 'serial' or 'replay', got 'jtag'"),
        (('kind = "serial"\n', ""), "target.kind: missing"),
        (('"serial"', '"serial"\nbauds = 9600'), "target.bauds: unknown key"),
    ],
)
def test_a_board_that_cannot_be_is_named(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    with pytest.raises(InputError) as refused:
        serial_board(tmp_path, change)
    assert said in refused.value.message
    assert "board.toml:" in refused.value.message


def test_only_a_board_has_a_board_for_a_machine(tmp_path: Path) -> None:
    path = tmp_path / "no-target.toml"
    path.write_text('[machine]\ntype = "armv7-board"\n[kernel]\npackage = "linux"\n[booted]\nmark = "ready"\n')
    with pytest.raises(InputError, match="emulated, or has a"):
        read_system(path)
