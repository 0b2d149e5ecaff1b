"""What can be saved from a page: exact tables, and files beside it."""

import base64
import re

from bootlab.report.parts.html_tables import Cell
from bootlab.report.profile.downloads import csv_link, data_link, file_links
from bootlab.report.profile.table_columns import columns_of


def test_tables_are_saved_with_exact_values_and_no_formulas() -> None:
    columns = columns_of("name`", "took, ms>", "what")
    rows = [[Cell("x", "=cmd()"), Cell("1.50", 1_500_000), Cell("a, b")], [Cell("y", "y"), Cell("", None), Cell("")]]
    found = re.search(r"base64,([^\"]*)", csv_link("x.csv", columns, rows))
    assert found
    assert base64.b64decode(found[1]).decode().splitlines() == [
        'name,"took, ns",what',
        '\'=cmd(),1500000,"a, b"',
        "y,,",
    ]


def test_large_files_are_left_to_lie_beside_the_page() -> None:
    assert data_link("x.txt", "a" * 300_000) == ""
    links = file_links({"folded stacks": "boots/1/pro file.folded", "elsewhere": "/tmp/x.json"})
    assert 'href="./boots/1/pro%20file.folded"' in links
    assert links.count("href") == 1 and "/tmp/x.json" in links
