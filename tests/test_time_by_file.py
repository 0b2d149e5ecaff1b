"""The table at the end of a long run of tests."""

from tests.time_by_file import Took, lines

FILES = {
    "tests/quick.py": Took(1.0, 0.5, 9),
    "tests/long.py": Took(100.0, 80.0, 3),
    "tests/waits.py": Took(60.0, 1.0, 1),
}


def test_the_longest_on_the_processors_is_first_and_short_files_share_a_line() -> None:
    assert lines(FILES, 170.0, None) == [
        " clock s    CPU s  tests",
        "   100.0     80.0      3  tests/long.py",
        "    60.0      1.0      1  tests/waits.py",
        "     1.0      0.5      9  1 files of less than 5 s",
        "   161.0     81.5     13  all tests",
    ]


def test_the_whole_run_is_held_against_the_budget() -> None:
    assert lines(FILES, 170.0, 3)[-1] == "within the budget: 2.8 min of 3"
    assert lines(FILES, 198.0, 3)[-1] == "OVER THE BUDGET: 3.3 min, 0.3 more than 3"
