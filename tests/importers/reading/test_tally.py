"""What became of each line, in counts that add up."""

from bootlab.importers.reading.tally import MISSING, Tally, left_out_notes
from bootlab.timeline.line_account import Fate, LineShare


def test_a_line_of_which_nothing_is_said_is_left_out_with_the_first_as_example() -> None:
    tally = Tally()
    for row in ("a", "b", "", "  ", "c"):
        tally.begin(row)
        if row == "a":
            tally.used("letters")
    tally.end()
    account = tally.account(5)
    assert account.shares == (
        LineShare(Fate.USED, "letters", 1, "a"),
        LineShare(Fate.ASIDE, "empty lines", 2, ""),
        LineShare(Fate.LEFT_OUT, "no line of this format", 2, "b"),
    )
    assert left_out_notes(account) == ("2 of 5 lines left out: no line of this format; the first: b.",)


def test_what_is_said_last_of_a_line_counts() -> None:
    tally = Tally()
    tally.begin("x")
    tally.aside("other")
    tally.text("console")
    tally.end()
    assert [(share.fate, share.what) for share in tally.account(1).shares] == [(Fate.TEXT, "console")]


def test_lines_that_nobody_spoke_of_are_named() -> None:
    tally = Tally()
    tally.add(Fate.USED, "x", 2)
    account = tally.account(3)
    assert account.total() == 3 and account.shares[-1] == LineShare(Fate.LEFT_OUT, MISSING, 1, "")


def test_records_are_counted_by_the_unit_that_they_are() -> None:
    tally = Tally()
    tally.of_records("units", 1)
    tally.add(Fate.LEFT_OUT, "damaged", 1, first="\x1b[2J" + "x" * 500)
    account = tally.account(1)
    assert account.unit == "units" and len(account.shares[0].first) == 120
    assert left_out_notes(account)[0].startswith("1 of 1 units left out: damaged; the first: \\x1b[2Jxxx")
