"""The page of an imported recording in a real browser: pictures of times alone, and a counter without a rate."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bootlab.experiments.importing import Imported, ImportedFile
from bootlab.report.recording.page import recording_page
from bootlab.report.recording.side_by_side_page import recording_sides_page
from tests.importers.samples import sample
from tests.report.boots.test_page import HOSTILE
from tests.report.recordings import threads_recording, units_recording
from tests.web.profile_visit import CHROMIUM, Visit, open_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest.importorskip("playwright.sync_api", reason="needs playwright")
pytestmark = [pytest.mark.web, pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")]

KINDS = {
    "kernel log": "serial-initcall_debug.log", "suspend": "kernel-logs/suspend-5.10.log",
    "suspend trace": "traces/pm-graph.txt", "events": "traces/perf-script.txt", "console": "grabserial-match.log",
    "lab": "lab/lava.yaml", "line watched": "watch/boot.rec.xz", "loaders": "consoles/loaders-alone.log",
    "text without times": "serial-no-time.log", "lengths alone": "debian-13/systemd-analyze-blame.txt",
    "chain": "debian-13/systemd-analyze-critical-chain.txt", "units drawn": "debian-13/systemd-analyze-plot.svg.xz",
    "journal": "journal/boot.json", "cloud-init": "cloud-init/show.txt", "series": "series/hyperfine.json",
    "two humps": "series/two-humps.csv", "samples": "debian-13/bootchart.tgz", "firmware": "coreboot/cbmem-t.txt",
    "firmware table": "firmware-times/fpdt.txt", "loaders of a phone": "firmware-times/xbl-console.log",
    "virtual machine": "vmm/qemu-trace.log", "metrics": "firecracker/metrics.json", "runs": "ec2/three-runs.txt",
    "phone": "android/logcat-events.txt", "marks": "marks/early-marks.log",
    "cycles of a counter": "tslog/kernel-head.tslog",
}  # fmt: skip
"""One input of each kind: what its timeline, lengths, series, stacks and text make a page of."""
FILE = ImportedFile("made-up", "dmesg", 1, "0" * 64)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    recordings = {
        "threads": threads_recording(),
        "cycles": threads_recording(unit="cycles"),
        "units": units_recording(),
        "hostile": threads_recording(name=HOSTILE),
        "tslog": sample("tslog/waits.tslog"),
        **{kind: sample(path) for kind, path in KINDS.items()},
    }
    for name, one in recordings.items():
        title = HOSTILE if name == "hostile" else name
        (folder / f"{name}.html").write_text(recording_page(one, title, [FILE]), encoding="utf-8")
    sides = [Imported(name, (FILE,), threads_recording(name=name)) for name in ("inner", "renamed")]
    (folder / "sides.html").write_text(recording_sides_page(*sides), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in [*recordings, "sides"]}


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with open_browser() as opened:
        yield opened


@pytest.mark.parametrize("kind", ["threads", "cycles", "units", "hostile", "tslog", "sides", *KINDS])
@pytest.mark.parametrize("width", [390, 1280])
def test_renders_without_errors_requests_or_sideways_scroll(
    browser: "Browser", pages: dict[str, Path], kind: str, width: int
) -> None:
    with Visit(browser, pages[kind], width) as visit:
        page = visit.page
        page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
        assert page.evaluate("document.documentElement.dataset.profile") == "ready"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert visit.complaints == []
        assert [url for url in visit.requests if not url.startswith("data:")] == [pages[kind].as_uri()]
        assert page.evaluate("window.stolen") is None


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_shows_its_longest_part_and_every_note(browser: "Browser", pages: dict[str, Path], kind: str) -> None:
    one = sample(KINDS[kind])
    with Visit(browser, pages[kind], 1280) as visit:
        page = visit.page
        page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
        said = " ".join(page.locator("body").inner_text().split())
        timed = [*one.timeline.spans, *one.phases]
        named = max(timed, key=lambda span: span.duration_ns).name if timed else one.timeline.clock.name
        names = [named, *(length.name for length in one.lengths[:1]), *(series.name for series in one.series)]
        if not one.stacks:
            assert [name for name in names if " ".join(name.split()) not in said] == []
        assert [
            note for note in one.notes if " ".join(note.replace("`", "").split())[:60] not in said.replace("`", "")
        ] == []
        figures = page.locator("figure canvas")
        assert all(figures.nth(index).bounding_box() is not None for index in range(figures.count()))
        assert page.locator("table tbody tr").count() + figures.count() + len(one.text) > 0


def test_frames_say_times_and_no_instructions(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["threads"], 1280) as visit:
        said = visit.page.locator("figure.flame .details").inner_text()
        assert "9.00 ms, 9,000,000 ns" in said and "instructions" not in said


def test_cycles_are_never_called_time(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["cycles"], 1280) as visit:
        text = visit.page.locator("main").inner_text()
        assert "9,000,000 cycles" in text
        assert " ms" not in text.replace("\n", " ")


def test_two_recordings_say_what_changed(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["sides"], 1280) as visit:
        said = visit.page.locator("figure.flame .details").inner_text()
        assert "9.00 ms in both" in said and "instructions" not in said
        assert "renamed" in visit.page.locator("#functions tbody").inner_text()


def test_without_threads_there_is_the_chart_alone(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["units"], 1280) as visit:
        assert visit.page.locator("figure.flame").count() == 0
        assert visit.page.locator("figure.chart canvas").is_visible()


def test_under_a_wait_stands_what_was_waited_for(browser: "Browser", pages: dict[str, Path]) -> None:
    with Visit(browser, pages["tslog"], 1280) as visit:
        page = visit.page
        page.locator("figure.flame input[type=search]").fill("g_part_taste")
        # 34 ms of the thread itself, and 17 + 2 + 15 ms of it under the boot's wait, of 511 ms.
        found = page.locator("figure.flame .found").inner_text()
        assert found.startswith("13.31 % in matches: 68.00 ms in 2 frames of 1 function")
        page.locator("figure.flame input[type=search]").fill("waits for GEOM")
        assert page.locator("figure.flame .found").inner_text().startswith("7.83 % in matches: 40.00 ms")
