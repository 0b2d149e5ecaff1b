"""What came over a console: when its lines came since time 0, where it said ready, and what does not count."""

from pathlib import Path

from bootlab.targets.target import ConsoleTraits
from tests.measure.observing import observed


def test_lines_are_counted_from_power_on_and_ready_has_its_place(tmp_path: Path) -> None:
    told: list[tuple[int, str]] = []
    heard = observed(tmp_path, on_line=lambda t_ns, text: told.append((t_ns, text))).heard
    heard.begin(power_on_ns=1_000, byte_ns=0)
    heard.feed(b"hello\nbootlab: ma", 1_400)
    assert heard.is_in_mid_line and heard.ready_offset is None
    heard.feed(b"rk ready\nbootlab: check ok\nbye", 1_700)
    assert told == [(400, "hello"), (400, "bootlab: mark ready"), (700, "bootlab: check ok")]
    assert heard.guest.marks == {"ready": 400}
    assert heard.ready_offset == len(b"hello\nbootlab: mark ready\n")
    assert [line.text for line in heard.lines_to_ready()] == ["hello", "bootlab: mark ready"]
    assert bytes(heard.raw) == b"hello\nbootlab: mark ready\nbootlab: check ok\nbye"
    heard.finish()
    assert told[-1] == (700, "bye") and not heard.is_in_mid_line


def test_a_byte_on_a_line_took_its_time_before_it_came(tmp_path: Path) -> None:
    """Read at 1000 ns with three bytes at 100 ns each, the first had begun at 700."""
    heard = observed(tmp_path).heard
    heard.begin(power_on_ns=0, byte_ns=100)
    heard.feed(b"ab\n", 1_000)
    assert [line.t_ns for line in heard.lines] == [700]


def test_without_a_line_that_says_ready_all_of_them_are_up_to_it(tmp_path: Path) -> None:
    heard = observed(tmp_path).heard
    heard.feed(b"one\ntwo\n", 5)
    assert [line.text for line in heard.lines_to_ready()] == ["one", "two"]


def test_before_the_line_that_is_time_0_nothing_counts(tmp_path: Path) -> None:
    told: list[int] = []
    traits = ConsoleTraits(zero="^U-Boot", marks={"spl": "SPL"})
    heard = observed(tmp_path, traits=traits, on_line=lambda t_ns, text: told.append(t_ns)).heard
    heard.begin(power_on_ns=100, byte_ns=0)
    heard.feed(b"bootlab: mark ready SPL\n", 150)
    heard.feed(b"\r\n", 160)
    assert not heard.guest.marks and not heard.guest.ready and not heard.lines
    assert (heard.guest.last_line, heard.guest.last_line_ns) == ("bootlab: mark ready SPL", 50), "no empty one"
    heard.feed(b"U-Boot 2025.01\n", 400)
    heard.feed(b"U-Boot again\nSPL\n", 430)
    assert (heard.zero_ns, heard.zero_awaited) == (400, None), "the first such line is time 0, and no later one"
    assert heard.guest.marks == {"spl": 30}
    assert told == [50, 60, 0, 30, 30]


def test_a_prompt_is_ready_where_it_was_asked_for(tmp_path: Path) -> None:
    heard = observed(tmp_path, booted={"console": "login:"}).heard
    heard.feed(b"Debian\nlogin: ", 70)
    assert not heard.guest.ready, "a line that is only slow in coming would be taken for one"
    heard.look_for_prompt()
    assert heard.guest.ready and heard.guest.marks["ready"] == 70
    assert heard.ready_offset == len(b"Debian\nlogin: ")


def test_a_prompt_before_time_0_is_none(tmp_path: Path) -> None:
    heard = observed(tmp_path, booted={"console": "login:"}, traits=ConsoleTraits(zero="^U-Boot")).heard
    heard.feed(b"login: ", 70)
    heard.look_for_prompt()
    assert not heard.guest.ready and heard.ready_offset is None


def test_what_is_not_utf_8_is_replaced_in_the_text_and_kept_in_the_bytes(tmp_path: Path) -> None:
    heard = observed(tmp_path).heard
    heard.feed(b"a\xff\n", 1)
    assert (heard.text, bytes(heard.raw)) == ("a\ufffd\n", b"a\xff\n")
