"""What was read from disks in each phase, on pages. The figures are made up."""

from bootlab.measure.record import BootRecord
from bootlab.report.boots.page import boot_page, compare_page, series_page
from bootlab.report.boots.reads import reads_table
from tests.report.boots.test_text import series


def counted(first: int, others: int = 0) -> BootRecord:
    """Return a boot whose first phase read `first` bytes, and each of the others so many."""
    record = series("series-before.json")[0]
    read = [first, *[others] * (len(record.phases) - 1)]
    phases = [one.model_copy(update={"read_bytes": size}) for one, size in zip(record.phases, read, strict=True)]
    return record.model_copy(update={"phases": phases, "read_up_to": {"root": 1_234_567}})


def test_boots_whose_disks_are_not_counted_have_no_table() -> None:
    records = series("series-before.json")
    assert reads_table(records[:1]) == ""
    assert "bytes read" not in boot_page(records[0])


def test_each_phase_has_its_bytes_and_each_other_mark_those_up_to_it() -> None:
    page = boot_page(counted(28_539_904))
    assert "28,539,904" in page and "up to the mark root" in page and "1,234,567" in page
    assert "28,539,904" in series_page([counted(28_539_904)])


def test_two_sides_stand_side_by_side() -> None:
    plain = series("series-before.json")[0]
    page = compare_page([plain], [counted(4096)])
    assert "before, bytes read" in page and "4,096" in page
    assert reads_table([plain, counted(4096)], ["a", "b"]).count("<tr") == 1 + len(plain.phases) + 1
