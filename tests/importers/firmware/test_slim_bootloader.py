"""Slim Bootloader's performance table: milliseconds, microseconds that are called so, the security engine's own."""

import re

import pytest

from bootlab.importers.firmware import slim_bootloader
from bootlab.importers.reading.source import FormatError
from tests.importers.samples import DATA, phases_ms, read_text, recording_of, sample

PLAIN = "firmware-times/slim-bootloader.txt"
MICROSECONDS = "firmware-times/slim-bootloader-microseconds.txt"


def columns(name: str) -> list[tuple[str, int, int, str]]:
    """Return the loader's rows, cut at their bars."""
    text = (DATA / name).read_text().split("CSME")[0]
    rows = [
        [cell.strip() for cell in row.split("|")] for row in text.splitlines() if re.match(r" *[0-9a-fA-F]{4} ", row)
    ]
    return [(number, int(time.split()[0]), int(delta.split()[0]), what) for number, time, delta, what in rows]


@pytest.mark.parametrize(("name", "unit_ns"), [(PLAIN, 1_000_000), (MICROSECONDS, 1_000)])
def test_moments_and_lengths_are_the_columns(name: str, unit_ns: int) -> None:
    one, rows = sample(name), columns(name)
    assert [(event.t_ns, event.name) for event in one.timeline.events] == [
        (time * unit_ns, what) for _, time, _, what in rows
    ]
    assert [(span.duration_ns, span.name) for span in one.timeline.spans] == [
        (delta * unit_ns, what) for _, _, delta, what in rows
    ]
    assert sum(phase.duration_ns for phase in one.phases) == rows[-1][1] * unit_ns


def test_a_stage_lasts_to_its_own_last_row() -> None:
    assert phases_ms(sample(PLAIN)) == {"Stage 1A": 71.0, "Stage 1B": 192.0, "Stage 2": 297.0}
    assert list(phases_ms(sample(MICROSECONDS))) == ["Stage 1A", "Stage 1B", "Stage 2", "OS loader"]


def test_microseconds_are_told_by_the_command_and_doubted_without_it() -> None:
    assert any("counts in microseconds" in note for note in sample(MICROSECONDS).notes)
    text = (DATA / MICROSECONDS).read_text().replace("402118", "702118").replace("Shell> perf -d\n", "")
    later = re.sub(r"(403009|410622)", lambda found: f"7{found[1][1:]}", text)
    assert any("prints microseconds under that name" in note for note in recording_of(later.encode()).notes)
    assert sample(PLAIN).notes == ()


def test_the_security_engine_counts_by_itself() -> None:
    assert [(one.took_ns, one.name) for one in sample(MICROSECONDS).lengths] == [
        (84_000_000, "EC boot load done"), (45_000_000, "CSME RBE start execution"),
    ]  # fmt: skip


def test_the_first_tables_had_no_descriptions() -> None:
    one = recording_of(
        b" Id   | Time (ms)  | Delta (ms) \n------+------------+------------\n 1000 |       2 ms |       2 ms\n"
        b" 2000 |      80 ms |      78 ms\n------+------------+------------\n"
    )
    assert [(event.name, event.t_ns) for event in one.timeline.events] == [
        ("id 1000", 2_000_000), ("id 2000", 80_000_000),
    ]  # fmt: skip


def test_a_missing_row_is_said() -> None:
    text = (DATA / PLAIN).read_text().replace(" 20A0 |     263 ms |      62 ms | Verify Stage2\n", "")
    assert any(note.startswith("Of 1 rows Delta is not") for note in recording_of(text.encode()).notes)


def test_a_head_without_rows_is_refused() -> None:
    with pytest.raises(FormatError, match="FSP MemoryInit"):
        read_text(slim_bootloader.IMPORTER, " Id   | Time (ms)  | Delta (ms) | Description\n")
