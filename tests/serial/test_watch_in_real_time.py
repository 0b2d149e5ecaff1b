"""A watch of lines that talk at a real rate: against grabserial on the same stream, and 3 Mbaud without a loss."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import pytest

from tests.serial.paced_line import said

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.serial


@contextmanager
def paced_line(ptys: int, baud: int, seconds: float, log: Path) -> Iterator[tuple["subprocess.Popen[str]", list[str]]]:
    """Start a machine that talks at a line's rate; give its process and the names of its ptys."""
    words = [sys.executable, "-m", "tests.serial.paced_line", str(ptys), str(baud), str(seconds), str(log)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        try:
            yield writer, [writer.stdout.readline().strip() for _ in range(ptys)]
        finally:
            writer.kill()


def talk(writer: "subprocess.Popen[str]") -> None:
    assert writer.stdin is not None
    writer.stdin.write("\n")
    writer.stdin.flush()


@contextmanager
def watching(*words: str) -> Iterator["subprocess.Popen[str]"]:
    """Start `bootlab watch`, and give it when it listens."""
    words = (sys.executable, "-m", "bootlab", "watch", *words)
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT) as watch:
        assert watch.stderr is not None
        try:
            assert "baud" in watch.stderr.readline()
            yield watch
        finally:
            watch.kill()


def no_byte_lost(tmp_path: Path, seconds: float) -> None:
    """Watch a line of 3 Mbaud for so long, and hold what was kept against what was sent."""
    raw, recording, text = tmp_path / "raw", tmp_path / "recording", tmp_path / "text"
    lines = said(3_000_000, seconds)
    with (
        paced_line(1, 3_000_000, seconds, tmp_path / "log") as (writer, (port,)),
        watching(
            *[port, "--baud", "3000000", "--raw", str(raw), "--record", str(recording), "-o", str(text), "--quiet"],
            # The writer may make up all its lines first.
            *["--idle", "120", "--silence", "0", "--until", f"line {len(lines) - 1} .*$"],
        ) as watch,
    ):
        talk(writer)
        _, err = watch.communicate(timeout=seconds * 3 + 60)
        used = os.times()
        assert watch.returncode == 0, err
    print(f"\n{len(lines)} lines, {raw.stat().st_size} bytes in {seconds} s; {used.children_user:.1f} s of CPU; {err}")
    sent = b"".join(lines)
    # Not by ==: pytest would show the difference of two files of 18 MB.
    same = raw.read_bytes() == sent
    assert same, f"{raw.stat().st_size} bytes kept of {len(sent)}"
    assert f"{len(lines)} lines, {len(sent)} bytes" in err
    with recording.open() as kept:
        chunks = [json.loads(line) for line in kept][1:-1]
    assert all(one[1] <= two[1] for one, two in zip(chunks, chunks[1:], strict=False))


def test_no_byte_is_lost_in_a_minute_at_3_mbaud(tmp_path: Path) -> None:
    no_byte_lost(tmp_path, 60)


@pytest.mark.promise("serial stamps")
def test_stamps_are_as_close_to_the_truth_as_those_of_grabserial(tmp_path: Path) -> None:
    baud, log, theirs = 115200, tmp_path / "log", tmp_path / "grabserial"
    ours = tmp_path / "ours"
    lines = [line.decode().rstrip("\r\n") for line in said(baud, 2)]
    with paced_line(2, baud, 2, log) as (writer, (one, other)):
        grab_words = ["grabserial", "-S", "-d", other, "-b", str(baud), "-T", "-n", "-Q", "-o", str(theirs)]
        with (
            ours.open("w") as out,
            subprocess.Popen(
                [sys.executable, "-m", "bootlab", "watch", one, "--baud", str(baud), "--json", "--idle", "8"],
                stdout=out, stderr=subprocess.PIPE, text=True, cwd=ROOT,
            ) as watch,
            subprocess.Popen(grab_words, env={**os.environ, "TZ": "UTC"}) as grab,
        ):  # fmt: skip
            # grabserial opens its file when it is about to read, and bootlab says that it does.
            while not (theirs.exists() and ours.stat().st_size):
                assert watch.poll() is None
                assert grab.poll() is None
            talk(writer)
            assert watch.wait(timeout=120) == 0
            grab.send_signal(signal.SIGINT)
            grab.wait(timeout=20)
    truth = [tuple(map(int, row.split())) for row in log.read_text().splitlines()]
    events = [json.loads(row) for row in ours.read_text().splitlines()]
    stamped = [(event["host_ns"], event["text"]) for event in events if event["event"] == "line"]
    grabbed = [row.split("] ", 1) for row in theirs.read_text().splitlines() if row.startswith("[")]

    assert [text for _, text in stamped] == lines
    assert [text for _, text in grabbed] == lines
    our_errors = sorted(abs(t_ns - true_ns) for (t_ns, _), (true_ns, _) in zip(stamped, truth, strict=True))
    their_errors = sorted(
        abs(day_ns(stamp[1:]) - true_ns % (86400 * 10**9))
        for (stamp, _), (_, true_ns) in zip(grabbed, truth, strict=True)
    )
    for name, errors in (("bootlab", our_errors), ("grabserial", their_errors)):
        print(f"\n{name}: median {median(errors) / 1000:.0f} us, 95 % {errors[len(errors) * 95 // 100] / 1000:.0f} us")
    assert median(our_errors) <= median(their_errors)


def day_ns(text: str) -> int:
    time = datetime.strptime(text, "%H:%M:%S.%f").replace(tzinfo=UTC)
    return ((time.hour * 60 + time.minute) * 60 + time.second) * 10**9 + time.microsecond * 1000
