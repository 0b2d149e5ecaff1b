"""comma's table of a boot: parts, what is a constant in it, and a part that began early."""

import pytest

from bootlab.importers import comma
from bootlab.importers.reading.source import FormatError
from tests.importers.samples import DATA, phases_ms, read_text, recording_of, sample

PLAIN, EARLY = "comma/boot-time.txt", "comma/boot-time-early.txt"


@pytest.mark.parametrize("name", [PLAIN, EARLY])
def test_each_part_ends_where_the_table_says(name: str) -> None:
    rows = [
        row.split()
        for row in (DATA / name).read_text().splitlines()
        if row.split()[0] in "PON XBL ABL kernel weston comma"
    ]
    assert sorted(event.t_ns for event in sample(name).timeline.events) == sorted(
        round(float(end) * 1e9) for _, _, end, _ in rows
    )
    # Its own shares, to what they are rounded to.
    whole = sum(float(took) for _, took, _, _ in rows)
    for part, took, _, share in rows:
        if float(took) > 0:
            assert phases_ms(sample(name))[part] == pytest.approx(float(took) * 1000, abs=20)
            assert float(took) / whole * 100 == pytest.approx(int(share.rstrip("%")), abs=1.5)


def test_a_part_that_began_early_is_no_phase() -> None:
    one = sample(EARLY)
    assert "comma" not in phases_ms(one) and [length.took_ns for length in one.lengths] == [2_750_000_000]
    assert any("length below zero" in note for note in one.notes)
    assert not any("below zero" in note for note in sample(PLAIN).notes)


def test_constants_and_unknown_parts_are_named() -> None:
    notes = sample(PLAIN).notes
    assert any(note.startswith("PON, XBL, ABL: constants") for note in notes)
    assert any(note.startswith("onroad: the table has no figure") for note in notes)
    alone = recording_of(
        b"------  ----  ----  ---\nkernel  3.4   3.4   60%\nweston  2.2   5.6   40%\n------  ----  ----  ---\n"
    )
    assert alone.notes == ()


def test_a_table_without_figures_is_refused() -> None:
    with pytest.raises(FormatError, match="under a rule"):
        read_text(comma.IMPORTER, "------  ----  -----  ---\nonroad  ?     ?      -\n")
