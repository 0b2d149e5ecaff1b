"""The site of documentation in a real browser, opened as a file: its search finds, and says what it does not find."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.test_site_pages import MKDOCS, ROOT
from tests.web.profile_visit import CHROMIUM, open_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("playwright.sync_api", reason="needs playwright")
pytestmark = [pytest.mark.web, pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")]


@pytest.fixture(scope="module")
def site() -> Path:
    if not MKDOCS.is_file():
        pytest.skip("mkdocs is not installed")
    subprocess.run([ROOT / "scripts/docs"], check=True, env={**os.environ, "MKDOCS": str(MKDOCS)})
    return ROOT / "build/docs/site"


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with open_browser() as opened:
        yield opened


def opened_search(browser: "Browser", page: Path) -> tuple["Page", list[str]]:
    """Return a page whose search was opened, and what it complains of from then on."""
    visit = browser.new_page()
    faults: list[str] = []
    visit.on("pageerror", lambda error: faults.append(str(error)))
    visit.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    visit.set_default_timeout(10_000)
    visit.goto(page.as_uri())
    visit.get_by_role("link", name="Search").click()
    return visit, faults


@pytest.mark.parametrize("page", ["index.html", "cases/microvm.html"])
def test_a_section_is_found_and_opened_where_nothing_serves_the_site(browser: "Browser", site: Path, page: str) -> None:
    visit, faults = opened_search(browser, site / page)
    visit.locator("#mkdocs-search-query").fill("kernel_ipconfig_no_wait")
    results = visit.locator("#mkdocs-search-results article")
    results.first.wait_for()
    assert "kernel_ipconfig_no_wait" in results.first.inner_text()
    results.first.get_by_role("link").click()
    visit.wait_for_url("**/techniques.html#kernel_ipconfig_no_wait")
    assert not faults


def test_markup_of_the_documents_is_text_and_nothing_found_is_said(browser: "Browser", site: Path) -> None:
    visit, faults = opened_search(browser, site / "index.html")
    visit.locator("#mkdocs-search-query").fill("&& ../scripts/docs <b>")
    visit.get_by_text("Nothing found.").wait_for()
    visit.locator("#mkdocs-search-query").fill("layer <subject>.py")
    results = visit.locator("#mkdocs-search-results article")
    results.first.wait_for()
    assert "<layer>/<subject>.py" in results.first.inner_text()
    assert not faults


def test_an_index_that_is_not_there_is_said(browser: "Browser", site: Path, tmp_path: Path) -> None:
    for name in ("index.html", "css", "js", "search"):
        (tmp_path / name).symlink_to(site / name)
    (tmp_path / "search").unlink()
    (tmp_path / "search").mkdir()
    (tmp_path / "search/search.js").symlink_to(site / "search/search.js")
    visit, _ = opened_search(browser, tmp_path / "index.html")
    visit.locator("#mkdocs-search-query").fill("boot")
    visit.get_by_text("could not be loaded").wait_for()
