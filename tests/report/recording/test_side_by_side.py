"""Two recordings side by side, counted by hand: text, page, and what may not be compared."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from bootlab.errors import InputError
from bootlab.experiments.importing import Imported, ImportedFile
from bootlab.report.recording.side_by_side import compare_sides
from bootlab.report.recording.side_by_side_page import recording_sides_page
from bootlab.report.recording.side_by_side_text import comparison
from bootlab.timeline.event import Span
from bootlab.timeline.recording import Recording, Series
from bootlab.timeline.timeline import Timeline
from tests.report.boots.test_page import HOSTILE
from tests.report.recordings import threads_recording, units_recording


def imported(one: Recording, name: str = "a") -> Imported:
    return Imported(name, (ImportedFile(name, one.format, 1, "0" * 64),), one)


def slower_units() -> Recording:
    """As units_recording, with b.service 2 ms longer, a.service gone, d.service new, user space 3 ms longer."""
    one = units_recording()
    spans = [Span(3_000_000, 11_000_000, "unit", "b.service"), Span(9_000_000, 10_000_000, "unit", "d.service")]
    phases = (one.phases[0], replace(one.phases[1], end_ns=12_000_000))
    return replace(one, timeline=Timeline.of(one.timeline.clock, [], spans), phases=phases)


def test_phases_and_units_by_name() -> None:
    sides = compare_sides(imported(units_recording()), imported(slower_units(), "b"))
    assert [(row.name, row.before_ns, row.after_ns) for row in sides.phases] == [
        ("kernel", 2_000_000, 2_000_000), ("userspace", 7_000_000, 10_000_000),
    ]  # fmt: skip
    assert sides.total is not None and sides.total.change_ns == 3_000_000
    assert [(row.name, row.change_ns) for row in sides.things["unit"]] == [
        ("a.service", -3_000_000), ("b.service", 2_000_000), ("d.service", 1_000_000),
    ]  # fmt: skip
    assert sides.things["blame"][0].change_ns == 0
    assert any("may be chance" in caution for caution in sides.cautions)


def test_things_of_one_name_are_told_apart_by_their_order() -> None:
    clock = units_recording().timeline.clock
    one, other = (
        replace(units_recording(), lengths=(), phases=(), timeline=Timeline.of(clock, [], [
            Span(0, 5, "initcall", "init"), Span(10, 10 + second, "initcall", "init"),
        ]))
        for second in (7, 9)
    )  # fmt: skip
    assert [row.change_ns for row in compare_sides(imported(one), imported(other)).things["initcall"]] == [2, 0]


def test_a_phase_of_the_second_alone_stands_where_it_comes() -> None:
    one = units_recording()
    initrd = Span(2_000_000, 3_000_000, "phase", "initrd")
    other = replace(one, phases=(one.phases[0], initrd, replace(one.phases[1], start_ns=3_000_000)))
    sides = compare_sides(imported(one), imported(other))
    assert [row.name for row in sides.phases] == ["kernel", "initrd", "userspace"] and sides.total is None


def test_calls_are_compared_by_function() -> None:
    sides = compare_sides(imported(threads_recording()), imported(threads_recording(name="renamed")))
    assert [(row.name, row.before_ns, row.after_ns) for row in sides.functions if row.change_ns] == [
        ("inner", 4_000_000, None), ("renamed", None, 4_000_000),
    ]  # fmt: skip
    page = recording_sides_page(imported(threads_recording()), imported(threads_recording(name="renamed"), "b"))
    assert 'id="profile-tree"' in page and 'id="flame-graph"' in page


def test_series_have_an_interval() -> None:
    def series(*values: float) -> Recording:
        one = units_recording()
        figures = Series("boot", "ns", tuple(value * 1e6 for value in values))
        return replace(one, phases=(), lengths=(), timeline=Timeline.of(one.timeline.clock, []), series=(figures,))

    before, after = series(100, 101, 102, 103, 104, 105), series(90, 91, 92, 93, 94, 95)
    (row,) = compare_sides(imported(before), imported(after)).series
    assert (row.before, row.after, row.saved, row.unit) == ("102.500", "92.500", "10.000", "ms")
    low, high = (float(end) for end in row.interval.split(" to "))
    assert 6 <= low < 10 < high <= 14
    (row,) = compare_sides(imported(before), imported(before)).series
    assert "no difference shown" in row.interval


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InputError, match="counts ns and the other cycles"):
        compare_sides(imported(threads_recording()), imported(threads_recording(unit="cycles")))
    several = replace(units_recording(), series=(Series("boot", "ns", (1.0, 2.0)),))
    with pytest.raises(InputError, match="figures of several boots and the other is of one boot"):
        compare_sides(imported(several), imported(units_recording(), "b"))
    bare = replace(units_recording(), phases=(), lengths=())
    with pytest.raises(InputError, match="nothing in one can be compared"):
        compare_sides(imported(bare, "a"), imported(threads_recording(), "b"))


def test_text_and_page_say_the_same_and_keep_hostile_words_harmless() -> None:
    before, after = imported(units_recording(), HOSTILE), imported(slower_units(), HOSTILE)
    out = io.StringIO()
    Console(file=out, width=80).print(comparison(before, after))
    page = recording_sides_page(before, after)
    for words in ("b.service", "d.service", "+42.9", "userspace"):
        assert words in out.getvalue() and words in page
    assert "\x1b" not in out.getvalue() and "<script>alert" not in page and "\x1b" not in page
