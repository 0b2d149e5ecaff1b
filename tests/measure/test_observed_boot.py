"""What is known of one boot: its deadlines with the patience of who waits, and what its trace has by now."""

from dataclasses import replace
from pathlib import Path

from bootlab.profile.recorded.disk_requests import REQUESTS, WRITES, read_disk_requests
from bootlab.profile.recorded.pictures import PICTURES
from bootlab.snapshot.asked import Beginning
from bootlab.snapshot.refusals import MemoryForm
from bootlab.targets.target import REST, TRACE
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


def test_a_boot_that_goes_on_has_all_that_its_beginning_had_written(tmp_path: Path) -> None:
    seen, before = observed(tmp_path), tmp_path / "before"
    before.mkdir()
    files = {
        REQUESTS: ("bootlab-requests 1\ndisk0 write 0 1 1 2 3 0\n", "bootlab-requests 1\ndisk0 read 8 1 4 5 99\n"),
        WRITES: ("a" * 512, "b" * 512),
        PICTURES: ("earlier", "later"),
    }
    for name, (earlier, later) in files.items():
        (before / name).write_text(earlier)
        (seen.directory / name).write_text(later)
    (seen.directory / REST).write_text("bootlab-trace 1\nclock virtual 0\nguest ready 9 9\n")
    trace = "bootlab-trace 1\nclock virtual 0\nguest late 5 5\n"
    beginning = Beginning(tmp_path, MemoryForm.FILE, "late", 5, trace, b"", before, 1.0)
    seen = replace(seen, prepared=replace(seen.prepared, begins=beginning))
    seen.join_beginning()
    requests = list(read_disk_requests(seen.directory / REQUESTS))
    assert [(one.operation, one.done_ns, one.offset) for one in requests] == [("write", 3, 0), ("read", 99, None)]
    assert (seen.directory / WRITES).read_text() == "a" * 512 + "b" * 512
    assert (seen.directory / PICTURES).read_text() == "earlierlater"
    assert (seen.directory / TRACE).read_text() == trace + "guest ready 9 9\n" and not (seen.directory / REST).exists()
