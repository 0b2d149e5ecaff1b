"""The page of a profile in a real browser: exact figures under mouse, finger and keys.

The boots are made up and small enough to be counted by hand.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bootlab.report.profile.page import differential_page, profile_page
from tests.report.analysed import analysis_of, small_profile
from tests.report.boots.test_page import HOSTILE
from tests.web.profile_visit import CHROMIUM, Visit, open_browser
from tests.web.test_report_page import CONTRAST

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest.importorskip("playwright.sync_api", reason="needs playwright")
pytestmark = [pytest.mark.web, pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages on disk; `hostile` has names that attack."""
    folder = tmp_path_factory.mktemp("pages")
    small = analysis_of(small_profile(folder))
    hostile = small_profile(folder, name=HOSTILE.replace("\x00", "")[:60])
    written = {
        "small": profile_page(small),
        "difference": differential_page(small, analysis_of(small_profile(folder, extra=4_000), system="longer")),
        "hostile": profile_page(analysis_of(hostile, hostile=HOSTILE, system=HOSTILE)),
    }
    for name, html in written.items():
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in written}


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with open_browser() as opened:
        yield opened


@pytest.mark.parametrize("kind", ["small", "difference", "hostile"])
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_renders_without_errors_requests_or_sideways_scroll(
    browser: "Browser", pages: dict[str, Path], kind: str, width: int
) -> None:
    with Visit(browser, pages[kind], width) as visit:
        page = visit.page
        page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.body.scrollWidth") <= width
        assert visit.complaints == []
        assert [url for url in visit.requests if not url.startswith("data:")] == [pages[kind].as_uri()]
        assert page.evaluate("window.stolen") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["small", "difference"])
@pytest.mark.parametrize("width", [390, 1280])
def test_text_stands_out_from_its_ground(
    browser: "Browser", pages: dict[str, Path], kind: str, scheme: str, width: int
) -> None:
    with Visit(browser, pages[kind], width, color_scheme=scheme) as visit:
        # Words in a bar of a chart stand on the bar, which is no ground of theirs in the eyes of the style sheet.
        visit.page.evaluate("document.querySelectorAll('.strip text').forEach((text) => text.remove())")
        assert visit.page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_stand_out_from_their_frames(browser: "Browser", pages: dict[str, Path], scheme: str) -> None:
    with Visit(browser, pages["small"], color_scheme=scheme) as visit:
        poor = visit.page.evaluate(
            """() => {
          const light = (colour) => {
            const parts = colour.startsWith("#") ? [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))
              : colour.match(/\\d+/g).map(Number);
            const [x, y, z] = parts.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * x + 0.7152 * y + 0.0722 * z;
          };
          const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
          const palette = new Palette();
          const pairs = [
            ...palette.kinds.flat().map((fill) => [fill, palette.label]),
            ...palette.scale.map((fill) => [fill, palette.label]),
            ...palette.faded.map((fill) => [fill, palette.quiet]), [palette.match, palette.matchInk],
          ];
          return pairs.filter(([fill, ink]) => ratio(fill, ink) < 4.5).map(([fill, ink]) => `${ink} on ${fill}`);
        }"""
        )
        assert poor == []


def test_figures_are_exact(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["small"]) as visit:
        said = visit.said()
        assert said[""] == "all" and said["instructions"] == "60,000"
        visit.flame.focus()
        # Below the root: firmware 10,000, swapper/0 21,000, init 14,000, helper 15,000.
        visit.page.keyboard.press("ArrowDown")
        assert visit.said()[""] == "swapper/0-0"
        visit.page.keyboard.press("ArrowRight")
        said = visit.said()
        assert (said[""], said["instructions"], said["share"]) == ("init-1", "14,000", "23.33 %")
        # It was made 20,000 ns before it ran, and slept twice.
        assert said["elapsed"] == "80.00 \N{MICRO SIGN}s, 80,000 ns"
        assert said["of these, not running"] == "66.00 \N{MICRO SIGN}s, 66,000 ns"
        visit.page.keyboard.press("Enter")
        assert visit.crumbs() == ["all", "init-1"]
        for _ in range(3):
            visit.page.keyboard.press("ArrowDown")
        said = visit.said()
        assert (said[""], said["instructions"], said["calls"]) == ("outer", "2,000", "4")
        assert said["share"] == "3.33 %; 14.29 % of what is zoomed to"
        path = visit.page.locator("figure.flame .details .path").inner_text()
        assert path.split(" \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} ") == ["init-1", "outer", "inner", "outer"]
        visit.page.keyboard.press("Escape")
        assert visit.crumbs() == ["all"]


def test_search_counts_a_match_inside_a_match_once(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["small"]) as visit:
        assert visit.search("outer").startswith("23.33 % in matches: 14,000 instructions in 1 frame of 1 function")
        assert visit.search("INNER").startswith("8.33 % in matches: 5,000 instructions")
        assert visit.search("/^(inner|start_)/").startswith("41.67 % in matches: 25,000 instructions in 2 frames")
        assert visit.search("/(/") == "not a regular expression"
        assert visit.search("no such function").startswith("0.00 % in matches")
        assert visit.search("") == ""
        assert visit.page.locator("figure.chart input[type=search]").input_value() == ""
        visit.page.locator("h1").click()
        visit.page.keyboard.press("/")
        visit.page.keyboard.type("msleep")
        assert visit.page.locator("figure.chart input[type=search]").input_value() == "msleep"


def test_mouse_zooms_and_crumbs_lead_back(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["small"]) as visit:
        box = visit.flame.bounding_box()
        assert box is not None
        # firmware 10, swapper 21, init 14, helper 15 of 60: the middle of init is at 38/60.
        x = box["width"] * 38 / 60
        visit.flame.hover(position={"x": x, "y": 28})
        tooltip = visit.page.locator("figure.flame .tooltip")
        assert "init-1" in tooltip.inner_text() and "14,000" in tooltip.inner_text()
        visit.flame.click(position={"x": x, "y": 28})
        assert visit.crumbs() == ["all", "init-1"]
        visit.flame.click(position={"x": box["width"] / 4, "y": 47})
        assert visit.crumbs() == ["all", "init-1", "outer"]
        visit.page.locator(".crumbs button").first.click()
        assert visit.crumbs() == ["all"]


def test_a_finger_sees_the_figures_before_it_zooms(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["small"], 390, has_touch=True, is_mobile=True) as visit:
        box = visit.flame.bounding_box()
        assert box is not None
        place = {"x": box["width"] * 38 / 60, "y": 36}
        visit.flame.tap(position=place)
        assert visit.said()[""] == "init-1" and visit.crumbs() == ["all"]
        visit.flame.tap(position=place)
        assert visit.crumbs() == ["all", "init-1"]


def test_weights_phases_and_tasks(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["small"]) as visit:
        page = visit.page
        phases = page.locator(".slices button")
        assert phases.all_inner_texts()[:3] == ["power-on to ready", "everything", "firmware10.00 \N{MICRO SIGN}s"]
        phases.nth(1).click()
        assert visit.said()["instructions"] == "70,000"
        phases.nth(2).click()
        assert visit.said()["instructions"] == "10,000"
        phases.nth(5).click(modifiers=["Shift"])
        assert visit.said()["instructions"] == "20,000"
        phases.nth(0).click()
        page.locator("[name=task]").select_option(label="init-1, 23.33 %")
        assert visit.crumbs() == ["init-1"]
        assert visit.said()["share"] == "100.00 %"
        assert page.locator("figure.flame .hint").is_hidden()
        page.locator("[name=weight]").select_option("elapsed")
        assert visit.search("[wait]").startswith("57.50 % in matches: 46.00")
        page.locator("[name=task]").select_option("0")
        assert page.locator("figure.flame .hint").is_visible()
        page.locator("[name=direction]").select_option("up")
        page.locator("[name=order]").select_option("size")
        assert visit.complaints == []


def test_the_table_of_functions_follows(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["small"]) as visit:
        rows = visit.page.locator("#functions tbody tr")
        visit.page.locator("[name=task]").select_option(label="init-1, 23.33 %")
        # Outer calls itself: its own 9,000 and 2,000, of 14,000 in all.
        outer = ["outer", "11,000", "78.6", "14,000", "100.0"]
        visit.repeat_until(lambda: rows.first.locator("th, td").all_inner_texts() == outer)
        assert "Of init-1" in visit.page.locator("#functions caption").inner_text()
        rows.first.get_by_role("button").click()
        assert visit.page.locator("figure.flame input[type=search]").input_value() == "/^outer$/"


def test_folded_stacks_are_saved(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["small"]) as visit:
        with visit.page.expect_download() as download:
            visit.page.locator("[name=save]").click()
        lines = Path(download.value.path()).read_text().splitlines()
        assert "init-1;outer;inner;outer 2000" in lines
        assert sum(int(line.rpartition(" ")[2]) for line in lines) == 60_000
        with visit.page.expect_download() as download:
            visit.page.locator("#waits summary").last.click()
            visit.page.locator("#waits a[download]").last.click()
        assert "msleep" in Path(download.value.path()).read_text()


def test_the_chart_zooms_and_moves(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["small"]) as visit:
        page = visit.page
        whole, width_ms = visit.range_ms(), visit.width_ms()
        assert whole[0] == 0 and whole[1] >= 0.09
        visit.chart.focus()
        page.keyboard.press("+")
        low = visit.range_ms()[0]
        assert visit.width_ms() == pytest.approx(width_ms / 2, abs=0.002)
        page.keyboard.press("d")
        assert visit.range_ms()[0] > low
        page.keyboard.press("Home")
        assert visit.range_ms() == whole
        visit.chart.hover(position={"x": 300, "y": 150})
        page.keyboard.down("Control")
        visit.repeat_until(lambda: visit.width_ms() < width_ms, lambda: page.mouse.wheel(0, -300))
        page.keyboard.up("Control")
        before = visit.range_ms()
        box = visit.chart.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 600, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(box["x"] + 500, box["y"] + 20, steps=4)
        page.mouse.up()
        assert visit.range_ms()[0] > before[0]
        page.locator("[name=fit]").click()
        assert visit.range_ms() == whole
        assert visit.complaints == []


def test_two_fingers_zoom_the_chart(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["small"], 390, has_touch=True, is_mobile=True) as visit:
        visit.chart.scroll_into_view_if_needed()
        box = visit.chart.bounding_box()
        assert box is not None
        width_ms = visit.width_ms()
        session = visit.page.context.new_cdp_session(visit.page)

        def touch(kind: str, *xs: float) -> None:
            points = [{"x": box["x"] + x, "y": box["y"] + 60, "id": n} for n, x in enumerate(xs)]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        touch("touchStart", 150, 200)
        for step in range(1, 6):
            touch("touchMove", 150 - 10 * step, 200 + 10 * step)
        touch("touchEnd")
        visit.repeat_until(lambda: visit.width_ms() < 0.6 * width_ms)


def test_a_wait_says_who_ended_it_and_leads_to_the_graph(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["small"]) as visit:
        visit.page.locator("[name=lanes]").select_option("0")
        visit.chart.focus()
        for _ in range(40):
            visit.page.keyboard.press("ArrowDown")
            if visit.said("chart")[""] == "[wait]":
                break
        said = visit.said("chart")
        assert said[""] == "[wait]"
        assert said["took"] == "31.00 \N{MICRO SIGN}s, 31,000 ns"
        assert said["from"] == "40,000 ns" and said["in"] == "init-1"
        assert "msleep" in said["about"] and "woken by" in said["about"]
        # A wait has no instructions: the graph turns to time by itself.
        visit.page.get_by_role("button", name="Show in the flame graph").click()
        assert visit.page.locator("figure.flame [name=weight]").input_value() == "life"
        assert visit.crumbs() == ["all", "init-1", "msleep", "[wait]"]


def test_a_difference_shows_both_figures(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["difference"]) as visit:
        arrow = "\N{RIGHTWARDS ARROW}"
        assert visit.said()["instructions"] == f"60,000 {arrow} 64,000 (+4,000, +6.7 %)"
        assert visit.search("inner").startswith("14.06 % in matches: 9,000 instructions")
        visit.page.locator("[name=side]").select_option("0")
        assert visit.search("inner").startswith("8.33 % in matches: 5,000 instructions")
        cells = visit.page.locator("#functions tbody tr").first.locator("th, td").all_inner_texts()
        assert cells == ["inner", "3,000", "7,000", "+4,000", "+4,000"]


def test_without_scripts_the_tables_are_there(browser: "Browser", pages: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["small"].as_uri())
    assert "need scripts" in page.locator("noscript").first.inner_text()
    assert page.locator("figure.flame").is_hidden()
    assert "outer" in page.locator("#functions").inner_text()
    context.close()
