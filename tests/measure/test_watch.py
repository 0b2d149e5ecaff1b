"""A watch as values: reads with their times in, lines, marks and notices out; no port and no clock."""

import re

from bootlab.measure.watch import End, Happening, Notice, Partial, SeenMark, Watch, WatchedLine, WatchRequest

S = 1_000_000_000


def pattern(text: str) -> re.Pattern[bytes]:
    return re.compile(text.encode())


def run(watch: Watch, *reads: tuple[float, bytes], until_s: float = 0.0) -> list[Happening]:
    """Give reads of port 0 at seconds, then let time pass; return all that happened."""
    happened: list[Happening] = []
    for seconds, data in reads:
        happened += watch.advance(round(seconds * S))
        if watch.ended:
            break
        happened += watch.take(0, round(seconds * S), data)
    return [*happened, *watch.advance(round(until_s * S))]


def lines(happened: list[Happening]) -> list[tuple[float, float, str]]:
    return [(one.t_ns / S, one.delta_ns / S, one.line.text) for one in happened if isinstance(one, WatchedLine)]


def test_time_begins_with_the_first_byte_or_with_the_watch() -> None:
    reads = (3.0, b"a"), (3.5, b"b\n"), (5.0, b"c\n")
    assert lines(run(Watch(WatchRequest(), [0], S), *reads)) == [(0.0, 0.0, "ab"), (2.0, 2.0, "c")]
    assert lines(run(Watch(WatchRequest(from_start=True), [0], S), *reads)) == [(2.0, 0.0, "ab"), (4.0, 2.0, "c")]


def test_each_line_with_the_pattern_is_time_zero_anew() -> None:
    watch = Watch(WatchRequest(zero=pattern("^Linux")), [0], 0)
    happened = run(watch, (1, b"U-Boot\n"), (3, b"Linux 6\n"), (4, b"x\n"), (9, b"Linux 6\n"), (9.5, b"y\n"))
    assert [time for time, _, _ in lines(happened)] == [0.0, 0.0, 1.0, 0.0, 0.5]


def test_a_mark_in_mid_line_has_the_time_of_what_matched() -> None:
    watch = Watch(WatchRequest(marks=(("done", pattern("do+ne")), ("never", pattern("zz")))), [1000], 0)
    happened = run(watch, (1, b"load"), (2, b"ing ... d"), (3, b"one\n"), (4, b"done\n"))
    marks = [one for one in happened if isinstance(one, SeenMark)]
    # `d` was the last byte of its read: it began one byte time before. The line began four before its first read.
    assert [(mark.name, mark.t_ns, mark.text) for mark in marks] == [("done", 1 * S + 3000, "done")]
    assert watch.unseen == ["never"]


def test_the_end_may_come_in_mid_line() -> None:
    happened = run(
        Watch(WatchRequest(until=pattern("login: ?")), [0], 0), (1, b"up\n"), (2, b"board login:"), (3, b"x\n")
    )
    assert lines(happened)[-1] == (1.0, 1.0, "board login:")
    assert happened[-1] == End(1 * S, "matched login: ?", True)


def test_the_end_of_a_line_that_grows_is_not_its_end() -> None:
    watch = Watch(WatchRequest(until=pattern("log$")), [0], 0)
    assert lines(run(watch, (1, b"log"), (2, b"in\n"), (3, b"log\n"))) == [(0.0, 0.0, "login"), (2.0, 2.0, "log")]
    assert watch.ended


def test_the_end_by_time_and_by_silence() -> None:
    watch = Watch(WatchRequest(for_ns=2 * S), [0], S)
    assert isinstance(run(watch, (1.5, b"a\n"), until_s=2.9)[-1], WatchedLine)
    assert list(watch.advance(9 * S)) == [End(round(1.5 * S), "2 s are over", True)]
    watch = Watch(WatchRequest(idle_ns=S, until=pattern("x")), [0], 0)
    assert run(watch, (0.9, b"a"), until_s=1.95)[-1] == End(S, "silent for 1 s", False)


def test_a_prompt_is_shown_once_and_comes_again_whole() -> None:
    watch = Watch(WatchRequest(), [0], 0)
    happened = run(watch, (1, b"log"), (1.1, b"in: "), (5, b"root\n"), until_s=9)
    shown = [(type(one), one.line.text) for one in happened if isinstance(one, WatchedLine | Partial)]
    assert shown == [(Partial, "login: "), (WatchedLine, "login: root")]


def test_silence_is_said_once_with_the_last_line() -> None:
    watch = Watch(WatchRequest(silence_ns=2 * S), [0], 0)
    happened = run(watch, (3, b"Starting kernel ...\n"), until_s=60)
    assert [one.text for one in happened if isinstance(one, Notice)] == [
        "nothing has come for 2 s",
        'silent for 2 s; the last line was "Starting kernel ..."',
    ]


def test_garbage_is_said_when_it_begins_and_ends() -> None:
    watch = Watch(WatchRequest(), [0], 0)
    happened = run(watch, (1, b"\xf8\x00\xe0" * 40), (2, b"\nU-Boot 2023.01\r\n" * 40))
    assert [one.kind for one in happened if isinstance(one, Notice)] == ["garbage", "text again"]


def test_the_last_line_that_goes_ends_the_watch() -> None:
    watch = Watch(WatchRequest(), [0, 0], 0)
    happened = [*watch.take(0, S, b"half"), *watch.gone(0, 2 * S, "hung up", unplugged=True)]
    assert lines(happened) == [(0.0, 0.0, "half")]
    assert isinstance(happened[-1], Notice)
    assert "4 bytes and 1 lines of it are kept" in happened[-1].text
    assert list(watch.gone(1, 3 * S, "hung up", unplugged=True))[-1] == End(2 * S, "the line is gone", False)


def test_an_input_that_ends_is_no_loss() -> None:
    watch = Watch(WatchRequest(), [0], 0)
    assert list(watch.gone(0, S, "the other end closed it", unplugged=False)) == [End(S, "the input has ended", True)]
