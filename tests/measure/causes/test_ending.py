"""What became of a boot that was not simply ready, in words, from its console, its trace and how its machine ended."""

from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.measure.causes.ending import Ending, explain_early_check, explain_early_end, explain_overdue
from bootlab.measure.record import Outcome
from bootlab.targets.target import ConsoleTraits, Ended, EndReason
from tests.measure.observing import observed, write_trace

SHUT_DOWN = Ended(9, EndReason.GUEST_SHUTDOWN)
ELSEWHERE = "console=hvc0"
LAST = 'last console line, 2.500 host s after power-on: "one more thing"'


def test_a_panic_on_the_console_says_of_what(tmp_path: Path) -> None:
    seen = observed(tmp_path)
    seen.heard.feed(b"Kernel panic - not syncing: Attempted to kill init!\n", 5)
    ending = explain_early_end(seen, Ended(9, EndReason.DIED, "QEMU was killed"))
    assert ending.outcome is Outcome.PANICKED
    assert ending.detail.startswith("kernel panic: Attempted to kill init!"), "whatever ended the machine after it"


def test_a_machine_that_was_lost_says_nothing_about_the_system(tmp_path: Path) -> None:
    seen = observed(tmp_path)
    write_trace(seen, "mark panic 7 7")
    ended = Ended(9, EndReason.DIED, "QEMU was killed")
    assert explain_early_end(seen, ended) == Ending(Outcome.TARGET_DIED, "QEMU was killed")


def test_a_bootloader_that_gave_up_hangs_unless_the_machine_went_on(tmp_path: Path) -> None:
    seen = observed(tmp_path)
    seen.heard.feed(b"### ERROR ### Please RESET the board ###\n", 0)
    stopped = explain_early_end(seen, Ended(9, EndReason.STOPPED))
    assert stopped.outcome is Outcome.HUNG and stopped.detail.startswith("the bootloader gave up; last console line")
    assert explain_early_end(seen, SHUT_DOWN).outcome is Outcome.NOT_READY


def test_a_panic_that_only_the_trace_has(tmp_path: Path) -> None:
    seen = observed(tmp_path)
    write_trace(seen, "mark start_kernel 4 4", "mark panic 7 7")
    ending = explain_early_end(seen, SHUT_DOWN)
    assert ending.outcome is Outcome.PANICKED
    assert ending.detail.startswith("the kernel panicked without a word on the console")


def test_a_check_that_was_made_before_ready_proves_nothing(tmp_path: Path) -> None:
    seen = observed(tmp_path, check={"mark": "works"})
    write_trace(seen, "guest works 7 7")
    ending = explain_early_end(seen, SHUT_DOWN)
    assert ending.outcome is Outcome.CHECK_FAILED
    assert ending.detail.startswith(
        "before it was ready its check said: mark works, which proves nothing before"
    )  # fmt: skip


def test_a_guest_that_ended_has_its_last_words(tmp_path: Path) -> None:
    seen = observed(tmp_path)
    seen.heard.feed(b"  one more thing  \n\n", 2_500_000_000)
    ending = explain_early_end(seen, SHUT_DOWN)
    assert ending.outcome is Outcome.NOT_READY
    assert ending.detail.startswith(f"guest shutdown before ready; {LAST}")


def test_a_failed_check_says_what_it_said(tmp_path: Path) -> None:
    seen = observed(tmp_path)
    seen.heard.feed(b"bootlab: check failed: no disk\n", 3)
    ending = explain_early_check(seen)
    assert ending.outcome is Outcome.CHECK_FAILED
    assert ending.detail.startswith("before it was ready its check said: bootlab: check failed: no disk")


@pytest.mark.parametrize(
    ("withheld_s", "waited"), [(0.0, ""), (0.99, ""), (7.4, ", and 7 s for a processor")]
)  # fmt: skip
def test_a_hang_says_how_long_it_was_waited_for(withheld_s: float, waited: str, tmp_path: Path) -> None:
    """Half of the deadlines' 120 s and 60 s: the boot's patience is 0.5."""
    seen = observed(tmp_path)
    ending = explain_overdue(seen, withheld_s)
    assert ending.outcome is Outcome.HUNG
    assert ending.detail.startswith(f"not ready after 60 s on the host's clock{waited}; the console said nothing")


def test_a_check_without_a_result(tmp_path: Path) -> None:
    seen = observed(tmp_path)
    seen.heard.feed(b"bootlab: mark ready\n", 1)
    ending = explain_overdue(seen, 9.0)
    assert ending.outcome is Outcome.CHECK_FAILED
    assert ending.detail.startswith("no result of the check after 30 s; last console line")


def test_a_mark_whose_line_never_came_tells_of_the_serial_port(tmp_path: Path) -> None:
    seen = observed(tmp_path)
    write_trace(seen, "guest ready 1500000 1500000")
    ending = explain_overdue(seen, 0.0)
    assert ending.outcome is Outcome.HUNG
    assert ending.detail.startswith(
        "the mark was made at 1.500 ms, but its line has not reached the serial port "
        "after 60 s on the host's clock, and the check needs it"
    )


def test_a_check_by_mark_that_did_not_come_is_its_own_failure(tmp_path: Path) -> None:
    seen = observed(tmp_path, check={"mark": "works"})
    write_trace(seen, "guest ready 1500000 1500000")
    ending = explain_overdue(seen, 0.0)
    assert ending.outcome is Outcome.CHECK_FAILED
    assert ending.detail.startswith("ready at 1.500 ms, and its check has not made the mark works after 60 s")


def test_of_a_line_nothing_is_known_but_what_came(tmp_path: Path) -> None:
    seen = observed(tmp_path, traits=ConsoleTraits(is_line=True, zero="^U-Boot"))
    seen.heard.feed(b"hello\n", 1)
    assert explain_overdue(seen, 0.0).detail.endswith("no line had target.zero (^U-Boot), so no time was counted")


def test_a_known_cause_is_told_with_it(tmp_path: Path) -> None:
    seen = observed(tmp_path)
    silent = replace(seen, prepared=replace(seen.prepared, system=seen.system.with_part("kernel", cmdline=ELSEWHERE)))
    detail = explain_overdue(silent, 0.0).detail
    assert "the console said nothing; the kernel's console is hvc0, and what is read is ttyS0" in detail
