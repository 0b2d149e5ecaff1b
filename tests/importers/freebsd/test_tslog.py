"""FreeBSD's TSLOG: the published figures of a real boot, and a boot made by hand for its waits.

The real one is run 1 of ryanmaclean/smolfire docs/boot-time/2026-09-22; what is expected of it is from
smolfire-tslog-phases.json there.
"""

import json

import pytest

from tests.importers.freebsd.rows import WAITS, own_ns, rows
from tests.importers.samples import DATA, phases_ms, recording_of, sample, span_of

HERTZ = 2_445_431_964


@pytest.fixture(scope="module")
def published() -> dict[str, dict[str, float]]:
    document: dict[str, dict[str, float]] = json.loads((DATA / "tslog" / "expected.json").read_text())
    return document


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


def test_a_boot_whose_counter_was_set_back_within_its_line() -> None:
    # Found by `make fuzz`: a stretch of the boot's line that ends before it begins counted as negative time.
    boot = rows("0x2 5000 ENTER x\n0x0 4000 ENTER loader\n0x1 3000 ENTER mi_startup\n0x1 3500 EXIT mi_startup\n")
    assert all(one.own_ns >= 0 for one in boot.stacks)
    assert own_ns(boot)["boot;mi_startup"] == 500


@pytest.mark.parametrize(
    ("thread", "name"), [("0xfffff80001000000", "machdep.tsc_freq"), ("0xffff000001000000", "kern.timecounter.tc")]
)
def test_the_hint_names_a_sysctl_that_this_processor_has(thread: str, name: str) -> None:
    one = recording_of(f"{thread} 100 ENTER mi_startup\n{thread} 200 EXIT mi_startup\n".encode())
    assert any(f"which sysctl {name} prints" in note for note in one.notes)
