"""One visit to the page of a profile in a real browser: what it shows, what it complained about, how quick it is."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

CHROMIUM = shutil.which("chromium")

# ms from an action to the frame of the screen that shows it; `act` is called between two frames.
TIMED = """async ([canvas, kind, options]) => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => done(performance.now())));
  const box = canvas.getBoundingClientRect();
  const [clientX, clientY] = [box.left + (options.x || 0), box.top + (options.y || 0)];
  const at = { clientX, clientY, bubbles: true, cancelable: true };
  await frame();
  await frame();
  const drawn = Number(canvas.dataset.frames);
  const begun = performance.now();
  if (kind === "click") canvas.dispatchEvent(new PointerEvent("click", at));
  else if (kind === "wheel") {
    canvas.dispatchEvent(new WheelEvent("wheel", { ...at, ctrlKey: true, deltaY: options.by }));
  }
  else canvas.dispatchEvent(new KeyboardEvent("keydown", { key: kind, bubbles: true, cancelable: true }));
  for (let waited = 0; Number(canvas.dataset.frames) === drawn; waited++) {
    if (waited > 60) return { ms: null, painted: null };
    await frame();
  }
  const painted = Number(canvas.dataset.drawnMs);
  return { ms: (await frame()) - begun, painted };
}"""


@contextmanager
def open_browser() -> Iterator["Browser"]:
    """Start the distribution's Chromium."""
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield opened
        opened.close()


class Visit:
    """A profile's page, opened and drawn, with everything it complained about or asked for."""

    def __init__(self, browser: "Browser", path: Path, width: int = 1280, at_first: str = "", **options: Any) -> None:
        viewport = {"width": width, "height": 900}
        # Zooming moves for a moment unless the reader asks for less motion; only one test wants to see it move.
        options = {"reduced_motion": "reduce", "viewport": viewport, **options}
        self.page: Page = browser.new_page(**options)
        self.page.set_default_timeout(10_000)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.add_init_script(at_first)
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-profile=ready]")

    def __enter__(self) -> "Visit":
        return self

    def __exit__(self, *error: object) -> None:
        self.page.close()

    @property
    def flame(self) -> "Locator":
        return self.page.locator("figure.flame canvas")

    @property
    def chart(self) -> "Locator":
        return self.page.locator("figure.chart canvas")

    def said(self, of: str = "flame") -> dict[str, str]:
        """Return what is said of the selected frame: its name under "", its figures under theirs."""
        details = self.page.locator(f"figure.{of} .details")
        names, figures = (details.locator(tag).all_inner_texts() for tag in ("dt", "dd"))
        return {"": details.locator("b").inner_text(), **dict(zip(names, figures, strict=True))}

    def crumbs(self) -> list[str]:
        found: list[str] = self.page.locator(".crumbs button").all_inner_texts()
        return found

    def search(self, text: str) -> str:
        self.page.locator("figure.flame input[type=search]").fill(text)
        return self.page.locator("figure.flame .found").inner_text()

    def range_ms(self) -> tuple[float, float]:
        low, high = re.findall(r"[\d.]+", self.page.locator("figure.chart .range").inner_text())
        return float(low), float(high)

    def width_ms(self) -> float:
        low, high = self.range_ms()
        return high - low

    def repeat_until(self, condition: Callable[[], bool], act: Callable[[], object] = lambda: None) -> None:
        """Act, and again, until the page shows that it took effect; fail after ten seconds.

        Input sent to a browser reaches its page when the compositor is ready for it, which a busy machine delays.
        """
        for _ in range(50):
            act()
            self.page.wait_for_timeout(200)
            if condition():
                return
        pytest.fail("the page did not change in ten seconds")

    def timed(self, canvas: "Locator", kind: str, **options: float) -> tuple[float, float]:
        result = self.page.evaluate(TIMED, [canvas.element_handle(), kind, options])
        assert result["ms"] is not None, "nothing was drawn"
        return result["ms"], result["painted"]
