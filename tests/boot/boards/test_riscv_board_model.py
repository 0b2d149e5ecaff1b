"""The riscv64 board's model: what reading its flash chip and writing its serial line take, in every stage that does."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build import boot_files
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.experiments.series import are_identical
from bootlab.measure.line_and_card_cost import BoardTerms, board_terms
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System, read_system
from bootlab.timeline import marks as m
from tests.boot.boards.test_board import with_techniques

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

EXAMPLE = Path(__file__).parents[3] / "examples" / "riscv-board" / "modelled.toml"
_MS = 1_000_000
_CHAR_NS = 10 * 10**9 // 115200
Boot = Callable[[System], BootRecord]


@pytest.fixture(scope="module")
def quick() -> System:
    """The example without what U-Boot waits and looks for."""
    return with_techniques(read_system(EXAMPLE), "bootloader_no_delay", "bootloader_no_scan")


def _ready(record: BootRecord) -> tuple[int, BoardTerms]:
    assert record.outcome is Outcome.READY, record.detail
    terms = board_terms(record)
    assert terms is not None and record.ready_ns is not None
    return record.ready_ns, terms


def _reading_ns(system: System, *sizes: int) -> float:
    assert system.board_model is not None
    return sum(sizes) * 10**9 / (system.board_model.storage_kib_s * 1024)


def test_three_boots_are_one_and_wait_for_what_they_read(run_boot: Boot, quick: System, shop: Workshop) -> None:
    records = [run_boot(quick) for _ in range(3)]
    assert are_identical(records)
    _, terms = _ready(records[0])
    files = boot_files.prepare(shop, quick)
    assert files.initramfs is not None
    bootloader = boot_files.build_bootloader_of(shop, quick).image
    read_ns = _reading_ns(quick, *(path.stat().st_size for path in (bootloader, files.kernel, files.initramfs)))
    # Copying, meanwhile, is a part of it.
    assert terms.loader_card_ns is not None and 0.9 * read_ns < terms.loader_card_ns < read_ns
    # OpenSBI says nothing, so all characters before the kernel's are SPL's and U-Boot proper's.
    said = (Path(records[0].run) / "console.log").read_bytes()
    assert b"OpenSBI v" not in said
    before = said.index(b"Linux version") - len(b"[    0.000000] ")
    assert terms.loader_line_ns is not None and terms.loader_line_ns < before * _CHAR_NS
    assert terms.loader_line_ns > 0.5 * before * _CHAR_NS
    assert int(records[0].facts["board_model.uart_bytes"]) > 1000


def test_a_quicker_chip_saves_what_was_waited_for_it(run_boot: Boot, quick: System) -> None:
    slow_ns, slow = _ready(run_boot(quick))
    quick_ns, less = _ready(run_boot(quick.with_part("board_model", storage_mib_s=200)))
    assert slow.loader_card_ns is not None and less.loader_card_ns is not None
    saved = slow.loader_card_ns - less.loader_card_ns
    assert saved > 50 * _MS
    assert slow_ns - quick_ns == pytest.approx(saved, rel=0.02)


def test_an_endless_line_saves_what_was_waited_for_it(run_boot: Boot, quick: System) -> None:
    on_line_ns, terms = _ready(run_boot(quick))
    endless_ns, endless = _ready(run_boot(quick.with_part("board_model", uart_baud=0)))
    assert terms.loader_line_ns is not None and terms.kernel_line_ns is not None
    assert (endless.loader_line_ns, endless.kernel_line_ns) == (0, 0)
    assert terms.kernel_line_ns > 1000 * _CHAR_NS
    assert on_line_ns - endless_ns == pytest.approx(terms.kernel_line_ns + terms.loader_line_ns, rel=0.05)


def test_in_falcon_mode_spl_waits_for_what_it_loads(run_boot: Boot, quick: System, shop: Workshop) -> None:
    falcon = with_techniques(quick, "bootloader_falcon")
    record = run_boot(falcon)
    _, terms = _ready(record)
    files = boot_files.prepare(shop, falcon)
    assert files.opensbi is not None and files.initramfs is not None
    read_ns = _reading_ns(falcon, *(path.stat().st_size for path in (files.opensbi, files.kernel, files.initramfs)))
    assert terms.loader_card_ns is not None and 0.9 * read_ns < terms.loader_card_ns < 1.01 * read_ns
    spl_ns = record.marks[m.OPENSBI_ENTRY] - record.marks[m.SPL_ENTRY]
    assert spl_ns > terms.loader_card_ns, "the waiting is SPL's"


def test_a_packed_kernel_takes_what_its_fewer_bytes_take(run_boot: Boot, quick: System, shop: Workshop) -> None:
    packed = quick.with_part("flash", compression="gzip")
    (_, terms), (_, unpacked) = (_ready(run_boot(system)) for system in (packed, quick))
    files = boot_files.prepare(shop, packed)
    assert files.flash is not None and quick.board is not None and quick.board.flash is not None
    chip, at = files.flash.read_bytes(), quick.board.flash.kernel_at
    assert chip[at : at + 2] == bytes.fromhex("1f8b")
    assert terms.loader_card_ns is not None and unpacked.loader_card_ns is not None
    kernel_ns = _reading_ns(quick, files.kernel.stat().st_size)
    assert 0.3 * kernel_ns < unpacked.loader_card_ns - terms.loader_card_ns < 0.8 * kernel_ns


def test_an_opensbi_that_prints_is_refused(quick: System, shop: Workshop) -> None:
    assert quick.bootloader is not None
    options = {**quick.bootloader.options, "SPL_OPENSBI_SCRATCH_OPTIONS": "0x0"}
    with pytest.raises(InputError, match="SPL_OPENSBI_SCRATCH_OPTIONS=0x0 has OpenSBI print"):
        boot_files.prepare(shop, quick.with_part("bootloader", options=options))
