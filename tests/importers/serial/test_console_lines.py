"""Console bytes to lines, and grabserial files."""

import json
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.importers.serial.console_lines import ConsoleLine, LineSplitter, parse_grabserial, split_lines

DATA = Path(__file__).parents[2] / "data" / "importers"


def test_a_line_has_the_time_of_its_first_byte() -> None:
    chunks = [(10, b"one"), (20, b" more\r\ntwo"), (30, b"\n"), (40, b"three\n")]
    assert list(split_lines(chunks)) == [ConsoleLine(10, "one more"), ConsoleLine(20, "two"), ConsoleLine(40, "three")]


def test_the_last_line_may_be_open() -> None:
    assert list(split_lines([(10, b"login: ")])) == [ConsoleLine(10, "login: ", complete=False)]
    assert list(split_lines([])) == []


def test_a_character_cut_in_two_survives() -> None:
    head, tail = "für\n".encode()[:2], "für\n".encode()[2:]
    assert list(split_lines([(1, head), (2, tail)])) == [ConsoleLine(1, "für")]


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    assert list(split_lines([(1, b"\xff\x00ok\n")])) == [ConsoleLine(1, "\ufffd\x00ok")]


def test_line_ends_of_a_tty_on_a_uart() -> None:
    assert list(split_lines([(1, b"a\r\r\nb\rc\r\n\r\n")])) == [
        ConsoleLine(1, "a"),
        ConsoleLine(1, "b\rc"),
        ConsoleLine(1, ""),
    ]


def test_a_carriage_return_may_come_in_another_chunk_than_its_line_feed() -> None:
    assert list(split_lines([(1, b"a\r"), (2, b"\nb\n")])) == [ConsoleLine(1, "a"), ConsoleLine(2, "b")]


def test_end_offsets_cut_the_console_at_line_ends() -> None:
    data = "SeaBIOS\r\nfür\npart".encode()
    splitter = LineSplitter()
    lines = [line for start in range(len(data)) for line in splitter.feed(data[start : start + 1], start)]
    lines += splitter.finish()
    assert [data[: line.end_offset] for line in lines] == [data[:9], data[:14], data]


@pytest.mark.parametrize("name", ["console-microvm.chunks", "console-q35.chunks"])
def test_real_console_gives_the_same_lines_however_it_is_cut(name: str) -> None:
    rows = [line.split(" ", 1) for line in (DATA / name).read_text().splitlines()]
    chunks = [(int(t_ns), json.loads(data).encode("latin-1")) for t_ns, data in rows]
    whole = b"".join(data for _, data in chunks)
    lines = list(split_lines(chunks))
    assert [line.text for line in lines] == [line.text for line in split_lines([(0, whole)])]
    assert "BOOT-OK" in [line.text for line in lines]
    assert all(first.t_ns <= second.t_ns for first, second in zip(lines, lines[1:], strict=False))


def test_grabserial_with_a_match_starts_its_clock_anew() -> None:
    grabbed = parse_grabserial((DATA / "grabserial-match.log").read_text())
    assert grabbed.lines[0].t_ns == 0
    assert grabbed.resets == (3,)
    # [0.061487 0.039091] ... Linux version      then      [0.815481 0.815481] [    0.000000] Command line: ...
    assert grabbed.lines[3].t_ns - grabbed.lines[2].t_ns == 815_481_000
    # The trailer of -i is no console line.
    assert grabbed.lines[-1].text.endswith("reboot: machine restart")


def test_grabserial_with_time_of_day() -> None:
    grabbed = parse_grabserial((DATA / "grabserial-systime.log").read_text())
    # [00:34:30.675760] SeaBIOS ...      [00:34:30.698897] Booting from ROM...
    assert [line.t_ns for line in grabbed.lines[:2]] == [0, 23_137_000]
    assert grabbed.lines[1].text == "Booting from ROM..."
    assert grabbed.resets == ()


def test_grabserial_over_midnight() -> None:
    grabbed = parse_grabserial("[23:59:59.900000] a\n[00:00:00.100000] b\n")
    assert [line.t_ns for line in grabbed.lines] == [0, 200_000_000]


def test_grabserial_without_deltas_that_starts_anew() -> None:
    grabbed = parse_grabserial("[4.000000] U-Boot\n[5.000000] Starting kernel\n[0.250000] Booting Linux\n")
    assert [line.t_ns for line in grabbed.lines] == [0, 1_000_000_000, 1_250_000_000]
    assert grabbed.resets == (2,)


def test_grabserial_with_a_label() -> None:
    grabbed = parse_grabserial("board1 [0.000001 0.000001] a\nboard1 [1.500001 1.500000] [    0.100000] b\n")
    assert grabbed.lines == (ConsoleLine(0, "a"), ConsoleLine(1_500_000_000, "[    0.100000] b"))


@pytest.mark.parametrize("text", ["", "no stamp\n", "[    0.000000] Linux version 6.1\n"])
def test_what_grabserial_did_not_write_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no line starts with"):
        parse_grabserial(text)


def test_the_line_rate_gives_the_start_of_the_first_byte() -> None:
    # Ten bytes of 100 ns each, read in one go at 5000: the first one began ten byte times before.
    splitter = LineSplitter(byte_ns=100)
    (first, second) = splitter.feed(b"abc\ndefgh\n", 5000)
    assert (first.t_ns, second.t_ns) == (4000, 4400)
    assert second.time_at(2) == 4600


def test_a_read_that_came_late_is_corrected_by_the_next() -> None:
    splitter = LineSplitter(byte_ns=100)
    assert splitter.feed(b"ab", 9000) == []
    # Two bytes later, and read in time: the four of them began at 5000.
    (line,) = splitter.feed(b"c\n", 5400)
    assert line.t_ns == 5000
    # A pause in the line is no reason to move what came before it.
    splitter.feed(b"log", 20_000)
    (line,) = splitter.feed(b"in:\n", 90_000)
    assert (line.t_ns, line.time_at(3)) == (19_700, 89_600)


def test_an_empty_line_has_the_time_of_its_line_end() -> None:
    assert [line.t_ns for line in LineSplitter(byte_ns=10).feed(b"a\n\n", 1000)] == [970, 990]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_a_carriage_return_may_be_a_line_end(size: int) -> None:
    data = b" 10%\r 20%\r\ndone\r\n\r\nx"
    splitter = LineSplitter(cr=True)
    lines = [line for at in range(0, len(data), size) for line in splitter.feed(data[at : at + size], at)]
    assert [line.text for line in [*lines, *splitter.finish()]] == [" 10%", " 20%", "done", "", "x"]


def test_a_line_without_end_is_given_in_pieces() -> None:
    splitter = LineSplitter(longest=10)
    lines = [line for at in range(25) for line in splitter.feed(b"x", at)]
    assert [(line.t_ns, len(line.text), line.complete) for line in lines] == [(0, 11, False), (11, 11, False)]
