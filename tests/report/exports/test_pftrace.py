"""Exports in Perfetto's own form: read by the published definitions, nothing in them unknown, every span as it was."""

import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from bootlab.report.exports.pftrace import write_pftrace
from bootlab.timeline.recording import Recording
from tests.fuzz.run import corpus
from tests.importers.samples import recording_of, sample
from tests.report.recordings import threads_recording, units_recording

definitions = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="needs perfetto")
SAMPLES = {one.name: one for one in corpus()}
BEGIN, END, INSTANT = 1, 2, 3


def trace_of(one: Recording, path: Path) -> Any:
    """Return the trace as the published definitions read it: they know every field, and write it the same."""
    write_pftrace(one, path)
    data = path.read_bytes()
    trace = definitions.Trace.FromString(data)
    assert trace.SerializeToString(deterministic=True) and len(trace.SerializeToString()) == len(data)
    for packet in trace.packet:
        known = type(packet)()
        known.CopyFrom(packet)
        known.DiscardUnknownFields()
        assert known == packet
    return trace


def slices_of(trace: Any) -> tuple[dict[int, str], list[tuple[str, str, int, int]]]:
    """Return the tracks' names, and (track, name, start, end) of each slice, as a reader pairs begins and ends."""
    tracks, open_slices, slices = {}, defaultdict(list), []
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in tracks and (not track.parent_uuid or track.parent_uuid in tracks)
            tracks[track.uuid] = track.process.process_name or track.name
    # A reader sorts by time, and keeps the order of packets of one time.
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    for packet in sorted(events, key=lambda packet: packet.timestamp):
        event = packet.track_event
        if event.type == BEGIN:
            open_slices[event.track_uuid].append((event.name, packet.timestamp))
        elif event.type == END:
            name, start = open_slices[event.track_uuid].pop()
            slices.append((tracks[event.track_uuid], name, start, packet.timestamp))
        else:
            assert event.type == INSTANT and event.track_uuid in tracks
    assert not any(open_slices.values())
    return tracks, slices


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_every_sample_is_valid_and_has_its_spans(name: str, tmp_path: Path) -> None:
    one = recording_of(SAMPLES[name].data, name)
    trace = trace_of(one, tmp_path / "x.pftrace")
    _, slices = slices_of(trace)
    spans = [*one.phases, *one.timeline.spans]
    assert sorted((label, start, end) for _, label, start, end in slices) == sorted(
        (span.name, span.start_ns - one.start_ns, span.end_ns - one.start_ns) for span in spans
    )
    moments = [packet for packet in trace.packet if packet.track_event.type == INSTANT]
    assert len(moments) == len(one.timeline.events)


def test_rows_and_threads_have_their_names(tmp_path: Path) -> None:
    tracks, slices = slices_of(trace_of(threads_recording(), tmp_path / "x"))
    assert set(tracks.values()) == {"boot (tsc clock, ns)", "threads (tsc clock, ns)", "main", "other", "Events"}
    assert ("main", "outer", 0, 6_000_000) in slices and len(slices) == 4
    tracks, _ = slices_of(trace_of(units_recording(), tmp_path / "x"))
    assert sorted(tracks.values()) == ["Phases", "Units", "Units", "boot (monotonic clock, ns)"]


def test_what_lies_before_zero_moves_all_and_says_so(tmp_path: Path) -> None:
    # The firmware's and loader's phases are before the clock's zero.
    one = recording_of(
        b"Startup finished in 2.000s (firmware) + 1.000s (loader) + 3.000s (kernel) + 4s (userspace) = 10s\n"
    )
    assert one.start_ns == -3_000_000_000
    tracks, slices = slices_of(trace_of(one, tmp_path / "x"))
    assert min(start for _, _, start, _ in slices) == 0
    assert any("3000000000 added" in name for name in tracks.values())


# No package brings it, so it may be missing where everything else is required.
@pytest.mark.hardware
@pytest.mark.skipif(shutil.which("trace_processor_shell") is None, reason="needs trace_processor_shell")
def test_the_real_trace_processor_opens_it(tmp_path: Path) -> None:
    one, path = sample("debian-13/dmesg.txt.xz"), tmp_path / "x.pftrace"
    write_pftrace(one, path)
    query = tmp_path / "q.sql"
    query.write_text("select count(*) as slices, sum(dur) as ns from slice where dur > 0 or dur = 0;")
    said = subprocess.run(
        ["trace_processor_shell", "-q", str(query), str(path)], check=True, capture_output=True, text=True
    ).stdout
    spans = [*one.phases, *one.timeline.spans]
    assert str(sum(span.duration_ns for span in spans)) in said
