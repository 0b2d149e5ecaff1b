"""Threads of TSLOG: the boot is one line through them, and a wait shows what was waited for."""

from bootlab.importers.freebsd.tslog_records import Record, RecordKind
from bootlab.importers.freebsd.tslog_threads import read_threads
from tests.importers.freebsd.rows import WAITS, own_ns, rows
from tests.importers.samples import phases_ms, recording_of


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
