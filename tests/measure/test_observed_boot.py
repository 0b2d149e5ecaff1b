"""What is known of one boot: its deadlines with the patience of who waits, and what its trace has by now."""

from pathlib import Path

from tests.measure.observing import observed, write_trace


def test_patience_multiplies_both_deadlines(tmp_path: Path) -> None:
    seen = observed(tmp_path, booted={"mark": "ready", "deadline_s": 10}, check={"mark": "works", "deadline_s": 8})
    assert (seen.ready_deadline_s, seen.check_deadline_s) == (5.0, 4.0)
    (tmp_path / "without").mkdir()
    assert observed(tmp_path / "without", check=None).check_deadline_s == 0.0


def test_a_trace_is_read_as_far_as_it_was_written(tmp_path: Path) -> None:
    seen = observed(tmp_path)
    assert seen.trace() is None and not seen.has_traced("ready")
    write_trace(seen, "guest ready 5 5")
    assert seen.has_traced("ready") and not seen.has_traced("other") and not seen.has_traced(None)


def test_a_boot_that_nothing_traces_has_no_marks_in_a_trace(tmp_path: Path) -> None:
    """A file of that name may lie in the directory of a boot on the wall clock, whose times are the host's."""
    seen = observed(tmp_path, clock="wall")
    write_trace(seen, "guest ready 5 5")
    assert seen.trace() is not None and not seen.has_traced("ready")


def test_a_mark_of_the_screen_is_found_without_reading_the_trace(tmp_path: Path) -> None:
    seen = observed(tmp_path)
    assert not seen.has_seen("desk")
    write_trace(seen, "guest desk 5 5", "seen desktop 5 5 00ff", "typed name 6 6")
    assert not seen.has_seen("desk") and seen.has_seen("desktop") and seen.has_seen("name")
