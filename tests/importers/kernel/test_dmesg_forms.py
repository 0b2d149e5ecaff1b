"""What dmesg's options make of one log: the real dmesg of util-linux prints a sample, and the figures stay the same."""

import subprocess
import time

import pytest

from bootlab.importers.kernel import log as kernel_log
from bootlab.importers.kernel.dmesg_forms import as_printk
from bootlab.timeline.recording import Recording
from tests.importers.samples import DATA, read_text, recording_of, sample

RAW = "dmesg-raw.log"


def printed(*options: str) -> str:
    # Dates are in the words of the locale; without colours unless asked for, as into a file.
    return subprocess.run(
        ["dmesg", "-F", str(DATA / RAW), *options], capture_output=True, text=True, check=True,
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
    ).stdout  # fmt: skip


def moments(one: Recording) -> list[tuple[int, str]]:
    # A message of several lines goes its own ways.
    return [(event.t_ns, event.name.split("\n")[0].rstrip()) for event in one.timeline.events]


@pytest.mark.parametrize(
    "options",
    [["-d"], ["-e"], ["-H", "-P"], ["-H", "-P", "-L=always"], ["-x", "-e"], ["-x", "-d"], ["-J"], ["-x", "-J"],
     ["--time-format", "iso"], ["-x", "--time-format", "iso"], ["-L=always"]],
    ids=" ".join,
)  # fmt: skip
def test_every_form_has_the_same_moments(options: list[str]) -> None:
    text, raw = printed(*options), sample(RAW)
    one = recording_of(text.encode())
    assert one.format == "dmesg" and one.timeline.clock.resolution_ns == 1_000
    if "-e" not in options and "-H" not in options:
        assert moments(one) == moments(raw)
        assert one.phases == raw.phases and dict(one.facts) == dict(raw.facts)
        return
    # dmesg loses the first difference, for a last time of zero counts as none there. This machine's boot time may put a
    # minute's end into the log, too, once in a hundred machines.
    lost_ns = next(t_ns for t_ns, _ in moments(raw) if t_ns)
    assert moments(one) == [(max(t_ns - lost_ns, 0), name) for t_ns, name in moments(raw)][: len(one.timeline.events)]
    assert "differences added up" in one.notes[0]
    assert len(one.timeline.events) == len(raw.timeline.events) or "full minute" in one.notes[1]


def test_a_newer_dmesg_prints_the_same() -> None:
    raw, lost_ns = moments(sample(RAW)), next(t_ns for t_ns, _ in moments(sample(RAW)) if t_ns)
    assert moments(sample("dmesg-J.json.xz")) == raw
    assert moments(sample("dmesg-H.txt.xz")) == [(max(t_ns - lost_ns, 0), name) for t_ns, name in raw]


@pytest.mark.parametrize("options", [["-T"], ["-x", "-T"], ["-d", "-T"], ["-T", "-L=always"]], ids=" ".join)
def test_whole_seconds_are_said_to_be_that(options: list[str]) -> None:
    one = recording_of(printed(*options).encode())
    assert one.timeline.clock.resolution_ns == 1_000_000_000 and "whole seconds" in one.notes[0]
    assert len(one.timeline.events) == len(sample(RAW).timeline.events)


def test_beyond_a_full_minute_nothing_has_a_place() -> None:
    one = read_text(
        kernel_log.IMPORTER,
        "[Nov 5 23:58] Linux version 6.1\n[  +2.000000] a\n[  -0.250000] b\n[Nov 5 23:59] c\n[  +0.100000] d\n",
    )
    assert [(event.t_ns // 10**6, event.name) for event in one.timeline.events] == [
        (0, "Linux version 6.1"), (1_750, "b"), (2_000, "a"),
    ]  # fmt: skip
    assert any("full minute" in note for note in one.notes)


def test_json_with_callers_levels_in_words_and_broken_records() -> None:
    one = read_text(
        kernel_log.IMPORTER,
        '{"dmesg": [{"fac": "kern", "pri": "notice", "time": 0.000000, "caller": "T0", "msg": "Linux version 6.1"},'
        '{"pri": 6, "time": 0.100000, "msg": "two\\nlines\\u001b[2J"}, {"pri": 6, "time": 0.2, "msg": "x"},'
        '{"pri": 6, "time": 0.300000, "msg": "never ends',
    )
    assert [(event.t_ns // 10**6, event.name) for event in one.timeline.events] == [
        (0, "Linux version 6.1"), (100, "two\nlines"),
    ]  # fmt: skip


def test_dates_that_are_none_and_rows_that_never_end() -> None:
    assert as_printk("[Fri Foo 99 99:99:99 2026] x\n").text == "x\n"
    for text in ("[Nov20 23:59] x\n" + "kern  :info  : " * 100_000, '{"dmesg": [{"pri": 6, "time": 0.000000, "msg": "'
                 + "x" * 5_000_000, '{"dmesg": [' + '{"pri": 6, "time": 0.000000, "msg": "' * 50_000,
                 "[    0.000000 <" * 100_000):  # fmt: skip
        began = time.process_time()
        as_printk(text)
        assert time.process_time() - began < 1
