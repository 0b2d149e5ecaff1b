"""`bootlab watch` as a user meets it: a real pty, the real command, what it prints, keeps and returns."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import tty
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.cli.watch.verb import complete_port
from bootlab.errors import InputError
from bootlab.importers.serial.console_lines import parse_grabserial

ROOT = Path(__file__).parents[3]


class Board:
    """The far end of a pty, and what watches the near one."""

    def __init__(self) -> None:
        self.end, slave = os.openpty()
        tty.setraw(slave)
        self.port = os.ttyname(slave)
        os.close(slave)
        self.watch: subprocess.Popen[str] | None = None

    def watched(self, *words: str) -> "Board":
        """Start a watch, and return when it listens."""
        self.watch = start(self.port, *words)
        return self

    def says(self, *pieces: bytes) -> None:
        for piece in pieces:
            os.write(self.end, piece)

    def hears(self) -> bytes:
        """Return what was sent to it, as soon as somebody has opened the line."""
        while True:
            with suppress(OSError):
                return os.read(self.end, 100)
            time.sleep(0.01)

    def unplugged(self) -> None:
        with suppress(OSError):
            os.close(self.end)

    def ended(self) -> tuple[int, str, str]:
        """Return exit code, standard output and standard error of the watch."""
        assert self.watch is not None
        out, err = self.watch.communicate(timeout=60)
        return self.watch.returncode, out, err


def start(*words: str) -> "subprocess.Popen[str]":
    child = subprocess.Popen(
        [sys.executable, "-m", "bootlab", "watch", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "TZ": "UTC"},
    )  # fmt: skip
    stream = child.stdout if "--json" in words else child.stderr
    assert stream is not None
    # Who wants an answer only is told nothing else.
    assert "--answer" in words or stream.readline(), "it says what it watches first"
    return child


@pytest.fixture
def board() -> Iterator[Board]:
    board = Board()
    yield board
    board.unplugged()
    if board.watch is not None and board.watch.poll() is None:
        board.watch.kill()
        board.watch.communicate()


@pytest.mark.promise("bootlab watch")
@pytest.mark.serial
def test_lines_are_stamped_up_to_the_prompt(board: Board) -> None:
    board.watched("--until", "login:", "--mark", "spl=SPL 2")
    board.says(b"U-Boot SPL 2023.01\r\n", b"Starting", b" kernel\r\n", b"board login: ")
    code, out, err = board.ended()
    assert code == 0
    *shown, mark = out.splitlines()
    grabbed = parse_grabserial("\n".join(shown))
    assert [line.text for line in grabbed.lines] == ["U-Boot SPL 2023.01", "Starting kernel", "board login: "]
    assert mark.startswith("mark spl 0.00")
    assert "3 lines, 50 bytes" in err


@pytest.mark.serial
def test_no_byte_steers_the_terminal(board: Board) -> None:
    board.watched("--until", "end")
    board.says(b"\x1b]0;owned\x07\x1b[2J\x9b31m\x00\xe2\x80\xae evil\r\nend\r\n")
    code, out, _ = board.ended()
    assert code == 0
    assert all(character.isprintable() or character == "\n" for character in out)


@pytest.mark.serial
def test_json_is_an_object_a_line(board: Board) -> None:
    board.watched("--json", "--until", "up", "--mark", "k=ker")
    board.says(b"a kernel\r\n\x1b[0mup\r\n")
    code, out, err = board.ended()
    assert (code, err) == (0, "")
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["event"] for event in events] == ["line", "mark", "line", "end"]
    assert events[0]["text"] == "a kernel"
    assert events[2]["text"] == "\x1b[0mup"
    assert events[3]["ports"] == [{"port": board.port.removeprefix("/dev/"), "bytes": 18, "lines": 2}]


@pytest.mark.promise("bootlab watch")
@pytest.mark.serial
def test_what_was_recorded_is_watched_again_alike(board: Board, tmp_path: Path) -> None:
    recording, raw, text = tmp_path / "r.rec", tmp_path / "r.raw", tmp_path / "%Y.txt"
    board.watched("--until", "end", "--record", str(recording), "--raw", str(raw), "-o", str(text), "--no-delta")
    said = bytes(range(256)) + b"\r\nzwei \xc3", b"\xa4\r\n", b"the end"
    board.says(*said)
    code, out, _ = board.ended()
    assert code == 0
    assert raw.read_bytes() == b"".join(said)
    (kept,) = tmp_path.glob("2*.txt")
    assert kept.read_text() == out
    again = subprocess.run(
        [sys.executable, "-m", "bootlab", "watch", str(recording), "--until", "end", "--no-delta"],
        capture_output=True, text=True, cwd=ROOT, timeout=60, check=True,
    )  # fmt: skip
    assert again.stdout == out


@pytest.mark.promise("bootlab watch")
@pytest.mark.serial
def test_a_line_that_is_torn_out_is_said_and_what_came_is_kept(board: Board, tmp_path: Path) -> None:
    raw = tmp_path / "r.raw"
    board.watched("--raw", str(raw), "--until", "login:")
    board.says(b"U-Boot\r\nStarting ker")
    while not raw.exists() or raw.stat().st_size < 20:
        pass
    board.unplugged()
    code, out, err = board.ended()
    assert code == 1
    assert "Starting ker" in out
    assert "gone in mid-run" in err
    assert "20 bytes and 2 lines of it are kept" in err
    assert raw.read_bytes() == b"U-Boot\r\nStarting ker"


@pytest.mark.serial
def test_silence_and_garbage_are_said(board: Board) -> None:
    board.watched("--silence", "0.3", "--for", "2")
    board.says(bytes([0xF8, 0x00, 0xE0, 0x80, 0xFE]) * 40)
    code, _, err = board.ended()
    assert code == 0
    assert "garbage, as from a wrong baud rate" in err
    assert "hint: is the line's rate another one?" in err
    assert "silent for 0 s" in err


@pytest.mark.serial
def test_an_until_that_never_comes_is_a_failure(board: Board) -> None:
    board.watched("--until", "login:", "--for", "0.5", "--mark", "x=y")
    code, _, err = board.ended()
    assert code == 1
    assert "0.5 s are over" in err
    assert "mark x was not seen" in err


@pytest.mark.promise("bootlab watch")
@pytest.mark.serial
def test_ctrl_c_ends_in_order(board: Board) -> None:
    for words, expected in ((), 0), (("--until", "x"), 130):
        board.watched(*words)
        board.says(b"half a line")
        assert board.watch is not None
        assert board.watch.stdout is not None
        board.says(b"\n")
        assert board.watch.stdout.readline().endswith("half a line\n")
        board.watch.send_signal(signal.SIGINT)
        code, _, err = board.ended()
        assert code == expected
        assert "1 lines, 12 bytes" in err
        assert "Traceback" not in err


@pytest.mark.serial
def test_several_ports_share_one_clock(board: Board, tmp_path: Path) -> None:
    other = Board()
    board.watch = start(f"left={board.port}", f"right={other.port}", "--until", "end", "--no-delta")
    assert board.watch.stderr is not None
    board.watch.stderr.readline()
    board.says(b"one\n")
    assert board.watch.stdout is not None
    assert board.watch.stdout.readline().startswith("left [0.000000] one")
    other.says(b"two\nend\n")
    code, out, _ = board.ended()
    other.unplugged()
    assert code == 0
    assert [line.split(" [")[0] for line in out.splitlines()] == ["right", "right"]


@pytest.mark.serial
def test_a_command_and_nothing_but_its_answer(board: Board) -> None:
    board.watched("--send", "uname -r", "--until", "^# ", "--answer")
    assert board.hears() == b"uname -r\r"
    board.says(b"uname -r\r\n6.12.1\r\n# ")
    assert board.ended()[:2] == (0, "6.12.1\n")


@pytest.mark.serial
def test_again_takes_a_line_up_that_came_back(board: Board, tmp_path: Path) -> None:
    link, raw = tmp_path / "ttyUSB0", tmp_path / "raw"
    link.symlink_to(board.port)
    board.watch = start(str(link), "--again", "--raw", str(raw), "--no-delta")
    board.says(b"first\n")
    assert board.watch.stdout is not None
    assert board.watch.stderr is not None
    assert board.watch.stdout.readline() == "[0.000000] first\n"
    link.unlink()
    board.unplugged()
    other = Board()
    while "1 lines" not in board.watch.stderr.readline():
        pass
    link.symlink_to(other.port)
    while "pty" not in board.watch.stderr.readline():
        pass
    other.says(b"second\n")
    assert board.watch.stdout.readline() == "[0.000000] second\n"
    board.watch.send_signal(signal.SIGINT)
    assert board.ended()[0] in (0, 1)
    other.unplugged()
    assert raw.read_bytes() == b"first\nsecond\n"


@pytest.mark.serial
def test_standard_input_and_the_time_of_day() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bootlab", "watch", "-", "--time", "day", "--output", "/dev/full"],
        input="one\n", capture_output=True, text=True, cwd=ROOT, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "/dev/full: cannot be written: No space left on device" in done.stderr
    done = subprocess.run(
        [sys.executable, "-m", "bootlab", "watch", "-", "--time", "day"],
        input="one\n", capture_output=True, text=True, cwd=ROOT, timeout=60, check=True,
    )  # fmt: skip
    assert parse_grabserial(done.stdout).lines[0].text == "one"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "PORT is missing"),
        (["/dev/ttyUSB99"], "/dev/ttyUSB99: no such port"),
        (["-", "--until", "("], "--until '(': not a regular expression"),
        (["-", "--mark", "nothing"], "expected NAME=REGEX"),
        (["-", "--rotate", "5"], "--rotate needs names that differ"),
        (["-", "--flow", "some"], "--flow some"),
        (["-", "--format", "9X1"], "9X1"),
        (["a=-", "b=-", "--raw", "x"], "--raw keeps the bytes of one port"),
        (["x=/dev/a", "x=/dev/b"], "two ports are called x"),
        (["-", "--answer"], "--answer needs --send"),
        (["-", "--type"], "cannot be standard input"),
        (["-", "--again", "--record", "x"], "--again makes many"),
    ],
)
def test_wrong_use_is_one_clear_line(words: list[str], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        run(["watch", *words])


def test_a_damaged_recording_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.rec"
    path.write_text(
        '{"schema": "bootlab.recording/1", "ports": [], "start_ns": 0, "started": "2026-01-01"}\n[1]\n[1]\n'
    )
    with pytest.raises(InputError, match=f"{path}: line 2: damaged"):
        run(["watch", str(path)])


def test_completion_knows_the_urls() -> None:
    assert complete_port("rfc") == ["rfc2217://"]
