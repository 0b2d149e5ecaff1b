"""`python -m tests.tables`: the tables that tests hand over and nothing else, or none at all and the reason."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = "tests/tables/hands_over.py"
TABLE = "| case | exits |\n|---|---:|\n| {} | 3 |\n"


def run(*words: str, how: str = "tests.tables") -> "subprocess.CompletedProcess[str]":
    argv = [sys.executable, "-m", how, *(word.replace("::", f"{FILE}::", 1) for word in words)]
    # As on a machine that buffers what is no terminal, which is most of them.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, env=env, check=False, timeout=300)


def test_only_what_was_handed_over_is_printed_in_the_order_of_the_tests() -> None:
    done = run("::test_hands_over", "::test_leans_on_a_fixture_that_hands_over")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "\n".join(TABLE.format(case) for case in ("one", "two", "of the file"))
    assert all(said in done.stderr for said in ("a print of the test's", "\na program's\n", "3 passed"))


def test_below_the_tables_stands_what_they_were_measured_on() -> None:
    done = run("BOOTLAB_CASE=a=b", "::test_hands_over_with_its_boots", "::test_hands_over", "-k", "boots or one")
    assert done.returncode == 0, done.stderr
    first, table, made_of, host = done.stdout.split("\n\n")
    assert first == "Two sentences. Of figures." and f"{table}\n" == TABLE.format("a=b")
    assert "1 ns per instruction" in made_of and "kernel " in made_of
    assert " CPUs; load of the last 1, 5 and 15 minutes" in host


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["::test_hands_over", "::test_fails_behind_its_table"], "::test_fails_behind_its_table: failed"),
        (["::test_hands_over", "::test_is_skipped"], "no Firecracker here"),
        (["::test_hands_nothing_over"], f"{FILE}: its tests handed over no table"),
        (["::test_hands_over", "::test_asks_for_no_table"], "hands over no table: it does not ask for `table`"),
        (["::test_hands_over", "-k", "nothing_of_this_name"], "pytest ended with 5"),
        (["::test_is_not_there"], "pytest ended with 4"),
    ],
)
def test_where_one_does_not_pass_there_is_no_table_and_the_reason_is_told(words: list[str], why: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (1, "")
    assert why in done.stderr and "tables: error: " in done.stderr
    assert "never run" not in done.stderr


def test_in_an_ordinary_run_a_table_is_printed_among_the_rest() -> None:
    done = run(
        "-s", "-p", "no:cacheprovider", "::test_hands_over[one]", "::test_hands_over_with_its_boots", how="pytest"
    )
    assert done.returncode == 0, done.stderr
    assert TABLE.format("one") in done.stdout and "1 ns per instruction" in done.stdout


def test_without_a_test_its_use_is_told() -> None:
    done = run()
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("usage: ")
