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


def test_a_stage_whose_start_came_before_its_log_was_open_begins_where_it_says_that_it_runs() -> None:
    one = sample("cloud-init/stages-without-starts.log")
    assert phases_ms(one) == {"init-local": 451, "init-network": 360, "modules-config": 314}
    assert not one.notes and not one.text


def test_a_log_from_before_events_has_its_stages_by_what_they_took() -> None:
    one = sample("cloud-init/before-events.log")
    assert phases_ms(one) == {"init-local": 130, "init-network": 520, "modules-config": 900}
    assert [span.start_ns // 10**6 for span in one.phases] == [0, 1310, 4050]
    assert [(span.name, span.start_ns // 10**6) for span in one.timeline.spans if span.source == "cloud-init"] == [
        ("init-network/resize_devices", 1450)
    ]
    assert any("before 0.7.7" in note for note in one.notes)
    assert "3 rows came through rsyslog, which stamps whole seconds." in one.notes
    assert any(note.startswith("2 of 12 lines left out: of a later boot") for note in one.notes)


@pytest.mark.parametrize("up", [".", "..1", "1.2.3", "x"])
def test_a_stage_that_is_up_since_no_number_has_no_time(up: str) -> None:
    """A damaged figure of one row spoils no other."""
    text = (FOLDER / "stages-without-starts.log").read_text()
    first = re.search(r"Up ([\d.]+) s", text)
    assert first is not None
    damaged = text.replace(f"Up {first[1]} s", f"Up {up} s", 1)
    whole, rest = recording_of(text.encode()).phases, recording_of(damaged.encode()).phases
    assert 0 < len(rest) <= len(whole) and {one.name for one in rest} <= {one.name for one in whole}


def test_an_excerpt_of_show_is_read_without_its_title_and_with_the_blanks_at_its_ends() -> None:
    rows = [
        "Starting stage: modules-config",
        "|`->config-locale ran successfully @03.32600s +01.29900s",
        "Finished stage: (modules-config) 02.01300 seconds ",
        "",
        "-- Boot Record 03 --",
        "|`->config-ntp ran successfully @00.27400s +00.00100s",
    ]
    one = recording_of("\n".join(rows).encode())
    assert one.format == "cloud-init"
    assert phases_ms(one) == {"modules-config": 2013}
    assert any("of a later boot record" in note for note in one.notes)
