"""A board whose SPL takes kernel and root out of RAM that outlived the power, and each way in which that is refused.

Real boots of the small board: SPL, a card, Linux and busybox. What is wrong is said, the card is read in the same
power-on, and the next start finds good RAM again.
"""

import os
import re
import shutil
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.experiments.series import are_identical
from bootlab.measure.record import BootRecord, Outcome
from bootlab.sources import EXAMPLES
from bootlab.system import Fault, PowerOn, PowerOnKind, System, read_system
from bootlab.timeline import marks as m
from tests.boot.conftest import Boot

pytestmark = [
    pytest.mark.boot,
    pytest.mark.network,
    pytest.mark.kernel,
    pytest.mark.skipif(shutil.which("qemu-system-arm") is None, reason="needs qemu-system-arm"),
]

KERNEL_BYTES = 2 << 20
PLAN_AT, ARGS_AT, KERNEL_AT = (3 << 20) + (512 << 10), 3 << 20, (4 << 20) + 64
"""On the card; the kernel behind the header of its legacy image."""
Found = Callable[..., System]


@pytest.fixture(scope="module")
def cold() -> System:
    return read_system(EXAMPLES / "persistence" / "kept-board.toml")


@pytest.fixture(scope="module")
def found(cold: System) -> Found:
    def switched_on(kind: PowerOnKind = PowerOnKind.SELF_REFRESH, fault: Fault | None = None, **card: object) -> System:
        system = cold if not card else cold.with_part("card", **card)
        return system.model_copy(update={"power_on": PowerOn(kind=kind, fault=fault)})

    return switched_on


def source(record: BootRecord) -> tuple[str | None, str | None]:
    assert record.outcome is Outcome.READY and record.power_on is not None, record.detail
    return record.power_on.source, record.power_on.refused


def read_bytes(record: BootRecord) -> int:
    return sum(phase.read_bytes or 0 for phase in record.phases)


def test_spl_enters_what_it_finds_in_kept_ram_and_reads_one_sector(run_boot: Boot, cold: System, found: Found) -> None:
    lost, kept = run_boot(cold), run_boot(found())
    assert source(lost) == ("card", "nothing is there: the RAM was lost")
    assert source(kept) == ("kept-ram", None)
    assert lost.hashes["kernel"] == kept.hashes["kernel"] and lost.hashes["card"] == kept.hashes["card"]
    order = [m.SPL_ENTRY, m.KERNEL_LOAD, m.KERNEL_JUMP, m.IMAGE_ENTRY, m.KERNEL_ENTRY, m.START_KERNEL, m.READY]
    for record in (lost, kept):
        assert [name for name in record.marks if name in order] == order
    assert kept.marks[m.KERNEL_LOAD] < kept.marks["root_kept"] < kept.marks[m.KERNEL_JUMP]
    assert lost.marks["kept_refused"] < lost.marks["refill_half"] < lost.marks[m.KERNEL_JUMP]
    # All but the sector that says what is wanted.
    assert read_bytes(lost) - read_bytes(kept) > KERNEL_BYTES
    assert kept.ready_ns is not None and lost.ready_ns is not None and kept.ready_ns < lost.ready_ns


def test_a_reset_finds_it_as_self_refresh_does(run_boot: Boot, found: Found) -> None:
    reset = run_boot(found(PowerOnKind.WARM_RESET))
    assert source(reset) == ("kept-ram", None)
    # The kernel that had the machine before stayed off the region: it is what SPL has read from the card, byte by byte.
    files = {
        key: Path(next(word for word in reset.argv if word.startswith(start)).partition(f"{key}=")[2].split(",")[0])
        for start, key in (("memory-backend-file", "mem-path"), ("if=sd", "file"))
    }
    card = files["file"].read_bytes()
    size, args_at = struct.unpack_from("<II", card, PLAN_AT + 24)
    with files["mem-path"].open("rb") as memory:
        memory.seek(256 << 20)
        region = memory.read(size)
    assert region == card[KERNEL_AT : KERNEL_AT + args_at] + card[ARGS_AT : ARGS_AT + size - args_at]


@pytest.mark.parametrize(
    ("fault", "refused"),
    [
        (Fault.RAM_LOST, "nothing is there: the RAM was lost"),
        (Fault.HEADER_BIT, "the header is damaged"),
        (Fault.IMAGE_BIT, "what lies there is not what it was: its CRC is another"),
        (Fault.REFILL_CUT, "the RAM was being filled when the power was cut"),
        (Fault.OLD_IMAGE, "another image: "),
        (Fault.HANG, "the last start of this image did not become ready"),
    ],
)
def test_what_is_wrong_is_said_and_the_card_is_read_in_the_same_power_on(
    run_boot: Boot, found: Found, fault: Fault, refused: str
) -> None:
    record = run_boot(found(fault=fault))
    where, why = source(record)
    assert where == "card" and why is not None and why.startswith(refused)
    assert "root_kept" not in record.marks and record.marks["kept_refused"] < record.marks["refill_half"]
    assert f"bootlab: fact kept_ram_refused {why}".encode() in (Path(record.run) / "console.log").read_bytes()


def test_what_uboot_proper_has_is_off_the_region_and_a_system_that_it_starts_passes_no_trial(
    run_boot: Boot, cold: System
) -> None:
    drive = next(word for word in run_boot(cold).argv if word.startswith("if=sd"))
    argv = ["qemu-system-arm", "-M", "orangepi-pc", "-nographic", "-monitor", "none", "-no-reboot", "-drive", drive]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as board:
        try:
            # A key for SPL, and one for U-Boot proper.
            told = converse(board, b"c", rb"=> ")
            told = converse(board, b"\x03\nbdinfo\n", rb"Early malloc.*=> ", once=True)
            reserved = [int(one, 16) for one in re.findall(rb"reserved\[\d+\]\t\[(0x[0-9a-f]+)-", told)]
            assert cold.board is not None and reserved and cold.board.kept_memory.stop <= min(reserved)
            told = converse(board, b"run bootcmd\n", rb"kept RAM is [^\n]*\n", once=True)
        finally:
            board.kill()
    assert b"not filled: U-Boot proper has started this system, and not SPL" in told


def converse(board: subprocess.Popen[bytes], words: bytes, until: bytes, *, once: bool = False) -> bytes:
    """Type words at a console, again and again or once, until it says something; return what it has said."""
    assert board.stdin is not None and board.stdout is not None
    heard, end = b"", time.monotonic() + 120
    os.set_blocking(board.stdout.fileno(), False)
    typed = False
    while not re.search(until, heard, re.DOTALL):
        assert time.monotonic() < end and board.poll() is None, heard[-2000:]
        if not (once and typed):
            board.stdin.write(words)
            board.stdin.flush()
            typed = True
        time.sleep(0.005)
        heard += board.stdout.read() or b""
    return heard


def test_without_a_check_a_turned_bit_is_entered(run_boot: Boot, cold: System, found: Found) -> None:
    kept = cold.card.kept_ram if cold.card is not None else None
    assert kept is not None
    spoilt = found(fault=Fault.IMAGE_BIT, kept_ram=kept.model_copy(update={"verify": "header"}))
    record = run_boot(spoilt.with_part("booted", deadline_s=20))
    # The named risk: what becomes of it is the kernel's affair, and no card is read.
    assert "root_kept" in record.marks and "kept_refused" not in record.marks


@pytest.mark.parametrize("kind", [PowerOnKind.COLD, PowerOnKind.SELF_REFRESH, PowerOnKind.WARM_RESET])
def test_three_boots_of_a_kind_are_identical(run_boot: Boot, found: Found, kind: PowerOnKind) -> None:
    records = [run_boot(found(kind)) for _ in range(3)]
    assert all(record.outcome is Outcome.READY for record in records)
    assert are_identical(records) and len({record.key for record in records}) == 1
