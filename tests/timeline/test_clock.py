"""Two clocks over each other: the lower envelope, on made-up pairs with a known answer and on real boots."""

import json
import random
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.importers.kernel import dmesg
from bootlab.importers.serial.console_lines import ConsoleLine, parse_grabserial, split_lines
from bootlab.timeline.clock import Alignment, Clock, align

DATA = Path(__file__).parent.parent / "data" / "importers"
HOST = Clock("host", 1)
KERNEL = Clock("printk", 1_000)
MS = 1_000_000


def console(name: str) -> list[ConsoleLine]:
    rows = (line.split(" ", 1) for line in (DATA / name).read_text().splitlines())
    return list(split_lines((int(t_ns), json.loads(data).encode("latin-1")) for t_ns, data in rows))


def stamped_twice(lines: list[ConsoleLine] | tuple[ConsoleLine, ...]) -> list[tuple[int, int]]:
    """Return (kernel stamp, host stamp) of every line that has both."""
    return [
        (message.t_ns, line.t_ns)
        for line in lines
        for message in dmesg.parse(line.text).lines
        if message.t_ns is not None
    ]


def late(rng: random.Random) -> int:
    return int(rng.expovariate(1 / 300_000))


@pytest.mark.parametrize("seed", range(20))
def test_late_lines_and_a_flushed_backlog_do_not_move_the_offset(seed: int) -> None:
    rng = random.Random(seed)
    stamps = [index * 2 * MS for index in range(1, 500)]
    pairs = [(t_ns, t_ns + 700 * MS + late(rng)) for t_ns in stamps]
    # The console comes up at 200 ms and writes out all that came before, a line every 50 us.
    pairs = [(t_ns, 900 * MS + index * 50_000 if t_ns < 200 * MS else host) for index, (t_ns, host) in enumerate(pairs)]
    found = align(pairs, KERNEL, HOST)
    assert abs(found.offset_ns - 700 * MS) <= found.uncertainty_ns
    assert found.uncertainty_ns < 2 * MS


def test_drift_is_stated_as_uncertainty() -> None:
    # 1000 ppm over two seconds is 2 ms, and the middle of it is the offset.
    pairs = [(t_ns, t_ns + t_ns // 1000 + 5 * MS) for t_ns in range(MS, 2000 * MS, 4 * MS)]
    found = align(pairs, KERNEL, HOST)
    assert found.since_ns == MS
    assert abs(found.offset_ns - 6 * MS) < MS // 10
    assert 9 * MS // 10 < found.uncertainty_ns < 12 * MS // 10
    assert all(abs(host - found.translate(kernel)) <= found.uncertainty_ns for kernel, host in pairs)


def test_a_clock_that_stood_still_counts_only_from_then_on() -> None:
    before = [(t_ns, t_ns + 100 * MS) for t_ns in range(MS, 200 * MS, MS)]
    after = [(t_ns, t_ns + 500 * MS) for t_ns in range(200 * MS, 1000 * MS, MS)]
    found = align(before + after, KERNEL, HOST)
    assert 200 * MS <= found.since_ns <= 270 * MS
    assert found.offset_ns == 500 * MS
    assert not found.covers(199 * MS)


def test_stamps_of_zero_and_before_a_step_back_are_another_clock() -> None:
    early = [(0, t_ns) for t_ns in range(0, 300 * MS, MS)] + [(40 * MS, 300 * MS)]
    pairs = early + [(t_ns, t_ns + 310 * MS) for t_ns in range(6 * MS, 500 * MS, MS)]
    found = align(pairs, KERNEL, HOST)
    assert (found.offset_ns, found.since_ns) == (310 * MS, 6 * MS)


def test_too_few_lines_are_refused() -> None:
    with pytest.raises(InputError, match="printk runs for 3 lines, need 32 to align it with host"):
        align([(0, 1), (1, 2), (2, 3), (3, 4)], KERNEL, HOST)


@pytest.mark.parametrize("name", ["console-microvm.chunks", "console-q35.chunks"])
def test_real_boot_half_of_the_lines_predict_the_other_half(name: str) -> None:
    pairs = stamped_twice(console(name))
    found, odd, even = (align(some, dmesg.PRINTK, HOST) for some in (pairs, pairs[::2], pairs[1::2]))
    assert found.uncertainty_ns < 5 * MS
    assert abs(odd.offset_ns - even.offset_ns) < MS // 10
    covered = [(kernel, host) for kernel, host in pairs if found.covers(kernel)]
    # No line is earlier than the alignment allows, and the punctual ones lie inside it.
    assert all(host >= found.translate(kernel) - found.uncertainty_ns for kernel, host in covered)
    punctual = [1 for kernel, host in covered if abs(host - found.translate(kernel)) <= found.uncertainty_ns]
    assert len(punctual) > len(covered) // 4


@pytest.mark.parametrize("name", ["console-microvm.chunks", "console-q35.chunks"])
def test_real_boot_the_first_line_would_be_wrong_by_most_of_a_second(name: str) -> None:
    pairs = stamped_twice(console(name))
    found = align(pairs, dmesg.PRINTK, HOST)
    kernel, host = pairs[0]
    assert abs(host - found.translate(kernel)) > 800 * MS


def test_real_grabserial_log_aligns_too() -> None:
    grabbed = parse_grabserial((DATA / "grabserial-match.log").read_text())
    found = align(stamped_twice(grabbed.lines), dmesg.PRINTK, HOST)
    assert found.uncertainty_ns < 5 * MS


def test_translate_adds_the_offset() -> None:
    assert Alignment(KERNEL, HOST, 5, 1, 0).translate(10) == 15
