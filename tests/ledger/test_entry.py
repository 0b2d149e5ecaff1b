"""Entries: their figures, what they are keyed and sorted by, and which of them compare."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from bootlab.errors import InputError
from bootlab.experiments.family import Family
from bootlab.ledger.commit import Commit
from bootlab.ledger.entry import LedgerEntry, entry_of, expect_comparable
from bootlab.ledger.file import History
from bootlab.ledger.steps import step
from bootlab.measure.record import Outcome
from bootlab.report.ledger.text import log, side_by_side
from tests.ledger.entries import MS, entry
from tests.report.priced import priced
from tests.report.steps import series


def test_a_family_becomes_figures_that_need_no_run() -> None:
    boots = series("series-before.json")
    made = entry_of(Family(tuple(boots), tuple(boots[:1])), Commit("c" * 40, "2026-01-01T00:00:00+00:00"), "measure")
    assert made.ready_ns == sorted(one.total_ns or 0 for one in boots)[1]
    assert made.seeds == [one.seed for one in boots]
    assert made.null_ns == [boots[0].total_ns]
    assert sum(one.duration_ns for one in made.phases) == made.ready_ns
    assert made.inputs == boots[0].hashes
    assert made.host == {}, "on the virtual clock the host does not matter"
    assert LedgerEntry.model_validate_json(made.model_dump_json()) == made


def test_moved_ticks_make_another_entry() -> None:
    boots = series("series-before.json")
    moved = [one.model_copy(update={"ticks_moved_ns": 5}) for one in boots]
    further = [one.model_copy(update={"ticks_moved_ns": 9}) for one in boots]
    plain, ticking, other = (entry_of(Family(tuple(of)), Commit(), "measure") for of in (boots, moved, further))
    assert ticking.ticks_moved_ns == [5] * len(boots) and "ticks_moved_ns" not in plain.model_dump()
    assert len({plain.key, ticking.key, other.key}) == 3, "how far apart the ticks are decides, too"
    expect_comparable(ticking, other)
    with pytest.raises(InputError, match="place of the kernel's ticks"):
        expect_comparable(plain, ticking)


def test_what_a_host_model_counted_is_in_the_entry_and_else_the_line_is_as_it_was() -> None:
    boots = series("series-before.json")
    plain, charged = (
        entry_of(Family(tuple(one)), Commit(), "measure") for one in (boots, [priced(record) for record in boots])
    )
    assert charged.events == {"fault_4K": 1000}
    assert "events" in charged.model_dump() and "events" not in plain.model_dump()
    less = charged.model_copy(update={"events": {"fault_4K": 900, "io": 3}})
    shown = io.StringIO()
    Console(file=shown, width=120).print(side_by_side(charged, step(charged, less)))
    rows = [" ".join(line.split()) for line in shown.getvalue().splitlines()]
    assert "fault_4K, times 1,000 900 +100" in rows and "io, times 0 3 -3" in rows


def test_timings_are_in_the_entry_and_in_what_is_shown_of_it() -> None:
    boots = series("series-before.json")
    told = [
        one.model_copy(update={"timings_ns": {"login": at * MS, "never": None}}) for at, one in enumerate(boots, 40)
    ]
    felt = entry_of(Family(tuple(told)), Commit("b" * 40), "measure")
    plain = entry_of(Family(tuple(boots)), Commit("a" * 40), "measure")
    middle = 40 + (len(boots) - 1) // 2
    assert felt.timings_ns == {"login": middle * MS, "never": None} and "timings_ns" not in plain.model_dump()
    shown = io.StringIO()
    console = Console(file=shown, width=80)
    console.print(side_by_side(plain, step(plain, felt)))
    console.print(log(History(felt.system, (plain, felt)), [step(plain, felt)]))
    rows = [" ".join(line.split()) for line in shown.getvalue().splitlines()]
    assert f"login {middle}.00" in rows and "never not seen" in rows, "the entry before has neither"
    assert "date commit login ms never ms" in rows
    assert [row.split(" ", 1)[1] for row in rows if row.endswith("not seen") and "bbbb" in row] == [
        f"bbbbbbbbbbbb {middle}.00 not seen"
    ]


def test_a_boot_that_failed_makes_an_entry_that_says_so() -> None:
    boots = series("series-before.json")
    hung = boots[1].model_copy(update={"outcome": Outcome.HUNG, "detail": "nothing for 5 s"})
    made = entry_of(Family((boots[0], hung)), Commit(), "measure")
    assert (made.outcome, made.detail, made.ready_ns, made.spread_ns) == ("hung", "nothing for 5 s", None, None)
    assert made.phases == [] and made.seeds_ns == []


def test_one_key_is_one_measurement() -> None:
    first = entry("a", 10)
    again = entry("a", 10, measured="2026-03-01T00:00:00+00:00", note="once more")
    assert first.key == again.key
    for other in (entry("b", 10), entry("a", 10, dirty=True), entry("a", 10, cpu="host"), entry("a", 10, inputs={})):
        assert other.key != first.key


def test_on_a_noisy_clock_every_measurement_is_its_own() -> None:
    first = entry("a", 10, clock="wall")
    assert entry("a", 10, clock="wall", measured="2026-03-01T00:00:00+00:00").key != first.key


def test_entries_are_sorted_by_their_commits() -> None:
    late, early = entry("b", 1, measured="2026-01-01T00:00:00+00:00"), entry("a", 1)
    assert sorted([late, early], key=lambda one: one.order) == [early, late]


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"clock": "wall"}, "clock"),
        ({"ns_per_instruction": 2}, "ns an instruction"),
        ({"cpu": "host"}, "CPU model"),
        ({"models": "storage slow"}, "storage or board model"),
    ],
)
def test_figures_of_another_kind_do_not_compare(other: dict[str, object], what: str, tmp_path: Path) -> None:
    expect_comparable(entry("a", 1), entry("b", 1))
    with pytest.raises(InputError, match=f"entries of another {what} do not compare"):
        expect_comparable(entry("a", 1), entry("b", 1, **other))
