"""What SPL is told of a hibernation image: the plan on the card, the swap area, and the tree of the kernel."""

import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from bootlab.build.board.bootloader import FalconPlaces
from bootlab.build.board.card import CardParts, compose_card
from bootlab.build.board.hibernation import (
    PATCH,
    HibernationParts,
    generation,
    make_plan,
    with_hibernation,
    without_sleep,
)
from bootlab.build.cache import Cache
from bootlab.build.root.left_disks import make_swap
from bootlab.errors import InputError
from bootlab.sources import EXAMPLES
from bootlab.system import BOARDS, Card, MachineType, read_system

BOARD = BOARDS[MachineType.ORANGEPI_PC, "armv7"]
MEMORY = range(0x40000000, 0x80000000)
PLAN = struct.Struct("<16s9I352sI")
SWAP_MIB = 4


def parts_of(folder: Path, kernel: str = "6.12.117 #1 Thu") -> HibernationParts:
    swap = make_swap(SWAP_MIB, Cache(folder / "cache"))
    return HibernationParts(swap, kernel, 0x40107540, range(0x40602000, 0x40603000))


def test_a_plan_says_where_the_image_is_and_where_its_kernel_is_entered(tmp_path: Path) -> None:
    plan = make_plan(parts_of(tmp_path), "0123", BOARD, MEMORY, 60 << 20)
    assert len(plan) == 512
    magic, *numbers, note, crc = PLAN.unpack_from(plan)
    assert magic.rstrip(b"\0") == b"bootlab-hib-spl" and crc == zlib.crc32(plan[: PLAN.size - 4])
    swap_at, note_at, resume_to, nosave, nosave_size, memory, memory_size, own, own_size = numbers
    assert (swap_at * 512, note_at * 512) == (60 << 20, (64 << 20) - 8192)
    assert (resume_to, nosave, nosave_size) == (0x40107540, 0x40602000, 0x1000)
    assert (memory, memory_size) == (0x40000000, 1 << 30)
    assert (own, own + own_size) == (BOARD.loader_memory.start, BOARD.loader_memory.stop)
    assert note.rstrip(b"\0") == b"kernel 6.12.117 #1 Thu\ncard 0123\n"


def test_a_kernel_whose_name_leaves_no_room_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"card.swap_mib: the kernel's name is too long"):
        make_plan(parts_of(tmp_path, "6" * 340), "0123", BOARD, MEMORY, 60 << 20)


def test_the_word_that_has_a_board_hibernate_is_no_part_of_its_card() -> None:
    assert without_sleep("quiet bootlab.sleep=disk:/dev/mmcblk0p2 panic=-1") == "quiet panic=-1"
    assert generation(b"one", b"tree") != generation(b"two", b"tree") != generation(b"two", b"trees")


def test_a_card_with_a_swap_area_has_an_spl_that_looks_for_an_image() -> None:
    system = with_hibernation(read_system(EXAMPLES / "persistence/hibernated-board.toml"))
    assert system.bootloader is not None and system.bootloader.patches[-1] == PATCH and BOARD.card is not None
    assert int(system.bootloader.options["SPL_HIBERNATED_SECTOR"], 16) * 512 == BOARD.card.hibernation_at
    assert with_hibernation(plain := read_system(EXAMPLES / "board.toml")) is plain


@pytest.mark.skipif(
    not all(map(shutil.which, ("mformat", "fdtput", "dtc"))), reason="needs mtools and device-tree-compiler"
)
def test_the_card_of_the_boot_before_is_that_of_the_boot_that_wakes_but_for_its_command_line(tmp_path: Path) -> None:
    (tmp_path / "uboot").write_bytes(b"SPL and U-Boot")
    (tmp_path / "kernel").write_bytes(b"zImage" * 1000)
    source = "/dts-v1/; / { #address-cells = <1>; #size-cells = <1>; chosen { }; };"
    tree = subprocess.run(["dtc", "-q", "-O", "dtb"], input=source.encode(), capture_output=True, check=True).stdout
    (tmp_path / "tree").write_bytes(tree)
    assert (layout := BOARD.card) is not None
    falcon = FalconPlaces(layout.args_at, layout.args_size, layout.kernel_at)
    cards = []
    for words in ("quiet", "quiet bootlab.sleep=disk:/dev/mmcblk0p2"):
        parts = CardParts(
            bootloader=tmp_path / "uboot",
            kernel=tmp_path / "kernel",
            device_tree=tmp_path / "tree",
            cmdline=words,
            initramfs=None,
            falcon=falcon,
            memory=MEMORY,
            hibernation=parts_of(tmp_path),
        )
        cards.append(compose_card(Card(swap_mib=SWAP_MIB), parts, BOARD, Cache(tmp_path / "cache")).read_bytes())
    wakes, before = cards
    # All but the args, and the tree in the partition of U-Boot proper.
    behind = layout.args_at + layout.args_size
    for span in (slice(0, layout.args_at), slice(behind, layout.files_at), slice(-(SWAP_MIB << 20), None)):
        assert wakes[span] == before[span]
    assert b"bootlab.sleep=" in before[layout.args_at : behind] and b"bootlab.sleep=" not in wakes
    plan = PLAN.unpack_from(wakes, layout.hibernation_at)
    kind, at, size = struct.unpack_from("<4xB3xII", wakes, 446 + 16)
    assert (kind, at, at + size) == (0x82, plan[1], len(wakes) // 512)
    assert wakes[at * 512 + 4086 : at * 512 + 4096] == b"SWAPSPACE2"
    for card in cards:
        (tmp_path / "args").write_bytes(card[layout.args_at : behind])
        said = subprocess.run(
            ["fdtget", tmp_path / "args", "/chosen", "bootlab,card"], capture_output=True, check=True, text=True
        )
        assert f"card {said.stdout.strip()}\n" in plan[10].decode()
        node = f"/reserved-memory/bootlab-loader@{BOARD.loader_memory.start:x}"
        names = subprocess.run(["fdtget", "-p", tmp_path / "args", node], capture_output=True, check=True, text=True)
        # Mapped: hibernation copies every page that is reserved.
        assert names.stdout.split() == ["reg"]
