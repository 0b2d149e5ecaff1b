"""A console of loaders alone: who wrote what, and lengths by the loaders' own stamps."""

import re

import pytest

from bootlab.importers.reading.source import FormatError
from bootlab.importers.serial import loader_console
from tests.importers.samples import DATA, read_text, recording_of, sample

TEXT = (DATA / "consoles" / "loaders-alone.log").read_text()


def test_its_own_stamps_and_everything_else_in_its_place() -> None:
    one = sample("consoles/loaders-alone.log")
    stamps = [round(float(stamp) * 1000) for stamp in re.findall(r"(?m)^\[ +(\d+\.\d{3})\]", TEXT)]
    assert [event.t_ns // 10**6 for event in one.timeline.events] == stamps
    assert sum(span.duration_ns for span in one.timeline.spans) == (stamps[-1] - stamps[0]) * 10**6
    kept = len(one.timeline.events) + len(one.text)
    assert kept == sum(bool(row.strip()) for row in TEXT.splitlines())
    assert one.facts["programs"] == "U-Boot SPL (3 lines), U-Boot (6 lines)" and one.notes == ()


def test_without_stamps_it_says_how_to_get_some() -> None:
    one = recording_of(b"U-Boot 2024.01 (Jan 01 2024)\nDRAM:  1 GiB\n")
    assert one.format == "loader-console" and one.timeline.events == () and len(one.text) == 2
    assert "No line has a time" in one.notes[0]


def test_a_console_without_a_banner_is_refused() -> None:
    with pytest.raises(FormatError, match="expected a loader's banner"):
        read_text(loader_console.IMPORTER, "hello\n")
