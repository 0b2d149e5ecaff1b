"""Known issues: written by people, measured by profiles, and read from a list that others keep."""

import os
import tomllib
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.ledger.known_issues import (
    NAME,
    IssueStatus,
    KnownIssue,
    add_issues,
    cost_of_issues,
    issue_toml,
    issues_of,
    not_seen,
    read_dated_list,
    read_issues,
)
from tests.report.analysed import analysis_of, small_profile

LIST = """Past improvements
2021-06-21 (524260db7683, by someone): Tell the loader to skip its 3 second wait. This speeds up the boot by 3000 ms.
- 2021-10-01 (several patches, by someone): Remove unnecessary "delays"\\ and a pause. By ~ 330.5 ms.
2021-11-15 (1580afcd6eaf, by someone): Remove a sleep. This speeds it up by up to 1000 ms but not always.
2021-12-28 (33812d60b960, by someone): Check for the root device before waiting
2021-12-29: nobody knows who
"""


def write(folder: Path, text: str) -> Path:
    (folder / NAME).write_text(text)
    return folder


def test_what_people_write_is_read(tmp_path: Path) -> None:
    assert read_issues(tmp_path) == []
    text = '[[issue]]\ntitle = "messages"\ntechnique = "cmdline_quiet"\nsince = "6.1"\n'
    text += '[[issue]]\ntitle = "a wait"\nsystem = "board"\nfunction = "msleep"\nstatus = "accepted"\n'
    first, second = read_issues(write(tmp_path, text))
    assert (first.status, second.status) == (IssueStatus.OPEN, IssueStatus.ACCEPTED)
    assert issues_of("other", [first, second]) == [first]
    assert issues_of("board", [first, second]) == [first, second]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[issue]]\n", r"known-issues.toml:issue.0.title: Field required"),
        ('[[issue]]\ntitle = "x"\n', "an open issue is tied to a technique or a function"),
        ('[[issue]]\ntitle = "x"\nfunction = "a"\ntechnique = "b"\n', "one of them says what it costs"),
        ('[[issue]]\ntitle = "x"\ntechnique = "cmdline_quit"\n', "issue.0.technique: no technique cmdline_quit"),
        ('[[issue]]\ntitle = "x"\nfuncton = "a"\n', "issue.0.funct"),
        ('[[issue]]\ntitle = "x"\nfunction = "a"\n' * 2, "there are two of 'x'"),
        ("[[issue]\n", "not TOML"),
        ('[[issue]]\ntitle = "x"\nfunction = "a"\nsaved_ms = nan\n', "saved_ms"),
        ("a = " + "[" * 5000, "not TOML"),
    ],
)
def test_a_mistake_is_named_with_its_key(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read_issues(write(tmp_path, text))


def test_a_profile_says_what_each_costs(tmp_path: Path) -> None:
    analysis = analysis_of(small_profile(tmp_path))
    issues = [
        KnownIssue(title="printing", technique="cmdline_quiet"),
        KnownIssue(title="inner", function="inner"),
        KnownIssue(title="gone", function="nothing_such", status=IssueStatus.FIXED),
        KnownIssue(title="not tied", status=IssueStatus.FIXED),
    ]
    costs = cost_of_issues(issues, analysis)
    (inner,) = [one for one in analysis.tree.top_functions() if one.name == "inner"]
    assert costs == {"printing": 6_000, "inner": inner.total_elapsed_ns, "gone": 0}
    assert inner.total_elapsed_ns > 0
    assert [one.title for one in not_seen(issues, analysis)] == ["gone"]


def test_a_dated_list_becomes_mended_issues_and_what_is_left_is_told(tmp_path: Path) -> None:
    found, left = read_dated_list(LIST, "board")
    assert [one.saved_ms for one in found] == [3000, 330.5, 1000, None]
    assert found[0].title == "Tell the loader to skip its 3 second wait"
    assert found[0].fixed_by == "524260db7683 by someone, 2021-06-21"
    assert left == ["Past improvements", "2021-12-29: nobody knows who"]
    assert len(found) + len(left) == len(LIST.splitlines())


def test_one_of_every_system_is_one_of_each(tmp_path: Path) -> None:
    both = '[[issue]]\ntitle = "x"\nfunction = "a"\n[[issue]]\ntitle = "x"\nsystem = "board"\nfunction = "b"\n'
    with pytest.raises(InputError, match="there are two of 'x'"):
        read_issues(write(tmp_path, both))
    apart = both.replace('title = "x"\nfunction', 'title = "x"\nsystem = "other"\nfunction')
    assert len(read_issues(write(tmp_path, apart))) == 2


def test_nothing_is_added_that_would_spoil_the_file(tmp_path: Path) -> None:
    write(tmp_path, "issue = []\n")
    with pytest.raises(InputError, match="nothing can be added to it"):
        add_issues(tmp_path, [KnownIssue(title="x", function="a")])
    assert (tmp_path / NAME).read_text() == "issue = []\n"


def test_a_line_without_words_is_left_out() -> None:
    assert read_dated_list("2021-06-21 (abc, by x): .", "board") == ([], ["2021-06-21 (abc, by x): ."])


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / NAME)
    with pytest.raises(InputError, match="not a regular file|Invalid"):
        read_issues(tmp_path)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    found, _ = read_dated_list(LIST, "board")
    odd = KnownIssue(title='a "quote", a \\, a \x7f and \u00fc\nnewline', status=IssueStatus.FIXED, saved_ms=0.1)
    text = "\n".join(map(issue_toml, [*found, odd]))
    assert len(tomllib.loads(text)["issue"]) == 5
    assert read_issues(write(tmp_path, text)) == [*found, odd]
