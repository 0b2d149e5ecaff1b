"""The camera board: the first decoded frame, the board model's terms, and a camera that takes time to enumerate.

Everything is built from source and runs: SPL reads the kernel from the card, vivid makes a picture, ffmpeg decodes it.
"""

import re
import shutil
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.series import are_identical
from bootlab.experiments.store import RunKind, Store
from bootlab.measure.boot import boot
from bootlab.measure.line_and_card_cost import BoardTerms, board_terms
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.report.parts.figures import model_lines
from bootlab.system import System, read_system
from bootlab.techniques.model.catalogue import load_catalogue, require_techniques
from tests.boot.conftest import Boot

pytestmark = [
    pytest.mark.boot,
    pytest.mark.network,
    pytest.mark.kernel,
    pytest.mark.skipif(shutil.which("qemu-system-arm") is None, reason="needs qemu-system-arm"),
]

_MS = 1_000_000
_CHAR_NS = 10 * 10**9 // 115200


EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def fast() -> System:
    return read_system(EXAMPLES / "camera-board-fast.toml")


def _ready(record: BootRecord) -> tuple[int, BoardTerms]:
    assert record.outcome is Outcome.READY, record.detail
    terms = board_terms(record)
    assert terms is not None and record.ready_ns is not None
    return record.ready_ns, terms


def test_the_first_frame_comes_within_half_a_second_exactly(fast: System, shop: Workshop, tmp_path: Path) -> None:
    prepared = prepare(shop, fast)
    run = Store(tmp_path).start(RunKind.MEASURE, fast.name, {})
    records = Engine(run).boot_all([Job(str(number), prepared) for number in range(3)])
    assert are_identical(records)
    ready_ns, terms = _ready(records[0])
    assert ready_ns < 500 * _MS
    assert "uboot_entry" not in records[0].marks, "in Falcon mode U-Boot proper never runs"
    # A card of 14.9 MiB/s: the kernel alone takes so long, of which SPL's own copying is a part.
    assert terms.loader_card_ns is not None
    assert 0 < terms.loader_card_ns < records[0].sizes["kernel"] * 10**9 // (14.9 * 2**20)
    assert records[0].facts["application.linked"] == "static" and records[0].facts["application.libc"] == "glibc"


def test_at_its_limit_the_first_frame_comes_within_three_tenths_of_a_second(
    shop: Workshop, run_boot: Boot, tmp_path: Path
) -> None:
    least = read_system(EXAMPLES / "camera-board-least.toml")
    watch = tuple(require_techniques(load_catalogue(), ["bootloader_no_regulator"])[0].proof.watch)
    record = run_boot(least)
    ready_ns, _ = _ready(record)
    assert ready_ns < 300 * _MS
    assert record.facts["application.linked"] == "static" and record.facts["application.libc"] == "glibc"
    # What the kernel has made of a tree of what it drives, and what it has of the board's memory.
    assert 10 < int(record.facts["platform_devices"]) < 30
    assert 32 << 10 < int(record.facts["mem_total_kib"]) < 64 << 10
    assert least.bootloader is not None
    with_bus = least.with_part(
        "bootloader",
        options={name: value for name, value in least.bootloader.options.items() if name != "SPL_I2C"},
    )
    (tmp_path / "with-bus").mkdir()
    waited = boot(prepare(shop, with_bus, watch=watch), tmp_path / "with-bus")
    assert waited.marks["watch:SPL:twsi_i2c_init"] < waited.marks["kernel_load"]
    assert (waited.ready_ns or 0) - ready_ns > 15 * _MS


def test_another_picture_fails_the_check(fast: System, run_boot: Boot) -> None:
    right = "07c7232f3b3fc74fd0509119ed48bd15"
    # The camera writes its clock into the picture, and decodes as well as ever.
    words = ["vivid.osd_mode=0" if word == "vivid.osd_mode=2" else word for word in fast.kernel.cmdline.split()]
    assert words != fast.kernel.cmdline.split()
    record = run_boot(fast.with_part("kernel", cmdline=" ".join(words)))
    assert record.outcome is Outcome.CHECK_FAILED
    said = re.fullmatch(rf"bootlab: check failed: frame ([0-9a-f]{{32}}), expected {right}", record.detail)
    assert said is not None and said[1] != right, record.detail
    assert "first_frame" in record.marks and "frame_checked" not in record.marks


def test_a_faster_card_saves_what_the_loader_waited_for(fast: System, run_boot: Boot) -> None:
    slow_ns, slow = _ready(run_boot(fast))
    quick_ns, quick = _ready(run_boot(fast.with_part("board_model", storage_mib_s=300)))
    assert slow.loader_card_ns is not None and quick.loader_card_ns is not None
    saved = slow.loader_card_ns - quick.loader_card_ns
    assert saved > 20 * _MS
    # What counting costs, at each FIFO's worth, is not in the count: 3 % here.
    assert slow_ns - quick_ns == pytest.approx(saved, rel=0.05)


def test_a_verbose_console_costs_its_bytes_and_nothing_on_an_endless_line(fast: System, run_boot: Boot) -> None:
    words = [word for word in fast.kernel.cmdline.split() if word != "quiet"]
    verbose = fast.with_part("kernel", cmdline=" ".join(words))
    on_line_ns, terms = _ready(run_boot(verbose))
    endless_ns, _ = _ready(run_boot(verbose.with_part("board_model", uart_baud=0)))
    assert terms.kernel_line_ns is not None and terms.loader_line_ns is not None
    assert terms.kernel_line_ns > 200 * _CHAR_NS
    assert on_line_ns - endless_ns == pytest.approx(terms.kernel_line_ns + terms.loader_line_ns, rel=0.05)


def test_a_slow_camera_enumerates_while_the_rest_boots(fast: System, run_boot: Boot) -> None:
    usb = read_system(EXAMPLES / "camera-board-usb.toml")
    records = [run_boot(usb), run_boot(usb.with_part("board_model", camera_power="spl"))]
    (late_ns, late), (early_ns, early) = map(_ready, records)
    for record, terms in zip(records, (late, early), strict=True):
        assert terms.camera_enumeration_ns == pytest.approx(1200 * _MS, abs=_MS)
        printed = [
            float(ms)
            for line in model_lines([record])
            for ms in re.findall(r"([0-9.]+) ms", line.partition("camera: ")[2])
        ]
        assert len(printed) == 3 and sum(printed) == pytest.approx((record.ready_ns or 0) / _MS, abs=0.02)
    assert early.camera_powered_ns is not None and late.camera_powered_ns is not None
    assert early.camera_powered_ns < 50 * _MS < late.camera_powered_ns
    there = run_boot(fast)
    opened_to_ready_ns = (there.ready_ns or 0) - there.marks["camera"]
    assert early_ns <= early.camera_powered_ns + 1200 * _MS + opened_to_ready_ns + 100 * _MS
    assert late_ns - early_ns == pytest.approx(late.camera_powered_ns - early.camera_powered_ns, abs=40 * _MS)
