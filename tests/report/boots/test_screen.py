"""The timings of a screen as tables, and its film on a page. The records are fixtures with made-up figures."""

import hashlib
import re
import warnings
from pathlib import Path

from PIL import Image
from rich.console import Group

from bootlab.measure.record import BootRecord, Outcome, PictureRecord, ScreenRecord
from bootlab.report.boots import text
from bootlab.report.boots.page import boot_page, compare_page, series_page
from bootlab.report.boots.screen import screen_change, screen_lines, screen_section
from tests.report.boots.test_text import printed, series

# 30,000 x 30,000 pixels, by its own head.
ENORMOUS = b"\x89PNG\r\n\x1a\n" + bytes.fromhex("0000000d4948445200007530000075300800000000434ca766")
# 10,000 x 10,000: of that many pixels Pillow warns.
LARGE = b"\x89PNG\r\n\x1a\n" + bytes.fromhex("0000000d4948445200002710000027100802000000352cf5700000000049444154")


def seen(folder: Path, *, later_ns: int = 0) -> BootRecord:
    """Return a boot whose window was painted at 400 ms, and that was at rest 50 ms after the password."""
    record = series("series-before.json")[0]
    (folder / "screen").mkdir(parents=True)
    pictures = []
    for mark, t_ns, width in (("window", 400_000_000, 640), (None, 450_000_000, 640), ("desk", 560_000_000, 1)):
        name = f"screen/{t_ns}.png"
        height = width // 2 or 1
        Image.new("RGB", (width, height), "red").save(folder / name)
        red = hashlib.sha256(b"\0\0\xff\0" * width * height).hexdigest()
        pictures.append(PictureRecord(mark=mark, t_ns=t_ns, width=width, height=height, pixels_sha256=red, file=name))
    after = {"window": "power_on", "password": "window", "desk": "password", "never": "desk"}
    screen = ScreenRecord(looks=1234, frames=7, after=after, frames_up_to={"desk": "00ff"}, pictures=pictures, lost=2)
    marks = {"full-boot": 300_000_000, "window": 400_000_000, "password": 500_000_000, "desk": 550_000_000 + later_ns}
    return record.model_copy(update={"screen": screen, "marks": {**record.marks, **marks}, "run": str(folder)})


def test_a_boot_without_a_screen_shows_none() -> None:
    records = series("series-before.json")
    assert screen_lines(records) == [] and screen_change(records, records) == []
    assert screen_section(records) == ""
    assert "ms since" not in printed(text.boot(records[0]))


def test_each_mark_has_its_times(tmp_path: Path) -> None:
    shown = printed(text.boot(seen(tmp_path / "a")))
    assert re.search(r"window +400\.00 +400\.00 power_on", shown)
    assert re.search(r"desk +550\.00 +50\.00 password", shown)
    assert re.search(r"never +not seen +desk", shown)
    # In the order of their times, and a mark that the guest says is among them.
    assert re.search(r"full-boot.*window.*password.*desk.*never", shown, re.DOTALL)
    kept = "1,234 looks, 7 new frames; pictures: 2 of marks, 1 of the film; 2 more were not kept"
    assert kept in " ".join(shown.split()) and "the last" not in shown


def test_of_a_boot_that_went_wrong_the_last_picture_is_named(tmp_path: Path) -> None:
    hung = seen(tmp_path / "a").model_copy(update={"outcome": Outcome.HUNG, "detail": "not ready after 9 s"})
    shown = " ".join(printed(text.boot(hung)).split())
    assert "not kept; the last, at 560.00 ms: screen/560000000.png" in shown


def test_of_several_boots_it_is_the_medians(tmp_path: Path) -> None:
    boots = [seen(tmp_path / str(number), later_ns=number * 10_000_000) for number in range(3)]
    shown = printed(Group(*screen_lines(boots)))
    assert "marks: medians" in shown
    assert re.search(r"desk +560\.00 +60\.00 password", shown)


def test_two_sides_are_laid_side_by_side(tmp_path: Path) -> None:
    before, after = seen(tmp_path / "a"), seen(tmp_path / "b", later_ns=-25_000_000)
    shown = printed(text.comparison([before], [after]))
    assert re.search(r"desk +power_on +550\.00 +525\.00 +-25\.00 +-4\.5", shown)
    assert re.search(r"password +50\.00 +25\.00 +-25\.00 +-50\.0", shown)
    # A mark of one side alone is one that the other has not seen; one that nobody has seen is none.
    assert "never" not in shown
    only = before.model_copy(update={"marks": {name: t for name, t in before.marks.items() if name != "window"}})
    assert re.search(r"window +power_on +not seen +400\.00 *$", printed(text.comparison([only], [after])), re.MULTILINE)


def test_a_mark_that_comes_behind_another_one_is_another_stretch(tmp_path: Path) -> None:
    before, after = seen(tmp_path / "a"), seen(tmp_path / "b")
    assert after.screen is not None
    moved = after.screen.model_copy(update={"after": {**after.screen.after, "desk": "window"}})
    shown = printed(Group(*screen_change([before], [after.model_copy(update={"screen": moved})])))
    assert re.search(r"desk +power_on +550\.00 +550\.00 +0\.00 +0\.0", shown)
    assert re.search(r"password / window +50\.00 +150\.00 *$", shown, re.MULTILINE)


def test_a_page_carries_the_film(tmp_path: Path) -> None:
    record = seen(tmp_path / "a")
    page = boot_page(record)
    assert page.count("data:image/png;base64,") == 3
    assert "window 400.00 ms" in page
    (tmp_path / "a" / "screen" / "450000000.png").unlink()
    assert "its file is gone" in boot_page(record)
    # What is there is what was taken, or said not to be.
    for width, colour in ((640, "blue"), (639, "red")):
        Image.new("RGB", (width, 320), colour).save(tmp_path / "a" / "screen" / "400000000.png")
        page = boot_page(record)
        assert "its file is not the picture that was taken" in page and page.count("data:image/png;base64,") == 1
    for damaged in (b"GIF89a", ENORMOUS):
        (tmp_path / "a" / "screen" / "400000000.png").write_bytes(damaged)
        assert "its file is damaged" in boot_page(record)
    (tmp_path / "a" / "screen" / "400000000.png").write_bytes(LARGE)
    with warnings.catch_warnings(action="error"):
        assert boot_page(record).count("its file is not the picture that was taken") == 1


def test_of_a_series_the_film_is_of_a_boot_that_was_looked_at(tmp_path: Path) -> None:
    """The middle one may be one whose plugin was killed before it told of its looks."""
    records = [seen(tmp_path / str(number)) for number in range(3)]
    records[1] = records[1].model_copy(update={"screen": None})
    assert "window 400.00 ms" in series_page(records)


def test_two_sides_show_each_film(tmp_path: Path) -> None:
    record = seen(tmp_path / "a")
    assert "On the screen" in series_page([record])
    both = compare_page([record], [seen(tmp_path / "b")])
    assert "On the screen, before" in both and "On the screen, after" in both
