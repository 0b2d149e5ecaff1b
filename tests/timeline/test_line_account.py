"""What became of a file's lines, in counts."""

from bootlab.timeline.line_account import Fate, LineAccount, LineShare


def test_totals_by_fate_and_in_all() -> None:
    account = LineAccount(
        "lines",
        6,
        (LineShare(Fate.USED, "a", 3, ""), LineShare(Fate.USED, "b", 1, ""), LineShare(Fate.TEXT, "c", 2, "")),
    )
    assert (account.total(), account.total(Fate.USED), account.total(Fate.LEFT_OUT)) == (6, 4, 0)
