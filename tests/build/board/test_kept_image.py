"""What SPL is told of RAM that outlived the power: the plan on the card, and the region in the device tree."""

import hashlib
import shutil
import struct
import subprocess
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bootlab.build.board.bootloader import FalconPlaces
from bootlab.build.board.card import CardParts, compose_card
from bootlab.build.board.kept_image import PATCH, make_plan, padded_kernel, with_kept_ram
from bootlab.build.board.legacy_image import kernel_image
from bootlab.build.cache import Cache
from bootlab.build.root.kept_region import header_block, read_header, spoil
from bootlab.errors import InputError
from bootlab.sources import EXAMPLES, GUEST
from bootlab.system import BOARDS, Card, Fault, KeptRam, MachineType, read_system
from tests.build.board.spl_file import compile_spl_file

BOARD = BOARDS[MachineType.ORANGEPI_PC, "armv7"]
KEPT = KeptRam(size_mib=2, at_mib=1280, verify="all")
SPAN = range(256 << 20, 258 << 20)
PLAN = struct.Struct("<16s7I64sI")


def test_a_plan_says_where_what_lies_and_what_its_check_comes_to() -> None:
    kernel, args = padded_kernel(b"kernel" * 1000), b"a tree"
    assert len(kernel) == 8192 and kernel.startswith(b"kernel" * 1000) and not kernel[6000:].strip(b"\0")
    plan = make_plan(KEPT, kernel, args, 0x42000000)
    assert len(plan) == 512
    magic, start, size, count, args_at, kernel_to, verify, crc, root, own_crc = PLAN.unpack_from(plan)
    image = kernel + b"a tree\0\0"
    assert (magic, start, size) == (b"bootlab-kept-spl", 0x50000000, 2 << 20)
    assert (count, args_at, kernel_to, verify) == (8200, 8192, 0x42000000, 1)
    assert crc == zlib.crc32(image) and root.decode() == hashlib.sha256(image).hexdigest()
    assert own_crc == zlib.crc32(plan[: PLAN.size - 4]) and not plan[PLAN.size :].strip(b"\0")


def test_another_kernel_or_tree_is_another_generation() -> None:
    roots = {
        PLAN.unpack_from(make_plan(KEPT, padded_kernel(kernel), args, 0x42000000))[8]
        for kernel in (b"one", b"other")
        for args in (b"tree", b"another tree")
    }
    assert len(roots) == 4


def test_a_kernel_that_is_larger_than_its_region_is_refused() -> None:
    make_plan(KEPT, padded_kernel(bytes((2 << 20) - 8192)), b"tree", 0x42000000)
    with pytest.raises(InputError, match=r"card.kept_ram.size_mib: 2 MiB do not hold this kernel.* 2\.00 MiB"):
        make_plan(KEPT, padded_kernel(bytes((2 << 20) - 4096)), b"tree", 0x42000000)


def test_a_kernel_that_would_be_entered_in_the_region_that_it_is_copied_from_is_refused() -> None:
    kernel = padded_kernel(bytes(8192))
    for at in (KEPT.start, KEPT.start - 4096, KEPT.start + KEPT.size - 4096):
        with pytest.raises(InputError, match=r"card.load_address: a kernel of 8,192 bytes .* 0x50000000 to 0x50200000"):
            make_plan(KEPT, kernel, b"tree", at)
    for at in (KEPT.start - 8192, KEPT.start + KEPT.size):
        make_plan(KEPT, kernel, b"tree", at)


def test_the_bootloader_is_built_to_look_where_the_card_says_it() -> None:
    system = read_system(EXAMPLES / "persistence/kept-board.toml")
    bootloader = with_kept_ram(system).bootloader
    assert bootloader is not None and bootloader.patches[-1] == PATCH and BOARD.card is not None
    assert int(bootloader.options["SPL_KEPT_RAM_SECTOR"], 16) * 512 == BOARD.card.kept_at
    assert bootloader.options["SPL_KEPT_RAM"] == "y"
    assert with_kept_ram(plain := read_system(EXAMPLES / "board.toml")) is plain
    without = system.with_part("bootloader", options={"SPL_KEPT_RAM": "n"})
    with pytest.raises(InputError, match=r"bootloader.options.SPL_KEPT_RAM: card.kept_ram decides it"):
        with_kept_ram(without)


@pytest.mark.skipif(
    not all(map(shutil.which, ("mformat", "fdtput", "dtc"))), reason="needs mtools and device-tree-compiler"
)
def test_the_card_has_the_plan_of_what_spl_reads_from_it_and_the_kernel_stays_off_the_region(tmp_path: Path) -> None:
    (tmp_path / "uboot").write_bytes(b"SPL and U-Boot")
    (tmp_path / "kernel").write_bytes(b"zImage" * 1000)
    source = "/dts-v1/; / { #address-cells = <1>; #size-cells = <1>; chosen { }; };"
    tree = subprocess.run(["dtc", "-q", "-O", "dtb"], input=source.encode(), capture_output=True, check=True).stdout
    (tmp_path / "tree").write_bytes(tree)
    assert (layout := BOARD.card) is not None
    falcon = FalconPlaces(layout.args_at, layout.args_size, layout.kernel_at)
    files = (tmp_path / name for name in ("uboot", "kernel", "tree"))
    parts = CardParts(*files, "quiet", None, falcon, range(0x40000000, 0x80000000))
    data = compose_card(Card(kept_ram=KEPT), parts, BOARD, Cache(tmp_path / "cache")).read_bytes()
    _, _, _, count, args_at, _, _, crc, _, _ = PLAN.unpack_from(data, layout.kept_at)
    # Behind the 64 bytes of the legacy image, whose header has the size; and what SPL reads of the args.
    kernel_at = layout.kernel_at + 64
    assert struct.unpack_from(">I", data, layout.kernel_at + 12)[0] == args_at
    loaded = data[kernel_at : kernel_at + args_at] + data[layout.args_at : layout.args_at + count - args_at]
    assert zlib.crc32(loaded) == crc
    (tmp_path / "args").write_bytes(data[layout.args_at : layout.args_at + layout.args_size])
    node = "/reserved-memory/bootlab-kept@50000000"
    words = subprocess.run(["fdtget", "-t", "x", tmp_path / "args", node, "reg"], capture_output=True, check=True)
    assert words.stdout == b"50000000 200000\n"
    properties = subprocess.run(["fdtget", "-p", tmp_path / "args", node], capture_output=True, check=True)
    assert "no-map" in properties.stdout.decode().split()
    # A card without kept RAM is the one that it was.
    plain = compose_card(Card(), parts, BOARD, Cache(tmp_path / "cache")).read_bytes()
    assert not plain[layout.kept_at : layout.kept_at + 512].strip(b"\0")
    assert struct.unpack_from(">I", plain, layout.kernel_at + 12)[0] == 6000


@pytest.fixture(scope="module")
def spl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SPL's file out of the patch, compiled for this host."""
    around = Path(__file__).parent / "kept_on_host.c"
    return compile_spl_file(PATCH, "spl_kept_ram.c", around, tmp_path_factory.mktemp("spl"))


@pytest.fixture(scope="module")
def settle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """bootlab-kept of a board, compiled for this host: its device tree and memory lie where it is started."""
    program = tmp_path_factory.mktemp("settle") / "settle"
    sources = [GUEST / "kept/board.c", GUEST / "kept/header.c", *sorted((GUEST / "shared").glob("*.c"))]
    places = ['-DDEVICE_TREE="tree"', '-DMEMORY="memory"']
    words = ["cc", "-D_GNU_SOURCE", *places, f"-I{GUEST}", f"-I{GUEST}/kept", "-O1", "-o", program, *sources]
    subprocess.run(words, check=True)
    return program


@dataclass
class OnHost:
    """A board's card and memory, as files, and what its SPL does with them."""

    spl: Path
    settle: Path
    card: Path
    memory: Path

    def switch_on(self) -> list[str]:
        words = [self.spl, self.card, self.memory]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()

    def become_ready(self) -> str:
        """Have the system say that it is ready; the last word of what that came to."""
        node = self.memory.parent / "tree" / "reserved-memory" / "bootlab-kept@50000000"
        node.mkdir(parents=True, exist_ok=True)
        # From the file's first byte on, which is the memory's.
        (node / "reg").write_bytes(struct.pack(">II", SPAN.start, len(SPAN)))
        done = subprocess.run(
            [self.settle, "settle"], cwd=self.memory.parent, capture_output=True, text=True, check=False
        )
        assert done.returncode == (0 if done.stdout.endswith("mark kept\n") else 1)
        return done.stdout.removesuffix("\n").rpartition(" ")[2]

    def region(self) -> bytes:
        with self.memory.open("rb") as file:
            file.seek(SPAN.start)
            return file.read(len(SPAN))

    def say(self, state: str) -> None:
        """Have the header say another state, as bootlab-kept does when the system is ready."""
        with self.memory.open("r+b") as file:
            file.seek(SPAN.stop - 4096)
            header = read_header(file.read(4096))
            assert header is not None and header.state == "trying"
            file.seek(SPAN.stop - 4096)
            file.write(header_block(replace(header, state=state)))


def write_card(path: Path, kernel: bytes, verify: str = "all") -> None:
    kernel, args = padded_kernel(kernel), b"\xd0\x0d\xfe\xed" + b"tree" * 9
    with path.open("wb") as card:
        card.truncate(8 << 20)
        for at, content in (
            (3 << 20, args),
            ((3 << 20) + (512 << 10), make_plan(KEPT.model_copy(update={"verify": verify}), kernel, args, 0x42000000)),
            (4 << 20, kernel_image(kernel, 0x42000000)),
        ):
            card.seek(at)
            card.write(content)


@pytest.fixture
def on_host(spl: Path, settle: Path, tmp_path: Path) -> OnHost:
    write_card(tmp_path / "card", bytes(range(256)) * 300)
    with (tmp_path / "memory").open("wb") as memory:
        memory.truncate(0x11000000)
    return OnHost(spl, settle, tmp_path / "card", tmp_path / "memory")


def test_spl_fills_the_ram_from_the_card_and_takes_it_once_the_system_was_ready(on_host: OnHost) -> None:
    lost = ["bootlab: fact kept_ram_refused nothing is there: the RAM was lost", "mark kept_refused"]
    assert on_host.switch_on() == [*lost, "mark refill_half", "card"]
    # Nobody has said that this start became ready.
    hung = "bootlab: fact kept_ram_refused the last start of this image did not become ready"
    assert on_host.switch_on()[0] == hung
    on_host.say("valid")
    assert on_host.switch_on() == ["mark root_kept", "kept RAM"]
    assert on_host.switch_on()[0] == hung


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault.RAM_LOST, "nothing is there: the RAM was lost"),
        (Fault.HEADER_BIT, "the header is damaged"),
        (Fault.IMAGE_BIT, "what lies there is not what it was: its CRC is another"),
        (Fault.OLD_IMAGE, "another image: "),
    ],
)
def test_spl_refuses_what_is_wrong_and_fills_it_anew(on_host: OnHost, fault: Fault, said: str) -> None:
    on_host.switch_on()
    on_host.say("valid")
    spoil(on_host.memory, SPAN, fault, b"")
    refused, *_, where = on_host.switch_on()
    assert refused.startswith(f"bootlab: fact kept_ram_refused {said}") and where == "card"
    on_host.say("valid")
    assert on_host.switch_on() == ["mark root_kept", "kept RAM"]


def test_spl_refuses_a_region_that_was_being_filled_and_a_card_that_was_updated_or_has_no_plan(on_host: OnHost) -> None:
    on_host.switch_on()
    on_host.say("filling")
    assert "being filled when the power was cut" in on_host.switch_on()[0]
    on_host.say("valid")
    write_card(on_host.card, b"another kernel")
    assert "another image: " in on_host.switch_on()[0]
    on_host.say("valid")
    with on_host.card.open("r+b") as card:
        card.seek((3 << 20) + (512 << 10))
        card.write(bytes(512))
    assert on_host.switch_on() == [
        "bootlab: fact kept_ram_refused the card has no plan of it",
        "mark kept_refused",
        "card",
    ]


def test_a_system_that_is_ready_passes_the_trial_of_the_start_that_spl_made_and_no_other(on_host: OnHost) -> None:
    on_host.switch_on()
    assert on_host.become_ready() == "kept" and on_host.switch_on() == ["mark root_kept", "kept RAM"]
    # That start hung, and somebody has U-Boot proper start the card's system: which proves nothing of it.
    version = on_host.memory.parent / "tree" / "chosen" / "u-boot,version"
    version.parent.mkdir()
    version.touch()
    assert on_host.become_ready() == "not_kept"
    version.unlink()
    assert "did not become ready" in on_host.switch_on()[0]
    for state in ("filling", "bad"):
        on_host.say(state)
        assert on_host.become_ready() == "not_kept"
        on_host.switch_on()
    spoil(on_host.memory, SPAN, Fault.HEADER_BIT, b"")
    assert on_host.become_ready() == "not_kept"


@pytest.mark.parametrize(
    ("word", "value"),
    [
        (0, 0xFFFFF000),  # goes on at address 0
        (0, 0x43000000),  # over the args
        (1, 0x1000),  # holds no more than its header
        (2, 0xFFFFFFFC),
        (3, 0),  # all of it args, more than SPL has room for
        (3, 0x80000000),
        (4, 0x50001000),  # the kernel over the region that it is copied from
        (4, 0x42FFF000),  # and over the args
        (4, 0xFFFFF000),
        (5, 7),
    ],
)
def test_spl_takes_no_plan_that_would_write_over_something_else(on_host: OnHost, word: int, value: int) -> None:
    on_host.switch_on()
    on_host.say("valid")
    before = on_host.region()
    at = (3 << 20) + (512 << 10)
    with on_host.card.open("r+b") as card:
        card.seek(at)
        plan = bytearray(card.read(PLAN.size - 4))
        struct.pack_into("<I", plan, 16 + 4 * word, value)
        card.seek(at)
        card.write(plan + struct.pack("<I", zlib.crc32(plan)))
    refused, *_, where = on_host.switch_on()
    why = "cannot verify it as the card's plan asks" if word == 5 else "the card's plan of it cannot be"
    assert why in refused and where == "card"
    assert on_host.region() == before


def test_a_card_that_was_updated_half_way_fills_nothing_and_what_hung_stays_refused(on_host: OnHost) -> None:
    on_host.switch_on()
    on_host.say("valid")
    on_host.switch_on()
    # This start hung; and now the card has another kernel than its plan says.
    with on_host.card.open("r+b") as card:
        card.seek(4 << 20)
        card.write(kernel_image(padded_kernel(b"a newer kernel"), 0x42000000))
    _, _, said, where = on_host.switch_on()
    assert said == "bootlab: kept RAM is not filled: the card's kernel is not the one of its plan" and where == "card"
    header = read_header(on_host.region()[-4096:])
    assert header is not None and header.state == "bad"


def test_without_a_check_spl_enters_a_turned_bit(on_host: OnHost) -> None:
    """The named risk of `verify = "header"`."""
    write_card(on_host.card, bytes(range(256)) * 300, "header")
    on_host.switch_on()
    on_host.say("valid")
    spoil(on_host.memory, SPAN, Fault.IMAGE_BIT, b"")
    assert on_host.switch_on() == ["mark root_kept", "something else"]
