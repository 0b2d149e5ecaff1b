"""The page in a real browser: no errors, no requests, no sideways scroll, sorting by mouse and keyboard, contrast.

The records under data/report are fixtures with made-up figures; the consoles are real ones.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from bootlab.experiments.trial.result import TryResult
from bootlab.measure.record import BootRecord
from bootlab.report.boots.page import boot_page, compare_page, series_page, try_page
from bootlab.report.boots.steps_page import steps_page
from bootlab.report.parts.console import read_console
from tests.report.steps import four_steps, four_systems
from tests.report.sweep.test_page import PAGES as SWEEP_PAGES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = shutil.which("chromium")
pytestmark = [pytest.mark.web, pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")]

DATA = Path(__file__).parents[1] / "data" / "report"
HOSTILE = "</script></pre><script>window.stolen=1</script><img src=http://example.invalid/x onerror='window.stolen=1'>"

# The contrast of every visible piece of text with what is painted behind it, as WCAG 2 counts it.
CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (css) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = css;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const poor = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.checkVisibility() || element.closest("script")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [rgb(element.closest("svg") ? style.fill : style.color), behind(element)].map(light);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(texts.currentNode.data.trim() + " " + ratio.toFixed(2));
  }
  return poor;
}"""


def series(name: str) -> list[BootRecord]:
    return [BootRecord.model_validate(item) for item in json.loads((DATA / name).read_text())]


def trial() -> TryResult:
    return TryResult.model_validate_json((DATA / "try.json").read_text())


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every kind of page, written to disk; `hostile` is a trial whose console attacks."""
    folder = tmp_path_factory.mktemp("pages")
    slow = read_console("baseline", (DATA / "console-6.1-microvm.log").read_bytes())
    fast = read_console("with risks", (DATA / "console-6.1-microvm-no-self-tests.log").read_bytes())
    before, after, panicked = (series(f"series-{name}.json") for name in ("before", "after", "panicked"))
    written = {
        "try": try_page(trial(), [slow, fast]),
        "boot": boot_page(before[0], [slow]),
        "panicked": boot_page(panicked[0], [slow]),
        "series": series_page(before + panicked, [slow]),
        "comparison": compare_page(before, after, "shorter", [slow, fast]),
        "steps": steps_page(four_steps(), four_systems(), [slow, fast]),
        "sweep": SWEEP_PAGES["sweep"],
        "study": SWEEP_PAGES["study"],
        "profile-sweep": SWEEP_PAGES["profile-sweep"],
        "hostile": try_page(trial(), [read_console(HOSTILE, f"{HOSTILE}\n\x00\x1b[2J{'x' * 5000}".encode())]),
    }
    for name, html in written.items():
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in written}


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield opened
        opened.close()


class Visit:
    """One page opened once, with everything it complained about or asked for."""

    def __init__(self, browser: "Browser", path: Path, width: int, scheme: Literal["light", "dark"] = "light") -> None:
        self.page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
        self.page.set_default_timeout(5000)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def __enter__(self) -> "Page":
        return self.page

    def __exit__(self, *error: object) -> None:
        self.page.close()


KINDS = ["try", "boot", "panicked", "series", "comparison", "steps", "hostile"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_renders_without_errors_requests_or_sideways_scroll(
    browser: "Browser", pages: dict[str, Path], kind: str, width: int
) -> None:
    visit = Visit(browser, pages[kind], width)
    with visit as page:
        page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.body.scrollWidth") <= width
        assert visit.complaints == []
        # A browser reports the page's own empty icon as a request too: it is in the page and leaves nothing.
        assert [url for url in visit.requests if not url.startswith("data:")] == [pages[kind].as_uri()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["try", "boot", "panicked", "comparison", "steps"])
def test_text_stands_out_from_its_ground(
    browser: "Browser", pages: dict[str, Path], kind: str, scheme: Literal["light", "dark"]
) -> None:
    with Visit(browser, pages[kind], 1280, scheme) as page:
        assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_sorts_by_mouse_and_keyboard_with_missing_values_last(
    browser: "Browser", pages: dict[str, Path], width: int
) -> None:
    measured = [one for one in trial().alone if one.saved_ns is not None]
    by_saving = [one.technique for one in sorted(measured, key=lambda one: -(one.saved_ns or 0))]
    with Visit(browser, pages["try"], width) as page:
        table = page.locator("table.verdicts")

        def order() -> list[str]:
            names: list[str] = table.locator("tbody th > code").all_inner_texts()
            return names

        heading = table.locator("th", has=page.get_by_role("button", name="saved, ms", exact=True))
        heading.get_by_role("button").click()
        assert order()[: len(measured)] == by_saving
        assert heading.get_attribute("aria-sort") == "descending"
        heading.get_by_role("button").focus()
        page.keyboard.press("Enter")
        assert order()[: len(measured)] == by_saving[::-1]
        assert heading.get_attribute("aria-sort") == "ascending"
        table.get_by_role("button", name="technique").click()
        assert order() == sorted(one.technique for one in trial().alone)
        assert table.locator("[aria-sort]").count() == 1


def test_long_console_lines_scroll_inside_and_take_the_keyboard(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["hostile"], 390) as page:
        box = page.locator(".scroll.console").first
        assert box.evaluate("box => box.scrollWidth > box.clientWidth")
        box.focus()
        page.keyboard.press("ArrowRight")
        # A smooth scroll takes a moment; the page's policy forbids the string that wait_for_function would evaluate.
        for _ in range(50):
            if box.evaluate("box => box.scrollLeft") > 0:
                return
            page.wait_for_timeout(50)
        pytest.fail("the arrow key did not scroll the console")


def test_hostile_console_is_shown_and_not_run(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["hostile"], 1280) as page:
        assert page.evaluate("window.stolen") is None
        assert page.locator(".scroll.console img").count() == 0
        assert HOSTILE in page.locator(".scroll.console .said").first.inner_text()


def test_is_complete_without_scripts(browser: "Browser", pages: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["try"].as_uri())
    for name in (one.technique for one in trial().alone):
        assert page.locator("table.verdicts").get_by_text(name, exact=True).count() == 1
    context.close()
