"""Exports for speedscope: valid by its own published schema, balanced, and with the figures of the recording.

The schema in tests/data/report/speedscope is the one that speedscope 1.25.0 publishes, under the licence beside it.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import InputError
from bootlab.report.exports.recording import export_recording
from bootlab.report.exports.speedscope import speedscope_document
from bootlab.timeline.recording import Recording
from tests.fuzz.run import corpus
from tests.importers.samples import recording_of, sample
from tests.report.recordings import threads_recording

jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema")
SCHEMA = json.loads((Path(__file__).parents[2] / "data/report/speedscope/file-format-schema.json").read_text())
SAMPLES = {one.name: one for one in corpus()}


def checked(one: Recording) -> dict[str, Any] | None:
    """Return the document, read back from its text, once the schema and the rules beside it hold."""
    made = speedscope_document(one, "a boot")
    if made is None:
        return None
    document: dict[str, Any] = json.loads(json.dumps(made))
    jsonschema.validate(document, SCHEMA)
    count = len(document["shared"]["frames"])
    for profile in document["profiles"]:
        if profile["type"] == "sampled":
            assert len(profile["samples"]) == len(profile["weights"])
            assert all(0 <= frame < count for frames in profile["samples"] for frame in frames)
            continue
        open_frames: list[int] = []
        before = profile["startValue"]
        for event in profile["events"]:
            assert before <= event["at"] <= profile["endValue"] and 0 <= event["frame"] < count
            before = event["at"]
            if event["type"] == "O":
                open_frames.append(event["frame"])
            else:
                assert open_frames.pop() == event["frame"]
        assert not open_frames
    return document


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_every_sample_is_valid_by_the_schema(name: str) -> None:
    one = recording_of(SAMPLES[name].data, name)
    document = checked(one)
    spans = len(one.phases) + len(one.timeline.spans)
    assert (document is None) == (not spans and not one.stacks)
    if document is not None:
        evented = [profile for profile in document["profiles"] if profile["type"] == "evented"]
        assert sum(event["type"] == "O" for profile in evented for event in profile["events"]) == spans
        whole = sum(
            (1 if event["type"] == "C" else -1) * event["at"] for profile in evented for event in profile["events"]
        )
        assert whole == sum(span.duration_ns for span in (*one.phases, *one.timeline.spans))


def test_stacks_are_samples_with_their_own_times() -> None:
    one = sample("debian-13/ftrace-graph.txt.xz")
    document = checked(one)
    assert document is not None and one.stacks
    sums = document["profiles"][document["activeProfileIndex"]]
    assert sums["type"] == "sampled" and sums["endValue"] == sum(sums["weights"]) == sum(s.own_ns for s in one.stacks)


def test_a_counter_without_a_rate_counts_no_time() -> None:
    document = checked(threads_recording(unit="cycles"))
    assert document is not None and {profile["unit"] for profile in document["profiles"]} == {"none"}


def test_lengths_alone_are_refused_with_what_has_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing in a recording of systemd-analyze has a place"):
        export_recording(sample("debian-13/systemd-analyze-blame.txt"), "x", "speedscope", tmp_path)
