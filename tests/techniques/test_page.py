"""docs/techniques.md: complete, and the page that a Markdown reader expects."""

import os
from pathlib import Path

from bootlab.techniques.catalogue import load_catalogue
from bootlab.techniques.page import techniques_page


def test_holds_every_technique_with_its_figures() -> None:
    page = techniques_page(load_catalogue())
    for technique in load_catalogue():
        assert f"\n### {technique.name}\n\nThis technique {technique.summary}.\n" in page
        assert f"| [{technique.name}](#{technique.name}) | {technique.risk.value} |" in page
        for source in technique.sources:
            assert f"- **Published:** {source.figure} ({source.where})" in page
    assert page.endswith("\n")
    assert "\n\n\n" not in page


def test_the_page_in_docs_is_current() -> None:
    path = Path(__file__).parents[2] / "docs" / "techniques.md"
    page = techniques_page(load_catalogue())
    if os.environ.get("BOOTLAB_GOLDEN") == "write":
        path.write_text(page)
    assert path.read_text() == page, "make golden writes it anew"


def test_an_empty_catalogue_is_a_page_too() -> None:
    assert techniques_page([]).startswith("# Techniques\n")
