"""`make docs`: every verb has its help and its manual page, every link a page, and nothing is loaded from the net."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.site_pages.manual import write_manual
from scripts.site_pages.pages import page_of, write_pages
from scripts.site_pages.reference import commands, verbs_page

ROOT = Path(__file__).resolve().parent.parent
MKDOCS = Path(os.environ.get("MKDOCS", Path(sys.executable).parent / "mkdocs"))


def test_the_page_of_verbs_has_each_with_its_options() -> None:
    page = verbs_page()
    assert len(list(commands())) > 35
    assert all(f"## {name}\n" in page for name, _ in commands())
    assert "--write-system" in page and "## bootlab ledger publish" in page


def test_a_manual_page_of_each_command_is_well_formed(tmp_path: Path) -> None:
    pages = write_manual(tmp_path)
    assert {"bootlab.1", "bootlab-boot.1", "bootlab-ledger-publish.1"} <= {page.name for page in pages}
    for page in pages:
        text = page.read_text()
        assert text.startswith(f'.TH "{page.stem.upper()}" 1 ')
        assert re.findall(r"^\.SH (.*)$", text, re.MULTILINE)[:3] == ["NAME", "SYNOPSIS", "DESCRIPTION"]
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed")
    words = [groff, "-man", "-Tutf8", "-ww", *map(str, pages)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == ""
    assert "--write-system" in re.sub(r"\x1b\[\d*m|.\x08", "", done.stdout).replace("−", "-")


def test_every_document_is_a_page_and_its_links_lead_to_pages(tmp_path: Path) -> None:
    write_pages(ROOT, tmp_path)
    assert (tmp_path / "index.md").is_file() and (tmp_path / "cases/microvm.md").is_file()
    for document in (ROOT / "docs").rglob("*.md"):
        assert (tmp_path / page_of(document, ROOT)).is_file()
    for page in tmp_path.rglob("*.md"):
        for link in re.findall(r"\]\(([^)\s:#]+)(?:#[^)\s]*)?\)", page.read_text()):
            there = page.parent / link
            assert there.exists() or link.endswith("/"), f"{page}: {link}"


def test_every_page_is_in_the_sites_navigation() -> None:
    said = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    named = re.findall(r": (\S+\.md)$", said, re.MULTILINE)
    documents = {str(page_of(path, ROOT)) for path in (ROOT / "docs").rglob("*.md")}
    others = {"index.md", "CONTRIBUTING.md", "CHANGELOG.md", "reference/verbs.md"}
    assert sorted(named) == sorted(documents | others)


def test_the_site_is_built_without_a_warning_and_loads_nothing_from_the_net() -> None:
    if not MKDOCS.is_file():
        pytest.skip("mkdocs is not installed")
    done = subprocess.run(
        [ROOT / "scripts/docs"], capture_output=True, text=True, check=False, env={**os.environ, "MKDOCS": str(MKDOCS)}
    )
    assert done.returncode == 0, done.stderr
    site = ROOT / "build/docs/site"
    loads = re.compile(
        r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=[\"'](?:https?:)?//|@import[^;]*//|url\([\"']?https?:"
    )
    pages = [path for path in site.rglob("*") if path.suffix in (".html", ".css")]
    assert len(pages) > 40
    assert not [f"{page}: {loads.findall(page.read_text())[:2]}" for page in pages if loads.search(page.read_text())]
    assert "tutorials/microvm.html" in (site / "index.html").read_text()
    assert (site / "search/search_index.js").read_text().startswith('window.searchIndex = {"config":')
    # Neither of them works in a page of file://.
    scripts = [path.read_text() for path in (site / "search").iterdir() if path.name != "search_index.js"]
    assert scripts and not any(word in text for text in scripts for word in ("Worker(", "XMLHttpRequest", "fetch("))


def test_a_word_too_many_is_told() -> None:
    done = subprocess.run([ROOT / "scripts/docs", "x"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "usage: scripts/docs" in done.stderr
