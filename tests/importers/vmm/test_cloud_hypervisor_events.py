"""Cloud Hypervisor's event monitor: each event at its time, devices by their id, and what is none is counted."""

import pytest

from bootlab.importers.reading.source import FormatError
from bootlab.importers.vmm.cloud_hypervisor_events import parse
from tests.importers.samples import recording_of, sample

EVENT = '{"timestamp": {"secs": %s, "nanos": %s}, "source": "vm", "event": "booted", "properties": null}'


def test_events_and_what_led_to_each() -> None:
    one = sample("vmm/cloud-hypervisor-53.0.events")
    names = [event.name for event in one.timeline.events]
    assert names[:3] == ["vmm starting", "vm booting", "vm booted"]
    assert [phase.name for phase in one.phases][:2] == ["vm booting", "vm booted"]
    assert all(phase.end_ns > phase.start_ns for phase in one.phases) and "nothing of what the guest" in one.notes[0]


def test_what_is_no_event_or_cut_off_is_counted() -> None:
    wrong = [EVENT % bad for bad in (('"1"', 2), (-1, 2), (1, 10**9), ("true", 2), (10**10, 1))]
    text = "\n\n".join([EVENT % (1, 25), *wrong, '{"source": "vm"}', '{"timestamp": {"secs": 1, "nanos": 1}}'])
    assert parse(text) == ([(1_000_000_025, "vm booted")], 7)
    assert parse(EVENT % (1, 25) + '{"timestamp": {"secs":') == ([(1_000_000_025, "vm booted")], 1)
    assert parse('{"a":' * 99_999) == ([], 1) and parse("[" * 99_999) == ([], 0)
    one = recording_of(text.encode())
    assert "7 of 8 objects left out" in " ".join(one.notes) or [event.t_ns for event in one.timeline.events]
    with pytest.raises(FormatError, match="expected events such as"):
        recording_of(wrong[0].encode(), format_name="cloud-hypervisor-events")
