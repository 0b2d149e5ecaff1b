"""A card composed of small files, read back with the tools of others: mtools, debugfs, fdtget."""

import shutil
import struct
import subprocess
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.build.board.bootloader import FalconPlaces, falcon_options
from bootlab.build.board.card import CardParts, compose_card, expect_card
from bootlab.build.board.device_tree import MAGIC
from bootlab.build.cache import Cache
from bootlab.errors import InputError
from bootlab.system import BOARDS, Card, MachineType

BOARD = BOARDS[MachineType.ORANGEPI_PC, "armv7"]
assert BOARD.card is not None
FALCON = FalconPlaces(BOARD.card.args_at, BOARD.card.args_size, BOARD.card.kernel_at)
MEMORY = range(0x40000000, 0x80000000)
CMDLINE = 'console=ttyS0,115200 quiet x="a b"'
MIB = 1 << 20

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("mformat", "fdtput", "dtc"))), reason="needs mtools and device-tree-compiler"
)


@pytest.fixture
def parts(tmp_path: Path) -> CardParts:
    """A bootloader, kernel and initramfs of a few bytes, and a real device tree."""
    for name, content in (("uboot", b"SPL and U-Boot"), ("kernel", b"zImage" * 1000), ("initramfs", b"070701" * 99)):
        (tmp_path / name).write_bytes(content)
    source = '/dts-v1/; / { #address-cells = <1>; #size-cells = <1>; model = "test"; chosen { stdout-path = "x"; }; };'
    tree = subprocess.run(["dtc", "-q", "-O", "dtb"], input=source.encode(), capture_output=True, check=True).stdout
    (tmp_path / "tree.dtb").write_bytes(tree)
    names = ("uboot", "kernel", "tree.dtb")
    uboot, kernel, device_tree = (tmp_path / name for name in names)
    return CardParts(uboot, kernel, device_tree, CMDLINE, None, FALCON, MEMORY)


def compose(parts: CardParts, tmp_path: Path, **card: object) -> Path:
    return compose_card(Card.model_validate(card), parts, BOARD, Cache(tmp_path / "cache"))


def output(*argv: str | Path) -> bytes:
    return subprocess.run(argv, capture_output=True, check=True).stdout


def test_everything_is_where_the_board_looks_for_it(parts: CardParts, tmp_path: Path) -> None:
    card = compose(parts, tmp_path)
    data = card.read_bytes()
    assert len(data) == 64 * MIB
    assert data[8192:].startswith(b"SPL and U-Boot")
    args = tmp_path / "args.dtb"
    args.write_bytes(data[FALCON.args_at : FALCON.args_at + FALCON.args_size])
    assert output("fdtget", args, "/chosen", "bootargs").decode().strip() == CMDLINE
    assert output("fdtget", args, "/chosen", "stdout-path") == b"x\n"
    assert output("fdtget", "-t", "x", args, "/memory@40000000", "reg") == b"40000000 40000000\n"
    assert output("fdtget", args, "/memory@40000000", "device_type") == b"memory\n"


def test_the_raw_kernel_is_a_legacy_image(parts: CardParts, tmp_path: Path) -> None:
    data = compose(parts, tmp_path, load_address=0x44000000).read_bytes()[FALCON.kernel_at :]
    magic, checksum, _, size, load, entry, content_checksum = struct.unpack_from(">7I", data)
    assert (magic, load, entry) == (0x27051956, 0x44000000, 0x44000000)
    assert tuple(data[28:32]) == (5, 2, 2, 0)  # Linux, arm, a kernel, not compressed
    assert data[64 : 64 + size] == parts.kernel.read_bytes()
    assert content_checksum == zlib.crc32(data[64 : 64 + size])
    assert checksum == zlib.crc32(data[:4] + bytes(4) + data[8:64])


def test_uboot_proper_finds_files_and_a_script(parts: CardParts, tmp_path: Path) -> None:
    parts = CardParts(parts.bootloader, parts.kernel, parts.device_tree, CMDLINE, tmp_path / "initramfs", None, MEMORY)
    card = compose(parts, tmp_path)
    data = card.read_bytes()
    assert data[510:512] == b"\x55\xaa"
    flag, kind, start, sectors = struct.unpack_from("<B3xB3xII", data, 446)
    assert (flag, kind, start * 512, (start + sectors) * 512) == (0x80, 0x0C, 32 * MIB, len(data))
    place = f"{card}@@32M"
    assert output("mtype", "-i", place, "::zImage") == parts.kernel.read_bytes()
    assert output("mtype", "-i", place, "::initramfs") == (tmp_path / "initramfs").read_bytes()
    script = output("mtype", "-i", place, "::boot.scr")
    assert script[72:].decode().splitlines() == [
        "load mmc 0:1 ${kernel_addr_r} zImage",
        "load mmc 0:1 ${fdt_addr_r} board.dtb",
        "load mmc 0:1 ${ramdisk_addr_r} initramfs",
        "bootz ${kernel_addr_r} ${ramdisk_addr_r}:${filesize} ${fdt_addr_r}",
    ]
    # Without Falcon mode nothing lies where SPL would look for a kernel.
    assert not any(data[FALCON.args_at : 32 * MIB])


def zimage(size: int) -> bytes:
    """As much of a zImage as says how long it is."""
    return bytes(0x24) + struct.pack("<3I", 0x016F2818, 0, size) + bytes(range(256)) * (size // 256 - 1) + bytes(208)


@pytest.mark.parametrize("beside", [None, "initramfs"])
def test_an_appended_tree_is_right_behind_the_kernel(parts: CardParts, tmp_path: Path, beside: str | None) -> None:
    parts.kernel.write_bytes(zimage(4096))
    archive = None if beside is None else tmp_path / beside
    parts = CardParts(parts.bootloader, parts.kernel, parts.device_tree, CMDLINE, archive, None, MEMORY)
    card = compose(parts, tmp_path, device_tree="appended")
    place = f"{card}@@32M"
    kernel = output("mtype", "-i", place, "::zImage")
    assert kernel[:4096] == zimage(4096) and kernel[4096:4100] == MAGIC
    tree = tmp_path / "appended.dtb"
    tree.write_bytes(kernel[4096:])
    assert len(kernel) - 4096 == struct.unpack_from(">I", kernel, 4100)[0]
    assert output("fdtget", tree, "/chosen", "bootargs").decode().strip() == CMDLINE
    assert output("fdtget", "-t", "x", tree, "/memory@40000000", "reg") == b"40000000 40000000\n"
    names = {line.split()[0] for line in output("mdir", "-b", "-i", place, "::").decode().splitlines()}
    assert names == {"::/zImage", "::/boot.scr", *([] if beside is None else ["::/initramfs"])}
    script = output("mtype", "-i", place, "::boot.scr")[72:].decode().splitlines()
    load = "load mmc 0:1 ${kernel_addr_r} zImage"
    if beside is None:
        assert script == [load, "bootz ${kernel_addr_r}"]
    else:
        archive_line = "load mmc 0:1 ${ramdisk_addr_r} initramfs"
        assert script == [load, archive_line, "bootz ${kernel_addr_r} ${ramdisk_addr_r}:${filesize}"]


def test_with_an_appended_tree_the_args_say_nothing(parts: CardParts, tmp_path: Path) -> None:
    parts.kernel.write_bytes(zimage(4096))
    falcon = FalconPlaces(FALCON.args_at, 512, FALCON.kernel_at)
    parts = CardParts(parts.bootloader, parts.kernel, parts.device_tree, CMDLINE, None, falcon, MEMORY)
    data = compose(parts, tmp_path, device_tree="appended").read_bytes()
    (size,) = struct.unpack_from(">I", data, falcon.kernel_at + 12)
    kernel = data[falcon.kernel_at + 64 :][:size]
    assert kernel[:4096] == zimage(4096) and kernel[4096:4100] == MAGIC and CMDLINE.encode() in kernel
    args = tmp_path / "args.dtb"
    args.write_bytes(data[falcon.args_at :][:512])
    assert output("dtc", "-I", "dtb", "-O", "dts", args).split() == [b"/dts-v1/;", b"/", b"{", b"};"]
    assert not any(data[falcon.args_at + 72 : falcon.kernel_at])


def test_a_tree_is_not_appended_twice_nor_to_what_is_no_zimage(parts: CardParts, tmp_path: Path) -> None:
    with pytest.raises(InputError, match='card.device_tree: "appended" is for a zImage'):
        compose(parts, tmp_path, device_tree="appended")
    parts.kernel.write_bytes(zimage(4096) + MAGIC + bytes(60))
    with pytest.raises(InputError, match="has 64 bytes behind the zImage of 4,096 already"):
        compose(parts, tmp_path, device_tree="appended")


def test_an_appended_tree_counts_where_the_kernel_is_loaded(parts: CardParts, tmp_path: Path) -> None:
    parts.kernel.write_bytes(zimage(4096))
    address = BOARD.card.args_address - 4096 if BOARD.card is not None else 0
    compose(parts, tmp_path, load_address=address)
    with pytest.raises(InputError, match="would lie over the args at 0x43000000"):
        compose(parts, tmp_path, load_address=address, device_tree="appended")


def test_a_kernel_that_would_lie_over_the_device_tree_moves_it(parts: CardParts, tmp_path: Path) -> None:
    assert BOARD.card is not None
    assert BOARD.with_room_for(7 * MIB, None) is BOARD
    larger = BOARD.with_room_for(9 * MIB, None).card
    assert larger is not None and larger.args_address == BOARD.card.args_address
    assert falcon_options(larger)["SYS_BOOTM_LEN"] == "0x2000000"
    roomy = BOARD.with_room_for(17 * MIB, None)
    assert roomy.card is not None and roomy.card.args_address == 0x48000000
    assert falcon_options(roomy.card)["SPL_PAYLOAD_ARGS_ADDR"] == "0x48000000"
    # One that is loaded above it leaves it where it is.
    above = BOARD.with_room_for(17 * MIB, 0x45000000).card
    assert above is not None and above.args_address == BOARD.card.args_address
    assert "SYS_BOOTM_LEN" not in falcon_options(BOARD.card)
    parts.kernel.write_bytes(bytes(17 * MIB))
    with pytest.raises(InputError, match="would lie over the args at 0x43000000"):
        compose(parts, tmp_path)
    card = compose_card(Card(), parts, roomy, Cache(tmp_path / "cache")).read_bytes()
    assert b"load mmc 0:1 0x48000000 board.dtb" in card and b"bootz ${kernel_addr_r} - 0x48000000" in card


def test_what_the_card_asks_of_uboot() -> None:
    assert BOARD.card is not None
    assert falcon_options(BOARD.card)["SYS_MMCSD_RAW_MODE_ARGS_SECTORS"] == "0x80"
    assert falcon_options(BOARD.card, appended_tree=True)["SYS_MMCSD_RAW_MODE_ARGS_SECTORS"] == "0x1"


def test_an_ext4_partition_holds_the_same_files(parts: CardParts, tmp_path: Path) -> None:
    data = compose(parts, tmp_path, filesystem="ext4").read_bytes()
    partition = tmp_path / "partition"
    partition.write_bytes(data[32 * MIB :])
    assert data[446 + 4] == 0x83
    assert output("/sbin/debugfs", "-R", "cat /zImage", partition) == parts.kernel.read_bytes()


def test_the_same_parts_are_the_same_bytes(parts: CardParts, tmp_path: Path) -> None:
    first, second = (compose(parts, tmp_path / name).read_bytes() for name in ("a", "b"))
    assert first == second


def test_a_large_kernel_makes_a_larger_card(parts: CardParts, tmp_path: Path) -> None:
    (tmp_path / "initramfs").write_bytes(bytes(60 * MIB))
    parts = CardParts(parts.bootloader, parts.kernel, parts.device_tree, "", tmp_path / "initramfs", None, MEMORY)
    assert compose(parts, tmp_path).stat().st_size == 128 * MIB
    with pytest.raises(InputError, match="card.size_mib: 64 MiB are too few"):
        compose(parts, tmp_path, size_mib=64)


@pytest.mark.parametrize(
    "address, message",
    [
        (
            0x1000,
            r"card.load_address: 6,000 bytes from 0x1000 do not lie in the board's memory, 0x40000000 to 0x800000",
        ),
        (0x7FFFF000, "do not lie in the board's memory"),
        (0x42000002, "no multiple of 4"),
        (BOARD.card.args_address - 64, "would lie over the args at 0x43000000"),
    ],
)
def test_a_load_address_that_cannot_be_is_refused(parts: CardParts, tmp_path: Path, address: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compose(parts, tmp_path, load_address=address)


def test_what_would_lie_over_the_next_part_is_refused(parts: CardParts, tmp_path: Path) -> None:
    parts.bootloader.write_bytes(bytes(4 * MIB))
    with pytest.raises(
        InputError, match="the bootloader, 4,194,304 bytes at 0x2000, reaches into the args at 0x300000"
    ):
        compose(parts, tmp_path)


def test_options_of_the_bootloader_may_move_its_args_behind_where_a_plan_would_be(
    parts: CardParts, tmp_path: Path
) -> None:
    assert BOARD.card is not None
    moved = replace(FALCON, args_at=BOARD.card.kept_at + (64 << 10))
    data = compose(replace(parts, falcon=moved), tmp_path).read_bytes()
    assert data[moved.args_at :].startswith(MAGIC)
    with pytest.raises(InputError, match=r"card: the kernel.* reaches into the args at 0x400200"):
        compose(replace(parts, falcon=replace(FALCON, args_at=FALCON.kernel_at + 512)), tmp_path)


def test_what_is_no_device_tree_is_refused(parts: CardParts, tmp_path: Path) -> None:
    parts.device_tree.write_bytes(b"/dts-v1/;")
    with pytest.raises(InputError, match=r"card.dtb: .*: not a device tree"):
        compose(parts, tmp_path)


def test_a_finished_card_has_a_size_that_a_machine_takes(tmp_path: Path) -> None:
    card = tmp_path / "card.img"
    card.write_bytes(bytes(3 * MIB))
    with pytest.raises(
        InputError, match="card.path: .*: 3,145,728 bytes; an SD card's size is a power of two"
    ) as error:
        expect_card(card)
    assert error.value.hint == f"truncate --size=4M {card}"
    card.write_bytes(bytes(4 * MIB))
    expect_card(card)
