"""A ledger's site in a real browser: charts that zoom, entries laid side by side, phone and desktop, light and dark.

Its entries are made up; the functions are those of a made-up profile.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from bootlab.cli.app import run
from bootlab.ledger.entry import EntryPhase
from bootlab.ledger.file import append_entry, read_history
from bootlab.ledger.function_costs import FunctionCosts
from bootlab.ledger.steps import steps_of
from bootlab.report.ledger.site import SystemSite
from bootlab.report.ledger.system_page import system_page
from tests.ledger.entries import MS, entry
from tests.web.profile_visit import CHROMIUM, open_browser
from tests.web.test_report_page import CONTRAST

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("playwright.sync_api", reason="needs playwright")
pytestmark = [pytest.mark.web, pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")]

SYSTEMS, EACH = 20, 50
HOSTILE = "</script><script>window.stolen=1</script><img src=http://example.invalid/x>"
OPENED = """() => {
  const opened = performance.getEntriesByType("navigation")[0];
  return opened.loadEventEnd;
}"""


def made(number: int, **other: Any) -> Any:
    """Return entry `number` of a made-up history: every tenth is 3 ms longer than those before it."""
    base = 40 + 3 * (number // 10)
    phases = [
        EntryPhase(name=name, duration_ns=time * MS) for name, time in (("firmware", 10), ("initcalls", base - 10))
    ]
    said = {
        "commit": f"{number:040x}",
        "commit_time": f"2026-{1 + number // 28 % 12:02d}-{1 + number % 28:02d}T{number // 336:02d}:00:00+00:00",
        "inputs": {"kernel": f"{number:064x}", "qemu": "q"},
        "phases": phases,
    }
    whole = entry("a", base).model_dump()
    return entry("a", base).model_validate({**whole, **said, **other})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of 1,000 entries of 20 systems, one of which has words that attack and an entry that was not ready."""
    folder = tmp_path_factory.mktemp("published")
    ledger = folder / "ledger"
    for system in range(SYSTEMS):
        hostile: dict[str, Any] = {"note": HOSTILE} if system == 1 else {}
        for number in range(EACH):
            append_entry(ledger, made(number, system=f"system-{system:02d}", **hostile))
    broken = {"seeds": [], "seeds_ns": [], "null_ns": [], "phases": [], "outcome": "panicked", "detail": HOSTILE}
    append_entry(ledger, made(EACH, system="system-01", **broken))
    (ledger / "known-issues.toml").write_text('[[issue]]\ntitle = "tests"\ntechnique = "cmdline_quiet"\n')
    words = ["--ledger", str(ledger), "--runs", str(folder / "none"), "--json"]
    assert run(["ledger", "publish", str(folder / "site"), *words]) == 0
    return folder / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with open_browser() as opened:
        yield opened


class Visit:
    """A page of the site, opened and ready, with everything that it complained about or asked for."""

    def __init__(self, browser: "Browser", path: Path, width: int, scheme: Literal["light", "dark"] = "light") -> None:
        self.page: Page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
        self.page.set_default_timeout(5000)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        if path.parent.name == "systems":
            self.page.wait_for_selector(".compare[data-shown]")

    def __enter__(self) -> "Visit":
        return self

    def __exit__(self, *error: object) -> None:
        self.page.close()

    @property
    def shown(self) -> str | None:
        return self.page.locator(".ledger-chart").first.get_attribute("data-shown")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.locator(".plot-box").first.press(key)

    def compare(self, before: int, after: int) -> str:
        """Choose two entries and return what is said of them."""
        fields = self.page.locator(".compare select")
        fields.nth(0).select_option(str(before))
        fields.nth(1).select_option(str(after))
        self.page.wait_for_selector(f'.compare[data-shown="{before}-{after}"]')
        return " ".join(self.page.locator(".compare").inner_text().split())


PAGES = ["index.html", "systems/system-00.html", "systems/system-01.html"]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_it_can_be_read_everywhere_and_asks_for_nothing(
    browser: "Browser", site: Path, name: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    with Visit(browser, site / name, width, scheme) as visit:
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        assert visit.page.evaluate(CONTRAST) == []
        assert visit.page.evaluate("window.stolen") is None
        assert visit.complaints == []
        assert [url for url in visit.requests if not url.startswith("data:")] == [(site / name).as_uri()]


def test_1000_entries_of_20_systems_open_within_a_second(browser: "Browser", site: Path) -> None:
    for name in PAGES[:2]:
        times = []
        for _ in range(5):
            with Visit(browser, site / name, 1280) as visit:
                times.append(visit.page.evaluate(OPENED))
        print(f"\n{name}: ms until it is loaded: {sorted(round(one) for one in times)}")
        assert sorted(times)[2] < 1000


def test_the_history_zooms_by_keys_buttons_and_pointer(browser: "Browser", site: Path) -> None:
    with Visit(browser, site / "systems/system-00.html", 1280) as visit:
        assert visit.shown == "0-50"
        visit.press("+")
        assert visit.shown == "13-38"
        visit.press("-")
        visit.page.get_by_role("button", name="zoom in").click()
        assert visit.shown != "0-50"
        visit.press("Home")
        assert visit.shown == "0-50"
        box = visit.page.locator(".plot-box").bounding_box()
        assert box is not None
        at = [box["x"] + box["width"] * (0.09 + 0.9 * share) for share in (0.41, 0.59)]
        visit.page.mouse.move(at[0], box["y"] + 100)
        visit.page.mouse.down()
        visit.page.mouse.move(at[1], box["y"] + 100)
        visit.page.mouse.up()
        assert visit.shown == "20-30"
        visit.press(*["+"] * 12)
        assert visit.shown is not None
        low, high = map(int, visit.shown.split("-"))
        assert high - low == 2, "and no further"
        visit.press("f")
        assert "does not start at zero" in visit.page.locator(".tools").first.inner_text()
        assert visit.complaints == []


def test_a_chosen_entry_says_what_it_is_and_goes_into_the_comparison(browser: "Browser", site: Path) -> None:
    with Visit(browser, site / "systems/system-00.html", 390) as visit:
        visit.press("ArrowRight", "ArrowRight")
        said = visit.page.locator(".chosen").first
        assert "40.00 ms" in said.inner_text() and "not kept here" in said.inner_text()
        said.get_by_role("button", name="compare from here").click()
        visit.page.wait_for_selector('.compare[data-shown="1-49"]')
        assert "52.00 ms, saved \u221212.00 ms" in visit.page.locator(".compare").inner_text()
        box = visit.page.locator(".plot-box").bounding_box()
        assert box is not None
        visit.page.locator(".plot-box").click(position={"x": box["width"] * 0.985, "y": 100})
        assert "2026-02-22" in said.inner_text()


def test_any_two_entries_stand_side_by_side(browser: "Browser", site: Path) -> None:
    with Visit(browser, site / "systems/system-01.html", 1280) as visit:
        said = visit.compare(9, 10)
        assert "saved \u22123.00 ms: longer." in said and "initcalls 30.00 33.00" in said
        assert "No profile of" in said
        said = visit.compare(0, 49)
        assert "bootlab ledger diff system-01 000000000000 000000000000" in said
        assert "panicked" in visit.compare(0, 50) or "One of them was not ready" in visit.compare(0, 50)
        assert "The same entry twice" in visit.compare(3, 3)
        assert visit.complaints == []


def test_functions_stand_side_by_side_where_there_are_profiles(browser: "Browser", tmp_path: Path) -> None:
    for number in range(4):
        append_entry(tmp_path, made(number))
    history = read_history(tmp_path, "board")
    keys = [one.key for one in history.entries]
    many = {f"f{number}": (number, 2 * number) for number in range(5000)}
    costs: dict[str, FunctionCosts] = {
        keys[0]: {**many, "slow": (5_000_000, 5_000_000), HOSTILE: (0, 0)},
        keys[1]: {**many, "slow": (7_000_000, 1 << 52), "new": (123, 456), HOSTILE: (1, 1)},
    }
    costs[keys[3]] = costs[keys[1]]
    page = tmp_path / "systems" / "board.html"
    page.parent.mkdir()
    page.write_text(system_page(SystemSite(history, steps_of(history.entries), functions=costs)), encoding="utf-8")
    with Visit(browser, page, 1280) as visit:
        said = visit.compare(0, 1)
        assert "slow 5.00 7.00 \u22122.00" in said and "new 0.00 0.000123 \u22120.000123" in said
        assert "f1" not in said.split()
        assert "Every function takes the same" in visit.compare(1, 3)
        assert "No profile of 2026-01-03" in visit.compare(1, 2)
        assert visit.page.evaluate("window.stolen") is None and visit.complaints == []
