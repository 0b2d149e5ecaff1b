"""A clone's times count from where it was kept; its marks and phases are its own."""

from pathlib import Path

from bootlab.measure.clone import counted_from_snapshot, marks_of_clone, phases_of_clone, restored_record
from bootlab.profile.recorded.trace import PluginTrace, Stamp, parse_trace
from bootlab.snapshot.asked import Restored
from bootlab.snapshot.identity import CloneIdentity
from bootlab.snapshot.refusals import MemoryForm

TRACE = """bootlab-trace 1
clock virtual 0
guest woke 1022 1002
console 1500 1400 12
guest ready 2000 1800
end 2000 1800
"""


def restored(identity: CloneIdentity | None) -> Restored:
    return Restored(Path("/kept"), MemoryForm.FILE, 1000, 990, identity)


def test_times_and_instructions_count_from_the_snapshot() -> None:
    trace = counted_from_snapshot(parse_trace(TRACE), restored(None))
    assert trace is not None
    assert trace.guest_marks == {"woke": Stamp(22, 12), "ready": Stamp(1000, 810)}
    assert trace.console == [(Stamp(500, 410), 12)] and trace.end == Stamp(1000, 810)
    assert trace.idle_ns(trace.guest_marks["ready"]) == 190
    assert counted_from_snapshot(None, restored(None)) is None
    cold = PluginTrace()
    assert counted_from_snapshot(cold, None) is cold


def test_marks_and_phases_with_an_agent_and_without() -> None:
    marks = marks_of_clone({"power_on": 0, "woke": 22, "ready": 1000})
    assert list(marks.items()) == [("restored", 0), ("woke", 22), ("ready", 1000), ("ready_clone", 1000)]
    assert [(one.name, one.duration_ns) for one in phases_of_clone(marks)] == [
        ("waking", 22),
        ("clone agent and application", 978),
    ]
    assert [one.name for one in phases_of_clone(marks_of_clone({"power_on": 0, "ready": 5}))] == ["application"]
    assert phases_of_clone(marks_of_clone({"power_on": 0})) == []


def test_a_record_says_which_clone_of_which_snapshot() -> None:
    record = restored_record(restored(CloneIdentity("kept", 3, "s")))
    assert record is not None and (record.snapshot, record.clone, record.kept_ns) == ("/kept", 3, 1000)
    unknown = restored_record(restored(None))
    assert unknown is not None and unknown.clone is None
    assert restored_record(None) is None
