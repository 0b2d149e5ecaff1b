"""The plugin's trace: whole, cut off, and damaged."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.profile.recorded.trace import DISKS, Charge, Looks, PluginTrace, Stamp, TracedCall, parse_trace, read_trace

# Begin and end of a real boot (Debian 6.1 cloud kernel, microvm).
WHOLE = """\
bootlab-trace 1
clock virtual 0
mark image_entry 5978394 5978394
mark kernel_entry 106769444 106769444
slide e400000
mark start_kernel 112568724 112568724
call initcall 348707613 348707613 ffffffff8304f63d
console 1564457000 1564457000 70
guest ready 1564457528 1564457528
console 1564457400 1564457400 12
guest ready 1565000000 1564999000
end 1565559704 1565515898
"""


def test_a_whole_trace() -> None:
    trace = parse_trace(WHOLE)
    assert trace.shift == 0
    assert list(trace.marks) == ["image_entry", "kernel_entry", "start_kernel"]
    assert trace.marks["kernel_entry"] == Stamp(106769444, 106769444)
    assert trace.slide == 0xE400000
    assert trace.calls == [TracedCall("initcall", 348707613, 348707613, 0xFFFFFFFF8304F63D)]
    assert trace.guest_marks == {"ready": Stamp(1564457528, 1564457528)}, "the first of each name"
    assert trace.end is not None and trace.idle_ns(trace.end) == 43806
    assert trace.console == [(Stamp(1564457000, 1564457000), 70), (Stamp(1564457400, 1564457400), 12)]
    assert [trace.console_stamp(offset) for offset in (1, 70, 71, 83)] == [
        *[trace.console[0][0]] * 2, trace.console[1][0], None
    ]  # fmt: skip


def test_idle_time_knows_the_ns_per_instruction() -> None:
    trace = parse_trace("bootlab-trace 1\nclock virtual 3\nmark a 47827160 5978394\n")
    assert trace.idle_ns(trace.marks["a"]) == 8


def test_the_host_clock_counts_no_instructions() -> None:
    trace = parse_trace("bootlab-trace 1\nclock host\nmark a 5 -1\nend 9 -1\n")
    assert trace.shift is None and trace.idle_ns(trace.marks["a"]) is None


def test_a_mark_of_the_screen_is_told_when_it_is_certain() -> None:
    head = "bootlab-trace 1\nclock virtual 0\nexact screen\nguest begun 700 600\n"
    seen = (
        "seen window 500 450 00000000000000fe\ntyped name 900 800\nseen rest 850 790 ff\nframes 60 7 1\nend 950 900\n"
    )
    trace = parse_trace(head + seen)
    assert trace.guest_marks["window"] == Stamp(500, 450) and trace.guest_marks["name"] == Stamp(900, 800)
    assert trace.frames_up_to == {"window": "00000000000000fe", "rest": "00000000000000ff"}
    assert trace.looks == Looks(60, 7, 1)
    # Time does not go back for what comes behind it.
    with pytest.raises(InputError, match="time goes back, from 700 to 650 ns"):
        parse_trace(head + "seen window 500 450 fe\nguest late 650 600\n")
    for wrong in (
        "seen window 500 450\n",
        "seen window 500 450 xy\n",
        "frames 1 2\n",
        "frames 1 2 -3\n",
        "typed a 1\n",
    ):
        with pytest.raises(InputError, match="trace:5: not a"):
            parse_trace(head + wrong)


@pytest.mark.parametrize("size", range(len(WHOLE) + 1))
def test_a_killed_qemu_leaves_a_trace_at_every_byte(size: int) -> None:
    trace = parse_trace(WHOLE[:size])
    assert (trace.end is not None) == (size == len(WHOLE))


def test_what_was_asked_for_and_what_came_of_it() -> None:
    head = "bootlab-trace 1\nclock virtual 0\n"
    trace = parse_trace(
        f"{head}exact disks\nrefused device ide-hd is asked in another way\nsettled 309 2\n"
        "modelled disk0 300 1\nend 5 5\n"
    )
    assert trace.exact == [DISKS] and trace.refused == {"device": "ide-hd is asked in another way"}
    assert trace.modelled == {"disk0": (300, 1)}
    assert trace.settled == (309, 2) and trace.asked_for(DISKS)
    refused = parse_trace(f"{head}refused disks this QEMU does not export aio_poll\n")
    assert refused.asked_for(DISKS) and not refused.exact
    assert not parse_trace(head).asked_for(DISKS)
    with pytest.raises(InputError, match="trace:3: not a record: 'refused disks'"):
        parse_trace(f"{head}refused disks\n")


def test_what_was_charged_to_the_clock_is_no_idle_time() -> None:
    text = (
        "bootlab-trace 1\nclock virtual 0 charged\nexact charges\nmark a 100 100 0\ncall initcall 150 150 0 ff\n"
        "console 160 160 0 5\ncharged serial 2 5000\nguest ready 5260 200 5000\ncharged serial 3 7500\n"
        "mark b 7760 200 7500\nend 7800 240 7500\n"
    )
    trace = parse_trace(text)
    assert trace.charges_at == {"ready": {"serial": Charge(2, 5000)}}
    assert trace.charges_at_marks == {"a": {}, "b": {"serial": Charge(3, 7500)}}
    assert trace.guest_marks["ready"] == Stamp(5260, 200, 5000) and trace.charges == {"serial": Charge(3, 7500)}
    assert [trace.idle_ns(stamp) for stamp in (trace.marks["a"], trace.guest_marks["ready"])] == [0, 60]
    assert trace.calls == [TracedCall("initcall", 150, 150, 255)] and trace.console == [(Stamp(160, 160), 5)]
    for damaged in ("mark a 100 100\n", "mark a 100 100 101\n", "charged serial 0 0\n", "charged serial 1\n"):
        with pytest.raises(InputError, match="trace:3"):
            parse_trace("bootlab-trace 1\nclock virtual 0 charged\n" + damaged)
    with pytest.raises(InputError, match="expected the clock"):
        parse_trace("bootlab-trace 1\nclock virtual 0 free\n")


def test_what_was_read_from_disks_up_to_each_record() -> None:
    trace = parse_trace(
        "bootlab-trace 1\nclock virtual 0\nexact disks\nmark a 100 100\nreads image 4608 2\nmark b 200 200\n"
        "reads image 9216 4\nreads disk0 512 1\nguest c 300 300\nreads image 8704 3\nconsole 250 250 9\n"
        "reads image 10240 6\nend 400 400\n"
    )
    assert trace.counts_reads
    assert [stamp.read_bytes for stamp in (*trace.marks.values(), trace.guest_marks["c"])] == [0, 4608, 9728]
    # A prompt is told when all is over.
    assert trace.console[0][0].read_bytes == 9216 and trace.end is not None and trace.end.read_bytes == 10752
    assert trace.since(trace.marks["b"]).guest_marks["c"].read_bytes == 9728 - 4608
    assert not parse_trace("bootlab-trace 1\nclock virtual 0\nmark a 100 100\n").counts_reads
    with pytest.raises(InputError, match="trace:3"):
        parse_trace("bootlab-trace 1\nclock virtual 0\nreads image 4608\n")


def test_nothing_is_the_trace_of_a_qemu_killed_as_it_began() -> None:
    assert parse_trace("") == PluginTrace()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("bootlab-trace 1", "bootlab-trace 2", "t:1: trace version 2, this bootlab reads 1"),
        ("bootlab-trace 1", "perf script", "t:1: not a trace"),
        ("clock virtual 0", "clock sun", "t:2: expected the clock"),
        ("clock virtual 0", "clock virtual -1", "t:2: not a number"),
        ("clock virtual 0", "mark a 1 1", "t:2: expected the clock"),
        ("slide e400000", "slide 0xe400000", "t:5: not a hexadecimal"),
        ("slide e400000", "slip e400000", "t:5: not a record"),
        ("slide e400000", "clock virtual 0", "t:5: not a record"),
        ("slide e400000", "", "t:5: not a record"),
        ("slide e400000", "mark image_entry 106769444 1", "t:5: mark image_entry is there twice"),
        ("mark start_kernel 112568724", "mark start_kernel 1", "t:6: time goes back, from 106769444 to 1 ns"),
        ("mark start_kernel 112568724 112568724", "mark start_kernel 112568724", "t:6: not a record"),
        ("mark start_kernel 112568724 112568724", "mark start_kernel 112568724 -1", "t:6: not a number"),
        ("mark start_kernel 112568724 112568724", "mark start_kernel 112568724 1e6", "t:6: not a number"),
        ("guest ready 1565000000 1564999000", "end 1565000000 1564999000", "t:12: a record after the end"),
    ],
)
def test_damage_is_named_with_its_line(old: str, new: str, message: str) -> None:
    assert old in WHOLE
    with pytest.raises(InputError, match=message):
        parse_trace(WHOLE.replace(old, new, 1), "t")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    with pytest.raises(InputError, match=r"trace\.txt: No such file"):
        read_trace(path)
    path.write_text(WHOLE)
    assert read_trace(path) == parse_trace(WHOLE)
    path.write_bytes(b"bootlab-trace 1\nclock host\nmark \xff 1 -1\n")
    with pytest.raises(InputError, match="byte 32 is not ASCII"):
        read_trace(path)
