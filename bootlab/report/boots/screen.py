"""What was seen on the screen of boots: their timings as tables, and the pictures as a strip of film."""

import base64
import io
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from PIL import Image
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bootlab.measure.record import BootRecord, Outcome, PictureRecord
from bootlab.measure.screen import film_of, pixels_sha256
from bootlab.measure.statistics.series import median_ns
from bootlab.report.parts.figures import count, median_boot, ms, percent, visible
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.markup import Content, Html, join, tag
from bootlab.report.parts.sections import section
from bootlab.report.parts.terminal_tables import plain_table
from bootlab.timeline import marks as m

_FILM_WIDTH: Final = 320
_MARK_WIDTH: Final = 1024
_ANOTHER: Final = "its file is not the picture that was taken"


def screen_lines(records: Sequence[BootRecord]) -> list[RenderableType]:
    """Return the timings of the screen's marks, of several boots their medians; nothing where none was looked at."""
    names = _names(records)
    if not names:
        return []
    rows = plain_table("mark", "ms>", "ms since>", "")
    for name in names:
        after, since = _after(records, name), _median(_spans(records, name))
        rows.add_row(Text(visible(name), overflow="fold"), ms(_median(_times(records, name))) or "not seen",
                     ms(since), Text(visible(after), overflow="fold"))  # fmt: skip
    if len(records) > 1:
        return [Text(), Text("marks: medians"), rows]
    return [rows, Text(_pictures_line(records[0]))]


def screen_change(before: Sequence[BootRecord], after: Sequence[BootRecord]) -> list[RenderableType]:
    """Return the timings of two sides whose screens were looked at, side by side."""
    names = list(dict.fromkeys([*_names(before), *_names(after)])) if _names(before) and _names(after) else []
    if not names:
        return []
    rows: Table = plain_table("mark, since", "", "before ms>", "after ms>", "change ms>", "change %>")
    for name in names:
        behind = dict.fromkeys(_after(side, name) for side in (before, after) if _times(side, name))
        for since, times in (("", _times), (" / ".join(behind), _spans)):
            one, other = _median(times(before, name)), _median(times(after, name))
            if since == m.POWER_ON or (one is None and other is None):
                continue
            # Since two marks they are two stretches, and have no difference.
            alike = not since or len(behind) == 1
            change = other - one if alike and one is not None and other is not None else None
            style = "green" if (change or 0) < 0 else "red" if (change or 0) > 0 else ""
            figures = (Text(figure, style=style) for figure in (ms(change, sign=True), percent(change, one, sign=True)))
            label = Text(visible(name if not since else ""), overflow="fold")
            rows.add_row(label, Text(visible(since or m.POWER_ON), overflow="fold"), ms(one) or "not seen",
                         ms(other) or "not seen", *figures)  # fmt: skip
    return [Text(), rows]


def screen_section(records: Sequence[BootRecord], side: str = "") -> Html:
    """Return the timings and the film of a boot, of several the film of the median one; empty without a screen.

    `side`: which of two sides they are, on a page that has both.
    """
    if not _names(records):
        return Html()
    columns = [Column("mark"), Column("at, ms", "number"), Column("after it, ms", "number"), Column("it comes behind")]
    rows = [
        [
            Cell(name),
            Cell(ms(_median(_times(records, name))) or "not seen"),
            Cell(ms(_median(_spans(records, name)))),
            Cell(_after(records, name)),
        ]
        for name in _names(records)
    ]
    many = f", medians of {len(records)} boots" if len(records) > 1 else ""
    caption = f"Marks, ms since power-on{many}, and since the mark that each comes behind."
    shown = median_boot([record for record in records if record.screen is not None])
    name, title = (f"screen-{side}", f"On the screen, {side}") if side else ("screen", "On the screen")
    return section(
        name, title, table(caption, columns, rows), _film(shown),
        lead="A mark that says since when something is so has the picture of the look that was certain of it.",
    )  # fmt: skip


def _film(record: BootRecord) -> Html:
    assert record.screen is not None
    frames: list[Content] = []
    for picture in film_of(record.screen.pictures):
        data, gone = _png(Path(record.run), picture, _FILM_WIDTH if picture.mark is None else _MARK_WIDTH)
        what = f"{picture.mark or ''} {ms(picture.t_ns)} ms".strip()
        shown: Content = (
            tag("img", src=f"data:image/png;base64,{data}", alt=f"the screen at {what}", loading="lazy")
            if data
            else tag("span", gone, class_="gone")
        )
        frames.append(tag("figure", shown, tag("figcaption", what), class_="mark" if picture.mark else "frame"))
    return tag("div", join(frames), class_="film", role="group", aria_label="film", tabindex=0)


def _png(run: Path, picture: PictureRecord, width: int) -> tuple[str, str]:
    """Return a picture that is no wider, as a page carries it; where there is none that was taken, why."""
    if not (run / picture.file).is_file():
        return "", "its file is gone"
    try:
        # Pillow warns of what it leaves out of a file, and of its size: what counts are its pixels.
        with warnings.catch_warnings(action="ignore"), Image.open(run / picture.file, formats=["PNG"]) as image:
            if image.size != (max(1, picture.width), max(1, picture.height)):
                return "", _ANOTHER
            shown = image.convert("RGB")
            if pixels_sha256(shown, picture) != picture.pixels_sha256:
                return "", _ANOTHER
            if shown.width > width:
                shown = shown.resize((width, max(1, round(shown.height * width / shown.width))))
            out = io.BytesIO()
            # A desktop has few colours: a palette is a third of the bytes.
            shown.quantize(256).save(out, "PNG")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return "", "its file is damaged"
    return base64.b64encode(out.getvalue()).decode("ascii"), ""


def _names(records: Sequence[BootRecord]) -> list[str]:
    """Return the marks of boots whose screen was looked at, but for bootlab's own, in the order of their times."""
    names: dict[str, None] = {}
    for record in records:
        if record.screen is not None:
            names.update(dict.fromkeys((*record.screen.after, *record.marks)))
    own = [name for name in names if name in m.OWN or name == m.READY]
    times = {name: _median(_times(records, name)) for name in names if name not in own}
    # What was not seen comes last.
    return sorted(times, key=lambda name: (times[name] is None, times[name] or 0))


def _after(records: Sequence[BootRecord], name: str) -> str:
    screens = [record.screen for record in records if record.screen is not None]
    return next((screen.after[name] for screen in screens if name in screen.after), m.POWER_ON)


def _times(records: Sequence[BootRecord], name: str) -> list[int]:
    return [record.marks[name] for record in records if name in record.marks]


def _spans(records: Sequence[BootRecord], name: str) -> list[int]:
    after = _after(records, name)
    both = (record.marks for record in records if name in record.marks and after in record.marks)
    return [marks[name] - marks[after] for marks in both]


def _median(times: Sequence[int]) -> int | None:
    return median_ns(times) if times else None


def _pictures_line(record: BootRecord) -> str:
    assert record.screen is not None
    screen = record.screen
    lost = f"; {count(screen.lost)} more were not kept" if screen.lost else ""
    kept = ", ".join(_kept(screen.pictures)) or "none"
    looks = f"{count(screen.looks)} looks, {count(screen.frames)} new frames; pictures: {kept}{lost}"
    if record.outcome is Outcome.READY or not screen.pictures:
        return looks
    # Of a boot that went wrong it is the evidence.
    last = max(screen.pictures, key=lambda one: one.t_ns)
    return f"{looks}; the last, at {ms(last.t_ns)} ms: {last.file}"


def _kept(pictures: Sequence[PictureRecord]) -> Iterator[str]:
    marks = sum(picture.mark is not None for picture in pictures)
    if marks:
        yield f"{count(marks)} of marks"
    if len(pictures) > marks:
        yield f"{count(len(pictures) - marks)} of the film"
