"""What a known issue costs from entry to entry, and the days on which that changed."""

from bootlab.ledger.issue_costs import cost_of, issue_rows
from bootlab.ledger.known_issues import IssueStatus, KnownIssue
from tests.ledger.entries import MS, entry

TESTS = KnownIssue(title="tests", technique="cmdline_cryptomgr_notests")
OTHERS = KnownIssue(title="others", technique="cmdline_quiet", system="another")
SAID = KnownIssue(title="said", status=IssueStatus.FIXED)


def test_gains_are_dated_by_the_entry_that_brought_them() -> None:
    costs = {"a": 40 * MS, "c": 15 * MS, "d": 15 * MS + 1, "e": 18 * MS}
    entries = [entry(name, 100, issues_ns={"tests": costs[name]} if name in costs else {}) for name in "abcde"]
    tests, said = issue_rows("board", entries, [TESTS, OTHERS, SAID])
    assert (tests.first, tests.last) == (entries[0], entries[4])
    assert [(one.entry, one.before_ns, one.after_ns) for one in tests.changes] == [
        (entries[2], 40 * MS, 15 * MS),
        (entries[4], 15 * MS + 1, 18 * MS),
    ]
    assert cost_of(tests.last, TESTS) == 18 * MS
    assert (said.issue, said.first, said.last, said.changes) == (SAID, None, None, ())
    assert cost_of(said.last, SAID) is None


def test_what_the_system_moves_for_no_reason_is_no_gain() -> None:
    wide = {"seeds_ns": [100 * MS, 110 * MS, 90 * MS]}
    entries = [entry("a", 100, issues_ns={"tests": 5 * MS}, **wide), entry("b", 100, issues_ns={"tests": 2 * MS})]
    (row,) = issue_rows("board", entries, [TESTS])
    assert row.changes == () and row.last is entries[1]
