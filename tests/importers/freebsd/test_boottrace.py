"""FreeBSD's boottrace: both tables, names with blanks, and what the kernel adds up."""

import pytest

from bootlab.importers.reading.source import FormatError
from tests.importers.samples import DATA, phases_ms, recording_of, sample, span_of

TEXT = (DATA / "freebsd" / "boottrace.txt").read_text()


def test_where_rows_are_missing_an_event_is_as_long_as_its_column_says() -> None:
    boot = sample("other-origins/boottrace-rows-missing.txt")
    # 1,750 ms lie between this row and the one above it, which is not the one that the kernel counted from.
    assert span_of(boot, "/etc/rc.d/securelevel start").duration_ns == 1_000_000
    assert any(
        note.startswith("Rows are missing before 4 of the events, the first sysinit 0x2800000") for note in boot.notes
    )
    assert sum(phases_ms(boot).values()) == 10068


def test_the_deltas_and_the_sum_that_the_kernel_prints() -> None:
    boot = sample("freebsd/boottrace.txt")
    assert len(boot.timeline.events) == 15
    assert [one.duration_ns // 10**6 for one in boot.timeline.spans] == [
        2, 34, 638, 286, 3, 4, 213, 91, 1310, 532, 576,
    ]  # fmt: skip
    assert sum(phases_ms(boot).values()) == 3689
    assert phases_ms(boot) == {"kernel": 960, "programs": 2729}
    assert boot.notes == ("Times are whole milliseconds.",)


def test_names_with_blanks_are_cut_by_column() -> None:
    lease = span_of(sample("freebsd/boottrace.txt"), "lease obtained after one try")
    assert lease.about == "dhclient igb 0, pid 311, CPU 0"


def test_a_table_that_was_squeezed_is_still_read() -> None:
    squeezed = "\n".join(" ".join(row.split()) for row in TEXT.split("\n"))
    boot = recording_of(squeezed.encode())
    assert [one.t_ns for one in boot.timeline.events] == [
        one.t_ns for one in sample("freebsd/boottrace.txt").timeline.events
    ]
    assert boot.timeline.events[7].name == "/etc/rc.d/fsck start"


def test_a_sum_that_does_not_fit_is_told() -> None:
    assert any("3690 ms" in note for note in recording_of(TEXT.replace("3689", "3690").encode()).notes)


def test_a_title_without_rows() -> None:
    with pytest.raises(FormatError, match="expected a table of kern.boottrace.log"):
        recording_of("\n".join(TEXT.split("\n")[:3]).encode())


def test_rows_behind_an_ellipsis_have_no_title() -> None:
    rows = TEXT.split("\n")[5:9]
    boot = recording_of("\n".join(["[...]", *rows]).encode())
    assert boot.format == "boottrace" and len(boot.timeline.events) == 4
    assert any("left out" in note and "[...]" in note for note in boot.notes)
