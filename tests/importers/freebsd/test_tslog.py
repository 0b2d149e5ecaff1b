"""FreeBSD's TSLOG: the published figures of a real boot, and a boot made by hand for its waits.

The real one is run 1 of ryanmaclean/smolfire docs/boot-time/2026-09-22; what is expected of it is from
smolfire-tslog-phases.json there.
"""

import json

import pytest

from bootlab.importers.freebsd.tslog_processes import read_lives
from bootlab.importers.freebsd.tslog_records import Record, RecordKind, TslogProcess, parse_rows
from bootlab.importers.freebsd.tslog_threads import read_threads
from bootlab.timeline.recording import Recording
from bootlab.timeline.stack_tree import DEEPEST
from tests.importers.samples import DATA, phases_ms, recording_of, sample, span_of

HERTZ = 2_445_431_964
WAITS = (DATA / "tslog" / "waits.tslog").read_bytes()


@pytest.fixture(scope="module")
def published() -> dict[str, dict[str, float]]:
    document: dict[str, dict[str, float]] = json.loads((DATA / "tslog" / "expected.json").read_text())
    return document


def rows(text: str) -> Recording:
    return recording_of(text.encode(), tsc_hz=1_000_000_000)


def own_ns(recording: Recording) -> dict[str, int]:
    return {";".join(one.frames): one.own_ns for one in recording.stacks}


def test_published_figures_of_the_kernel(published: dict[str, dict[str, float]]) -> None:
    boot = sample("tslog/kernel-head.tslog", tsc_hz=HERTZ)
    expected = published["checkable_from_head_excerpt_ms"]
    assert phases_ms(boot)["firmware, before the first record"] == pytest.approx(expected["first_record"], abs=0.005)
    assert phases_ms(boot)["kernel until mi_startup"] == pytest.approx(expected["hammer_time_incl"], abs=0.0005)
    spans = {"hammer_time": 3, "SYSINIT announce": 1, "SYSINIT trademark": 1, "SYSINIT version": 1}
    for (name, digits), key in zip(
        spans.items(), ("hammer_time_incl", "announce_incl", "trademark_incl", "version_incl"), strict=True
    ):
        assert round(span_of(boot, name).duration_ns / 1e6, digits) == expected[key]
    # What leads up to a frame and what it took itself add up to the whole boot so far.
    assert sum(one.own_ns for one in boot.stacks) == pytest.approx(83_113_329 * 1e9 / HERTZ, abs=100)


def test_published_figures_of_the_programs(published: dict[str, dict[str, float]]) -> None:
    boot = sample("tslog/processes.tslog", tsc_hz=HERTZ)
    expected = published["checkable_from_user_table_ms"]
    assert {
        key: round(span_of(boot, name, about).duration_ns / 1e6, 1)
        for key, name, about in (
            ("hostname", "hostname", "pid 16"),
            ("ifconfig_pid17", "ifconfig", "pid 17"),
            ("ifconfig_pid21", "ifconfig", "pid 21"),
            ("fetch", "fetch", "pid 24"),
            ("/rescue/echo", "/rescue/echo", "pid 25"),
        )
    } == expected
    # Published: 30.0 ms from the first program to READY on the console, which comes before the last program here.
    assert 30.0 < phases_ms(boot)["programs"] < 31.0


def test_a_shell_that_still_runs_is_no_empty_one() -> None:
    # tslog-user.pl of freebsd-boot-profiling 902241a prints `0 1 /sbin/init` for an rc with exit 0.
    boot = sample("tslog/processes.tslog", tsc_hz=HERTZ)
    rc = span_of(boot, "/etc/rc")
    assert rc.start_ns == 1_152_222_083 * 10**9 // HERTZ and rc.duration_ns > 14e9
    assert span_of(boot, "/sbin/init").start_ns == rc.start_ns
    assert "Processes that still ran when the table was read end with it." in boot.notes


def test_the_program_that_wrote_the_log_is_no_part_of_the_boot() -> None:
    boot = sample("tslog/processes.tslog", tsc_hz=HERTZ)
    assert any(note.startswith("sysctl (pid 29) took 14261.652 ms: it wrote this log") for note in boot.notes)
    assert max(one.own_ns for one in boot.stacks) < 31e6


def test_the_end_of_a_dump_has_open_calls_and_ends_without_starts() -> None:
    boot = sample("tslog/kernel-tail.tslog", tsc_hz=HERTZ)
    assert boot.phases == ()
    assert {one.track for one in boot.timeline.spans} == {"thread 0", "thread 1", "thread 2", "thread 3"}
    assert [one.frames for one in boot.stacks if one.frames[0] == "thread 1"] == [("thread 1", "_sleep")]
    assert "2 calls had not ended when the log was read: they end with it." in boot.notes
    assert "3 calls began before the log does, and were left out." in boot.notes
    assert sum(one.about == "its end is not in the log" for one in boot.timeline.spans) == 2


def test_without_a_frequency_times_are_cycles_and_say_so() -> None:
    boot = sample("tslog/kernel-head.tslog")
    assert boot.timeline.clock.unit == "cycles"
    assert span_of(boot, "hammer_time").start_ns == 14_119_002
    assert "--tsc-frequency" in boot.notes[0] and "machdep.tsc_freq" in boot.notes[0]
    assert not any(" ms" in note for note in boot.notes)


def test_the_frequency_may_stand_in_the_file() -> None:
    boot = recording_of(WAITS)
    assert boot.timeline.clock.unit == "ns" and boot.facts["counter"] == "1000000000 Hz"
    assert recording_of(WAITS, tsc_hz=2_000_000_000).facts["counter"] == "2000000000 Hz"


def test_the_boot_is_one_line_through_its_threads() -> None:
    boot = recording_of(WAITS)
    assert phases_ms(boot) == {
        "firmware, before the first record": 100, "loader": 110, "kernel until mi_startup": 11, "SYSINITs": 21,
        "start_init": 58, "programs": 100,
    }  # fmt: skip
    line = {frames: ns for frames, ns in own_ns(boot).items() if frames.partition(";")[0] == "boot"}
    assert line["boot;[firmware]"] == 100e6 and line["boot;main;bc_add"] == 50e6
    # 400 ms of boot, and 20 ms in which two programs ran beside each other.
    assert sum(line.values()) == 420e6


def test_a_wait_shows_what_was_waited_for() -> None:
    # vfs_mountroot waits from 250 to 290 ms for GEOM, whose thread gives it free at 288 and waits itself, from 260 to
    # 277, for a disk read, which is held from 259 to 275.
    boot = recording_of(WAITS)
    waits = "boot;start_init;vfs_mountroot;waits for GEOM events"
    disk = f"{waits};g_event;g_run_events;g_part_taste;waits for disk read"
    assert {frames: ns / 1e6 for frames, ns in own_ns(boot).items() if frames.startswith(waits)} == {
        waits: 2,
        f"{waits};g_event;g_run_events": 4,
        f"{waits};g_event;g_run_events;g_part_taste": 17,
        disk: 2,
        f"{disk};g_up;g_io_deliver": 15,
    }
    assert own_ns(boot)["boot;start_init;vfs_mountroot"] == 12e6
    assert any("38.000 ms of 40.000 ms are explained so" in note for note in boot.notes)


def test_other_threads_are_shown_beside_the_boot() -> None:
    assert own_ns(recording_of(WAITS))["g_event;g_run_events;g_part_taste"] == 34e6


def test_threads_that_wait_for_each_other_end() -> None:
    text = "".join(
        f"0x{one} {t} EVENT {what}\n"
        for t, one, what in (
            (10, 1, "WAIT a"), (11, 2, "WAIT b"), (20, 2, "RELEASE a"), (20, 1, "RELEASE b"), (21, 1, "UNWAIT a"),
            (21, 2, "UNWAIT b"),
        )
    )  # fmt: skip
    boot = rows("0x1 5 ENTER mi_startup\n" + text + "0x1 30 EXIT mi_startup\n")
    assert sum(ns for frames, ns in own_ns(boot).items() if frames.startswith("boot")) == 30


def test_calls_interleaved_between_threads_nest_in_their_own() -> None:
    boot = rows("0x1 10 ENTER a\n0x2 11 ENTER b\n0x1 12 ENTER c\n0x2 13 EXIT b\n0x1 14 EXIT c\n0x1 15 EXIT a\n")
    assert own_ns(boot) == {"thread 0;a": 3, "thread 0;a;c": 2, "thread 1;b": 2}


def test_a_call_that_nobody_ended_ends_with_its_caller() -> None:
    boot = rows("0x1 10 ENTER a\n0x1 20 ENTER b\n0x1 30 EXIT a\n0x1 40 ENTER c\n0x1 50 EXIT c\n")
    assert [(one.name, one.start_ns, one.end_ns, bool(one.about)) for one in boot.timeline.spans] == [
        ("a", 10, 30, False), ("b", 20, 30, True), ("c", 40, 50, False),
    ]  # fmt: skip
    assert "1 call ended unrecorded: they end with their callers." in boot.notes


def test_small_steps_back_are_not_added_up_and_a_reset_is() -> None:
    # tslog.sh adds an offset after each step back, which makes the boot longer by all of them.
    boot = rows(
        "0x1 1000 ENTER a\n0x2 990 ENTER b\n0x2 1010 EXIT b\n0x1 1005 EXIT a\n0x1 1002 ENTER c\n0x1 1008 EXIT c\n"
    )
    assert max(one.end_ns for one in boot.timeline.spans) == 1010
    assert any(note.startswith("1 records lie up to 0.000 ms before") for note in boot.notes)
    reset = rows("0x0 1000 ENTER loader\n0x0 2000 EXIT loader\n0x1 50 ENTER kernel\n0x1 80 EXIT kernel\n")
    assert span_of(reset, "kernel").start_ns == 2000 and span_of(reset, "kernel").duration_ns == 30
    assert "The counter was set back 1 times: what follows is put behind what was before." in reset.notes


def test_a_counter_older_than_the_boot_gives_no_firmware() -> None:
    boot = rows("0x1 700000000000 ENTER mi_startup\n0x1 700000000100 EXIT mi_startup\n")
    assert "firmware, before the first record" not in phases_ms(boot)
    assert own_ns(boot) == {"boot;mi_startup": 100}
    assert "The counter began long before this boot, so what was before the first record is not shown." in boot.notes


def test_recursion_without_end_stays_small() -> None:
    count = 50_000
    boot = rows("".join(f"0x1 {10 + n} ENTER f\n" for n in range(count)))
    assert max(len(one.frames) for one in boot.stacks) <= DEEPEST + 1
    assert sum(one.own_ns for one in boot.stacks) == count - 1


def test_rows_of_records() -> None:
    dump = parse_rows(
        enumerate(
            [
                "0xffffffff81f00000 123 ENTER relocate_file1 ef->rela",
                "0x0 124 EVENT (null)",
                "FreeBSD/amd64 (host) (ttyu0)",
                '7 1 10 0 "" ""',
                '8 0 0 0 "" ""',
                '9 7 10 20 "a \\"b\\"" "/bin/"c"',
            ],
            start=1,
        )
    )
    assert dump.records == [
        Record(0xFFFFFFFF81F00000, 123, RecordKind.ENTER, "relocate_file1 ef->rela"),
        Record(0, 124, RecordKind.EVENT, "(null)"),
    ]
    assert dump.processes[0] == TslogProcess(7, 1, 10, 0, "", "")
    assert (dump.foreign, dump.first_foreign) == (2, 3)


def test_names_of_processes_and_their_ends() -> None:
    table = [
        TslogProcess(1, 0, 5, 0, "/sbin/init", ""),
        TslogProcess(2, 0, 6, 0, "", ""),
        TslogProcess(10, 1, 100, 300, "", "/etc/rc"),
        TslogProcess(11, 10, 110, 400, "", ""),
        TslogProcess(12, 11, 120, 0, "sleep", ""),
        TslogProcess(12, 1, 130, 140, "again", ""),
        TslogProcess(13, 13, 150, 160, "own", ""),
    ]
    lives = read_lives(table, user_start=None, end=500)
    assert [(one.name, one.parent, one.start, one.end) for one in lives] == [
        ("/sbin/init", -1, 100, 500), ("/etc/rc", 0, 100, 300), ("/etc/rc", 1, 110, 300), ("sleep", 2, 120, 300),
        ("own", -1, 150, 160),
    ]  # fmt: skip


def test_programs_that_begin_when_the_log_is_read_keep_their_places() -> None:
    programs = ("10 1 100 0", "sh"), ("11 10 110 0", "late"), ("12 10 120 5000", "sysctl"), ("13 12 130 140", "sed")
    table = "".join(f'{numbers} "{name}" ""\n' for numbers, name in (*programs, ("1 0 200 0", "init")))
    boot = rows(table)
    assert own_ns(boot) == {"processes;sh": 10, "processes;sh;late": 10}


def test_held_by_one_and_released_by_another() -> None:
    threads = read_threads(
        [
            Record(1, 10, RecordKind.EVENT, "HOLD GEOM events"),
            Record(1, 12, RecordKind.EVENT, "HOLD GEOM events"),
            Record(2, 20, RecordKind.EVENT, "RELEASE GEOM events"),
            Record(2, 30, RecordKind.EVENT, "RELEASE GEOM events"),
            Record(2, 40, RecordKind.EVENT, "RELEASE GEOM events"),
        ]
    )
    assert threads.threads[1].releases == [("GEOM events", 10, 20), ("GEOM events", 12, 30), ("GEOM events", 0, 40)]


def test_a_boot_whose_counter_was_set_back_within_its_line() -> None:
    # Found by `make fuzz`: a stretch of the boot's line that ends before it begins counted as negative time.
    boot = rows("0x2 5000 ENTER x\n0x0 4000 ENTER loader\n0x1 3000 ENTER mi_startup\n0x1 3500 EXIT mi_startup\n")
    assert all(one.own_ns >= 0 for one in boot.stacks)
    assert own_ns(boot)["boot;mi_startup"] == 500
