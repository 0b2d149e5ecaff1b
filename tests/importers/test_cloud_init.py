"""cloud-init's log and its analyses: stages are phases, steps have the figures that cloud-init prints."""

import json
import re
from datetime import datetime

import pytest

from bootlab.importers.reading.source import FormatError
from tests.importers.samples import DATA, phases_ms, recording_of, sample

FOLDER = DATA / "cloud-init"


def test_the_log_by_the_stamps_of_its_starts_and_finishes() -> None:
    begun, expected = {}, {}
    for row in (FOLDER / "cloud-init.log").read_text().splitlines():
        found = re.match(r"(\S+ \S+) - handlers\.py\S+ (start|finish): ([\w/-]+):", row)
        if found is None:
            continue
        at = datetime.strptime(found[1], "%Y-%m-%d %H:%M:%S,%f")
        if found[2] == "start":
            begun[found[3]] = at
        else:
            expected[found[3]] = round((at - begun[found[3]]).total_seconds() * 1000)
    one = sample("cloud-init/cloud-init.log")
    assert {span.name: span.duration_ns // 10**6 for span in one.timeline.spans} == expected and len(expected) == 5
    assert phases_ms(one) == {"init-local": 580, "init-network": 1000}
    assert one.facts == {"version": "24.1-test", "up at its first stage": "6.95 s"}
    assert [line.text for line in one.text] == ["Traceback (most recent call last):", '  File "x.py", line 1, in y']
    assert one.notes == ("1 steps never finished in it.",)
    growpart = next(span for span in one.timeline.spans if span.name.endswith("growpart"))
    assert growpart.about.startswith("FAIL; ")


def test_show_has_the_figures_that_it_prints() -> None:
    text = (FOLDER / "show.txt").read_text().split("-- Boot Record 02")[0]
    printed = [(float(at), float(took)) for at, took in re.findall(r"@(\d+\.\d+)s \+(\d+\.\d+)s", text)]
    one = sample("cloud-init/show.txt")
    steps = [span for span in one.timeline.spans if span.source == "cloud-init"]
    assert [(span.start_ns / 1e9, span.duration_ns / 1e9) for span in steps] == printed
    # `Total Time: 2.51100 seconds`.
    assert sum(phases_ms(one).values()) == pytest.approx(2511)
    assert any("of a later boot record" in note for note in one.notes)


def test_blame_has_lengths_alone() -> None:
    printed = re.findall(r"(\d+\.\d+)s \((\S+)\)", (FOLDER / "blame.txt").read_text())
    lengths = sample("cloud-init/blame.txt").lengths
    assert [(f"{length.took_ns / 1e9:08.5f}", length.name) for length in lengths] == printed


def test_a_dump_by_its_events() -> None:
    events = {
        (one["name"], one["event_type"]): one["timestamp"] for one in json.loads((FOLDER / "dump.json").read_text())
    }
    for span in sample("cloud-init/dump.json").timeline.spans:
        took = events[span.name, "finish"] - events[span.name, "start"]
        assert span.duration_ns == pytest.approx(took * 1e9, abs=1_000)


def test_a_second_boot_in_the_log_is_left_out_by_name() -> None:
    text = (FOLDER / "cloud-init.log").read_text()
    twice = recording_of((text + text.replace("10:00:", "11:00:")).encode())
    assert twice.timeline == sample("cloud-init/cloud-init.log").timeline
    assert any("of a later boot" in note and note.startswith("16 of 32 lines") for note in twice.notes)


@pytest.mark.parametrize("text", ["[", "[1]", "x\n", "-- Boot Record 01 --\n"])
def test_what_has_no_events_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        recording_of(text.encode(), format_name="cloud-init")
