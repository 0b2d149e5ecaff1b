"""The image of a flash chip, of small files: what lies where, what U-Boot is told, and what does not fit."""

import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.build.board.flash import FlashParts, compose_flash, expect_flash
from bootlab.build.cache import Cache
from bootlab.errors import InputError
from bootlab.process import run
from bootlab.system import BOARDS, Flash, MachineType

BOARD = BOARDS[MachineType.VIRT, "riscv64"]
assert BOARD.flash is not None
CHIP = BOARD.flash
MIB = 1 << 20
MEMORY = range(0x80000000, 0x80000000 + 128 * MIB)
IMAGE_SIZE = 3 * MIB
"""What the kernel below says that it takes in memory."""


def image(size: int, text_offset: int = 0x200000) -> bytes:
    return struct.pack("<8sQQ", b"MZ", text_offset, IMAGE_SIZE).ljust(size, b"k")


@pytest.fixture
def parts(tmp_path: Path) -> FlashParts:
    for name, content in (("u-boot.itb", b"FIT" * 99), ("Image", image(5001)), ("initramfs", b"070701" * 99)):
        (tmp_path / name).write_bytes(content)
    names = (tmp_path / name for name in ("u-boot.itb", "Image", "initramfs"))
    bootloader, kernel, initramfs = names
    return FlashParts(bootloader, kernel, "console=ttyS0", initramfs, MEMORY)


def compose(parts: FlashParts, tmp_path: Path, **flash: object) -> bytes:
    return compose_flash(Flash.model_validate(flash), parts, BOARD, Cache(tmp_path / "cache")).read_bytes()


def script_of(data: bytes) -> list[str]:
    header = data[CHIP.script_at :]
    magic, size = struct.unpack_from(">I8xI", header)
    assert magic == 0x27051956
    assert tuple(header[28:32]) == (5, 26, 6, 0)  # Linux, riscv, a script, not compressed
    return header[72 : 64 + size].decode().splitlines()


def test_the_script_says_where_all_is_and_where_it_goes(parts: FlashParts, tmp_path: Path) -> None:
    data = compose(parts, tmp_path)
    assert len(data) == CHIP.size == 32 * MIB
    assert data.startswith(b"FIT" * 99)
    assert data[CHIP.kernel_at :].startswith(image(5001))
    archive_at = CHIP.kernel_at + 8192
    assert data[archive_at:].startswith(b"070701" * 99 + bytes(8))
    # The initramfs goes behind all that the kernel will take, on a border that huge pages have.
    assert script_of(data) == [
        "setenv bootargs 'console=ttyS0'",
        f"cp.q {CHIP.address + CHIP.kernel_at:#x} 0x80200000 {626:#x}",
        f"cp.q {CHIP.address + archive_at:#x} 0x80600000 {75:#x}",
        f"booti 0x80200000 0x80600000:{594:#x} ${{fdtcontroladdr}}",
    ]


def test_uboot_unpacks_a_compressed_kernel_where_it_is_entered(parts: FlashParts, tmp_path: Path) -> None:
    data = compose(parts, tmp_path, compression="gzip")
    assert zlib.decompressobj(31).decompress(data[CHIP.kernel_at :]) == image(5001)
    # The initramfs moves up in the chip, and stays behind the unpacked kernel in memory.
    assert data[CHIP.kernel_at + 4096 :].startswith(b"070701")
    assert script_of(data)[1:3] == [
        f"unzip {CHIP.address + CHIP.kernel_at:#x} 0x80200000 {5001:#x}",
        f"cp.q {CHIP.address + CHIP.kernel_at + 4096:#x} 0x80600000 {75:#x}",
    ]


def test_a_kernel_with_its_initramfs_inside_goes_alone(parts: FlashParts, tmp_path: Path) -> None:
    lines = script_of(compose(replace(parts, initramfs=None), tmp_path))
    assert len(lines) == 3
    assert lines[-1] == "booti 0x80200000 - ${fdtcontroladdr}"


def test_uboots_shell_leaves_the_command_line_alone(parts: FlashParts, tmp_path: Path) -> None:
    told = replace(parts, cmdline="""x="a b" y=$z; it's""")
    assert script_of(compose(told, tmp_path))[0] == """setenv bootargs 'x="a b" y=$z; it'\\''s'"""


def test_the_same_parts_are_the_same_bytes(parts: FlashParts, tmp_path: Path) -> None:
    assert compose(parts, tmp_path / "a") == compose(parts, tmp_path / "b")


def test_what_the_chip_has_no_room_for_is_refused_with_sizes(parts: FlashParts, tmp_path: Path) -> None:
    parts.kernel.write_bytes(image(20 * MIB))
    assert parts.initramfs is not None
    parts.initramfs.write_bytes(bytes(10 * MIB))
    with pytest.raises(InputError) as error:
        compose(parts, tmp_path)
    assert error.value.message == (
        "flash: the kernel of 20,971,520 bytes and the initramfs of 10,485,760 do not fit: behind the bootloader the "
        "chip has room for 31,391,744"
    )
    parts.kernel.write_bytes(image(30 * MIB))
    with pytest.raises(InputError, match="the kernel of 31,457,280 bytes do"):
        compose(replace(parts, initramfs=None), tmp_path)
    parts.bootloader.write_bytes(bytes(3 * MIB))
    with pytest.raises(InputError, match="the bootloader is 3,145,728 bytes, and there is room for 2,097,152"):
        compose(parts, tmp_path)


def test_what_memory_has_no_room_for_is_refused(parts: FlashParts, tmp_path: Path) -> None:
    assert parts.initramfs is not None
    parts.initramfs.write_bytes(bytes(29 * MIB))
    with pytest.raises(InputError, match="machine.memory_mib: 48 are too few: .* need 51"):
        compose(replace(parts, memory=range(0x80000000, 0x80000000 + 48 * MIB)), tmp_path)


def test_a_kernel_for_another_place_is_refused(parts: FlashParts, tmp_path: Path) -> None:
    parts.kernel.write_bytes(image(5001, text_offset=0))
    with pytest.raises(InputError, match="flash: Image is for 0x0 above the start of memory, and this board's .* 0x20"):
        compose(parts, tmp_path)


def test_a_finished_image_has_the_chips_size(tmp_path: Path) -> None:
    path = tmp_path / "flash.img"
    path.write_bytes(bytes(MIB))
    with pytest.raises(InputError, match="flash.path: .*: 1,048,576 bytes; the flash chip has 33,554,432") as error:
        expect_flash(path, CHIP)
    assert error.value.hint == f"truncate --size=32M {path}"
    path.write_bytes(bytes(32 * MIB))
    expect_flash(path, CHIP)


def falcon(parts: FlashParts, tmp_path: Path) -> FlashParts:
    (tmp_path / "fw_dynamic.bin").write_bytes(b"SBI" * 1000)
    return replace(parts, opensbi=tmp_path / "fw_dynamic.bin", opensbi_at=0x80100000)


def tree_value(data: bytes, tmp_path: Path, node: str, name: str) -> int:
    (tmp_path / "fit").write_bytes(data[: CHIP.script_at])
    return int(run(["fdtget", "-t", "u", tmp_path / "fit", node, name]).text.split()[-1])


def test_in_falcon_mode_the_tree_says_where_all_is(parts: FlashParts, tmp_path: Path) -> None:
    data = compose(falcon(parts, tmp_path), tmp_path)
    assert len(data) == CHIP.size
    expected = {"opensbi": b"SBI" * 1000, "linux": image(5001), "initramfs": b"070701" * 99}
    for name, content in expected.items():
        at = tree_value(data, tmp_path, f"/images/{name}", "data-position")
        assert data[at : at + tree_value(data, tmp_path, f"/images/{name}", "data-size")] == content
    assert tree_value(data, tmp_path, "/images/linux", "load") == 0x80200000
    assert tree_value(data, tmp_path, "/images/initramfs", "load") == CHIP.initramfs_address
    at = tree_value(data, tmp_path, "/images/chosen", "data-position")
    assert b"console=ttyS0\0" in data[at : at + 4096] and b"linux,initrd-end" in data[at : at + 4096]
    alone = compose(falcon(replace(parts, initramfs=None), tmp_path), tmp_path)
    assert b"initrd" not in alone and b"ramdisk" not in alone


def test_in_falcon_mode_nothing_lies_over_what_spl_has(parts: FlashParts, tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(struct.pack("<8sQQ", b"MZ", 0x200000, 70 * MIB).ljust(5000, b"k"))
    with pytest.raises(InputError, match=r"bootloader\.falcon: the kernel reaches 0x84800000 in memory, and SPL"):
        compose(falcon(replace(parts, kernel=large), tmp_path), tmp_path)
    archive = tmp_path / "archive"
    with archive.open("wb") as file:
        file.truncate(20 * MIB)
    with pytest.raises(InputError, match=r"machine\.memory_mib: 64 are too few.* 90 are needed"):
        memory = range(MEMORY.start, MEMORY.start + 64 * MIB)
        compose(falcon(replace(parts, initramfs=archive, memory=memory), tmp_path), tmp_path)
    with archive.open("wb") as file:
        file.truncate(31 * MIB)
    with pytest.raises(InputError, match="do not fit: the chip has room for 31,457,280"):
        compose(falcon(replace(parts, initramfs=archive), tmp_path), tmp_path)
