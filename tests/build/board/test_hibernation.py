"""What SPL is told of a hibernation image: the plan on the card, the swap area, and the tree of the kernel."""

import random
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lz4.block
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
from tests.build.board.composed_image import PAGE, SF_CRC32, SF_LZ4, ZERO, ComposedImage, pack
from tests.build.board.spl_file import compile_spl_file

BOARD = BOARDS[MachineType.ORANGEPI_PC, "armv7"]
MEMORY = range(0x40000000, 0x80000000)
PLAN = struct.Struct("<16s9I352sI")
SWAP_MIB = 4
SWAP_AT = 4 << 20
NOTE_IN_SWAP = (SWAP_MIB << 20) - 8192
MAPPED = range(0x40000000, 0x50000000)
"""The board's memory in runs on this host."""
USED = range(0x41000000, 0x41000000 + 1600 * PAGE, PAGE)
"""Where pages of composed images lie."""
FILLED = b"\xee" * PAGE
WORK_END = BOARD.loader_memory.start + (5 << 20)
"""What SPL reads and unpacks to ends before that, and its heap, stack and data are behind it."""


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


@pytest.fixture(scope="module")
def spl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SPL's file out of the patch, compiled for this host under the sanitizers of address and undefined behaviour."""
    around = Path(__file__).parent / "hibernated_on_host.c"
    folder = tmp_path_factory.mktemp("spl")
    return compile_spl_file(PATCH, "spl_hibernated.c", around, folder, sanitized=True)


@dataclass
class OnHost:
    """A board's card and memory, as files, and what its SPL does with them."""

    spl: Path
    folder: Path

    def write_card(self, image: ComposedImage | None, *, wrong: Callable[[bytearray], None] = lambda _: None) -> None:
        """Write a card with an image. `wrong`: what is done to the whole card then."""
        parts = parts_of(self.folder)
        swap = bytearray(parts.swap.read_bytes())
        if image is not None:
            image.into(swap)
            note = b"bootlab-hibernation 1\nkernel 6.12.117 #1 Thu\ncard 0123\n"
            note += b"crc %08x\n" % zlib.crc32(note)
            swap[NOTE_IN_SWAP : NOTE_IN_SWAP + len(note)] = note
        card = bytearray(SWAP_AT) + swap
        assert BOARD.card is not None
        plan = make_plan(parts, "0123", BOARD, MAPPED, SWAP_AT)
        card[BOARD.card.hibernation_at : BOARD.card.hibernation_at + 512] = plan
        wrong(card)
        (self.folder / "card").write_bytes(card)
        # Not zeros: what is left alone can be told from what is cleared.
        with (self.folder / "memory").open("wb") as memory:
            memory.truncate(len(MAPPED))
            for at in (*USED, *range(WORK_END, BOARD.loader_memory.stop, PAGE)):
                memory.seek(at - MAPPED.start)
                memory.write(FILLED)

    def switch_on(self) -> list[str]:
        words = [self.spl, self.folder / "card", self.folder / "memory"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
        return done.stdout.splitlines()

    def refusal(self) -> str:
        """Return why an image is refused. Nothing but pages and SPL's own was written to; it is not taken again."""
        *said, refused, mark, end = self.switch_on()
        assert said in ([], ["mark resuming"]) and (mark, end) == ("mark hibernation_refused", "card")
        own = self.memory(BOARD.loader_memory.start, len(BOARD.loader_memory))
        assert not own[: WORK_END - BOARD.loader_memory.start].strip(b"\0")
        assert not own[WORK_END - BOARD.loader_memory.start :].strip(b"\xee")
        assert self.switch_on()[-2:] == ["bootlab: fact hibernation none", "card"]
        return refused.removeprefix("bootlab: fact hibernation_refused ")

    def memory(self, at: int, size: int) -> bytes:
        with (self.folder / "memory").open("rb") as file:
            file.seek(at - MAPPED.start)
            return file.read(size)


@pytest.fixture
def on_host(spl: Path, tmp_path: Path) -> OnHost:
    if shutil.which("mkswap", path="/usr/sbin:/usr/bin:/sbin:/bin") is None:
        pytest.skip("needs mkswap")
    return OnHost(spl, tmp_path)


def pages_of(count: int) -> dict[int, bytes]:
    """Return pages, from USED on: some that pack well, some that do not, some of zeros."""
    numbers = random.Random(7)
    kinds = (
        lambda: bytes(PAGE),
        lambda: numbers.randbytes(PAGE),
        lambda: (b"a kernel's %05d" % numbers.randrange(99999) * PAGE)[:PAGE],
        lambda: struct.pack("<I", numbers.randrange(1 << 30)) * (PAGE // 4),
    )
    return {USED.start // PAGE + at: kinds[at % len(kinds)]() for at in range(count)}


def test_spl_puts_each_page_of_an_image_into_its_place(on_host: OnHost) -> None:
    pages = pages_of(1500)
    own = {BOARD.loader_memory.start // PAGE: b"\x11" * PAGE, BOARD.loader_memory.stop // PAGE - 1: b"\x22" * PAGE}
    on_host.write_card(ComposedImage({**pages, **own}))
    assert on_host.switch_on() == ["mark resuming", "entered at 40107540"]
    assert on_host.memory(USED.start, PAGE * len(pages)) == b"".join(pages.values())
    # What the kernel has saved of SPL's own is left out, and what is behind the image is left alone.
    end = BOARD.loader_memory.stop
    assert on_host.memory(end - PAGE, PAGE) == on_host.memory(USED.start + PAGE * len(pages), PAGE) == FILLED
    # Of the kernel that wakes what is in no image is zero.
    assert on_host.memory(0x40602000, 0x1000) == bytes(0x1000)
    assert on_host.switch_on()[-2:] == ["bootlab: fact hibernation none", "card"]


def test_without_an_image_the_card_is_booted(on_host: OnHost) -> None:
    on_host.write_card(None)
    assert on_host.switch_on() == ["bootlab: fact hibernation none", "card"]


def test_without_a_plan_the_card_is_booted_and_no_memory_is_written_to(on_host: OnHost) -> None:
    assert BOARD.card is not None
    at = BOARD.card.hibernation_at

    def erase(card: bytearray) -> None:
        card[at : at + 512] = bytes(512)

    def lead_elsewhere(card: bytearray) -> None:
        card[at + 16 : at + 16 + 9 * 4] = struct.pack("<9I", *[0xFFFFF000] * 9)

    def cut(card: bytearray) -> None:
        del card[at:]

    def contradict(card: bytearray) -> None:
        struct.pack_into("<I", card, at + 16 + 7 * 4, USED.start)  # `own`, where SPL's is not
        struct.pack_into("<I", card, at + PLAN.size - 4, zlib.crc32(card[at : at + PLAN.size - 4]))

    for wrong, said in (
        (erase, "the card has no plan of it"),
        (lead_elsewhere, "the card has no plan of it"),
        (cut, "the card's plan of it cannot be read"),
        (contradict, "the card's plan of it cannot be"),
    ):
        on_host.write_card(ComposedImage(pages_of(10)), wrong=wrong)
        before = (on_host.folder / "memory").read_bytes()
        assert on_host.switch_on() == [f"bootlab: fact hibernation_refused {said}", "mark hibernation_refused", "card"]
        assert (on_host.folder / "memory").read_bytes() == before


OUTSIDE = (MAPPED.stop >> 12, (MAPPED.start >> 12) - 1, 0, (1 << 20) + (USED.start >> 12), 0x7FFFFFFF)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        *(({"extra_pfns": [pfn]}, "its pages lie where none may") for pfn in OUTSIDE),
        *(({"extra_pfns": [pfn | ZERO]}, "its pages lie where none may") for pfn in OUTSIDE[:-1]),
        # A page more than has a place, and one less.
        ({"said_pages": (42, 39)}, "it is cut off"),
        ({"said_pages": (40, 38)}, "its pages lie where none may"),
        ({"said_pages": (41, 0)}, "its pages lie where none may"),
        # Counts that go below zero, or beyond all memory.
        ({"said_pages": (0, 0)}, "it has more pages than there are"),
        ({"said_pages": (0xFFFFFFFF, 0xFFFFFFF0)}, "it is cut off"),
        ({"said_pages": (1, 0xFFFFFFFF)}, "it has more pages than there are"),
        ({"said_pages": (258, 0)}, "it has more pages than there are"),
        ({"said_pages": (10, 20)}, "it has more pages than there are"),
        ({"size_of": lambda block: 0}, "it is damaged: what is packed is none"),
        ({"size_of": lambda block: len(block) - 1}, "it is damaged: what is packed is none"),
        ({"size_of": lambda block: 0xFFFFFFFF}, "it is cut off"),
        ({"size_of": lambda block: 200_000}, "it is cut off"),
        ({"packed": lambda data: b"\xff" * 5000}, "it is damaged: what is packed is none"),
        ({"packed": lambda data: pack(data + bytes(PAGE))}, "it is damaged: what is packed is none"),
        ({"packed": lambda data: pack(data[:-1])}, "it is damaged: what is packed is none"),
        ({"crc_off_by": 1}, "it is not what it was: its CRC is another"),
        ({"kernel": ("6.12.118", "#1 Thu")}, "it is of another kernel"),
        ({"kernel": ("6" * 65, "#" * 65)}, "it is of another kernel"),
        ({"flags": SF_CRC32}, "it is not packed with LZ4"),
        ({"flags": SF_LZ4}, "it is not packed with LZ4"),
    ],
)
def test_spl_refuses_an_image_that_cannot_be(on_host: OnHost, changes: dict[str, Any], said: str) -> None:
    pages = dict(list(pages_of(100).items())[:52])
    on_host.write_card(ComposedImage(pages, **changes))
    assert on_host.refusal() == said


@pytest.mark.parametrize(
    ("page", "entry", "value"),
    [(1, 3, 0), (1, 3, 1 << 63), (1, 3, (SWAP_MIB << 8) - 1), (1, 3, 1 << 32), (1, 0, 0), (0, 0, 0)],
)
def test_spl_refuses_a_map_of_the_card_that_leads_elsewhere(on_host: OnHost, page: int, entry: int, value: int) -> None:
    """Of the map's first page an entry; of page 0, the area's header, where that page is."""

    def lead(card: bytearray) -> None:
        at = SWAP_AT + (page * PAGE + entry * 8 if page else PAGE - 32)
        struct.pack_into("<Q", card, at, value)

    on_host.write_card(ComposedImage(pages_of(300)), wrong=lead)
    assert on_host.refusal() in ("it is cut off", "it cannot be read")


def test_spl_refuses_an_image_of_which_a_part_was_never_written(on_host: OnHost) -> None:
    for left in (2, 3, 4, 30, 250):

        def cut(card: bytearray, left: int = left) -> None:
            card[SWAP_AT + left * PAGE : SWAP_AT + NOTE_IN_SWAP] = bytes(NOTE_IN_SWAP - left * PAGE)

        on_host.write_card(ComposedImage(pages_of(1200)), wrong=cut)
        assert on_host.refusal() in (
            "it is cut off",
            "it is of another kernel",
            "it is damaged: what is packed is none",
            "it is not what it was: its CRC is another",
        )


def test_spl_refuses_what_its_note_does_not_say(on_host: OnHost) -> None:
    at = SWAP_AT + NOTE_IN_SWAP
    whole = b"bootlab-hibernation 1\nkernel 6.12.117 #1 Thu\ncard 0123\n"
    for text, said in (
        (whole.replace(b"0123", b"0124"), "it is of another card"),
        (whole.replace(b"117", b"118"), "it is of another kernel"),
        (whole + b"device /dev/sda 00000000\n", "file systems were mounted, and SPL looks at none"),
        (b"", "its note is missing or damaged"),
    ):

        def change(card: bytearray, text: bytes = text) -> None:
            card[at : at + PAGE] = (text + b"crc %08x\n" % zlib.crc32(text)).ljust(PAGE, b"\0")

        on_host.write_card(ComposedImage(pages_of(10)), wrong=change)
        assert on_host.refusal() == said
    for text in (whole + b"crc 0000", whole.ljust(PAGE - 5, b"x") + b"\ncrc ", b"\xff" * PAGE):

        def damage(card: bytearray, text: bytes = text) -> None:
            card[at : at + PAGE] = text.ljust(PAGE, b"\0")

        on_host.write_card(ComposedImage(pages_of(10)), wrong=damage)
        assert on_host.refusal() == "its note is missing or damaged"


def unpacked(spl: Path, blocks: list[tuple[bytes, int]]) -> list[bytes]:
    """Return what SPL makes of each block in so much room; nothing of one that is none."""
    asked = b"".join(struct.pack("<II", len(block), room) + block for block, room in blocks)
    done = subprocess.run([spl, "unpack"], input=asked, capture_output=True, check=False)
    assert not done.returncode, done.stderr.decode()
    answers, at = list[bytes](), 0
    while at < len(done.stdout):
        (size,) = struct.unpack_from("<I", done.stdout, at)
        answers.append(done.stdout[at + 4 : at + 4 + size])
        at += 4 + size
    assert len(answers) == len(blocks)
    return answers


def test_spl_unpacks_what_was_packed_whatever_repeats_in_it(spl: Path) -> None:
    numbers = random.Random(11)
    texts = [bytes(1), b"abc", numbers.randbytes(70000)]
    # Repetitions that begin one byte before themselves, or many, at every place in a word.
    for distance in (*range(1, 40), 255, 4096, 65535):
        before = numbers.randbytes(numbers.randrange(9))
        texts.append(before + (numbers.randbytes(distance) * 5000)[: numbers.randrange(20, 5000) + distance] + b"end..")
    for _ in range(300):
        words = [numbers.randbytes(numbers.randrange(1, 50)) for _ in range(20)]
        texts.append(b"".join(numbers.choices(words, k=300)))
    packed = [pack(text) for text in texts]
    assert unpacked(spl, [(block, len(text)) for block, text in zip(packed, texts, strict=True)]) == texts
    # A byte of room less.
    assert not any(unpacked(spl, [(block, len(text) - 1) for block, text in zip(packed, texts, strict=True)]))


def test_what_is_no_block_of_lz4_writes_nowhere_and_reads_no_further(spl: Path) -> None:
    """The sanitizers stop it otherwise. What LZ4's own library takes of it comes to the same."""
    numbers, blocks = random.Random(13), list[tuple[bytes, int]]()
    for _ in range(4000):
        text = numbers.choice((bytes(500), numbers.randbytes(100) * 5, b"abcdefgh" * 300, numbers.randbytes(300)))
        block = bytearray(pack(text))
        for _ in range(numbers.randrange(1, 5)):
            block[numbers.randrange(len(block))] = numbers.choice((0, 255, numbers.randrange(256)))
        blocks.append((bytes(block[: numbers.randrange(1, len(block) + 1)]), numbers.randrange(1, 2 * len(text))))
    blocks += [(b"\xff" * size, 1000) for size in range(1, 300, 7)]
    answers = unpacked(spl, blocks)
    taken = 0
    for (block, room), answer in zip(blocks, answers, strict=True):
        try:
            expected = lz4.block.decompress(block, uncompressed_size=room)
        except lz4.block.LZ4BlockError:
            continue
        # It takes a distance of 0, too, which nobody packs.
        assert answer in (expected, b"")
        taken += bool(answer)
    assert taken > 100
