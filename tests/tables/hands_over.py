"""What tests of real boots may do with the fixture `table`, for test_main.py: no figure here was measured."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from bootlab.measure.record import BootRecord
from tests.handed_over import Table

RECORDS = Path(__file__).parents[1] / "data" / "report" / "series-before.json"
TEXT = "| case | exits |\n|---|---:|\n| {} | 3 |\n"


@pytest.fixture(scope="module")
def of_the_file(table: Table) -> int:
    table(TEXT.format("of the file"))
    return 3


@pytest.mark.parametrize("case", ["one", "two"])
def test_hands_over(case: str, table: Table) -> None:
    print("a print of the test's")
    subprocess.run(["echo", "a program's"], check=True)
    table(TEXT.format(os.environ.get("BOOTLAB_CASE", case)))


def test_hands_over_with_its_boots(table: Table) -> None:
    records = [BootRecord.model_validate(one) for one in json.loads(RECORDS.read_text())]
    table("Two sentences. Of figures.", boots=[("series", records)], host=True)


def test_leans_on_a_fixture_that_hands_over(of_the_file: int) -> None:
    assert of_the_file == 3


def test_fails_behind_its_table(table: Table) -> None:
    table(TEXT.format("of a test that fails"))
    raise AssertionError("a class is far from its prediction")


def test_is_skipped(table: Table) -> None:
    pytest.skip("no Firecracker here")


def test_hands_nothing_over(table: Table) -> None:
    pass


def test_asks_for_no_table() -> None:
    raise AssertionError("never run")
