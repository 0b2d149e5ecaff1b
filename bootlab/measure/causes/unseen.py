"""What a boot's screen was still looked at for as its deadline passed ([screen.marks]), and what could not be seen."""

from collections.abc import Container, Iterator, Sequence
from typing import Final

from bootlab.measure.record import PictureRecord
from bootlab.profile.recorded.trace import SCREEN, PluginTrace
from bootlab.system import GuestScreen, System

_MARKS: Final = ("painted", "pictured", "answers", "idle", "typed")
"""What the plugin is told of marks of the screen."""


def find_unseen(system: System, trace: PluginTrace | None) -> str | None:
    """Return which marks of the screen were awaited in vain, and since when; None where none was.

    A mark that comes behind another one that was never reached was not looked for: of those the first are told, which
    come behind a mark that the screen does not make.
    """
    if system.screen is None or trace is None or SCREEN not in trace.exact:
        return None
    reached = {name: stamp.t_ns for name, stamp in (*trace.marks.items(), *trace.guest_marks.items())}
    awaited = []
    for name, mark in system.screen.marks.items():
        if name in reached or (mark.after is not None and mark.after not in reached):
            continue
        since = "power-on" if mark.after is None else f"{mark.after} at {reached[mark.after] / 1e6:.3f} ms"
        awaited.append(f"{name} since {since}")
    told = [f"its screen has not shown {', '.join(awaited)}"] if awaited else []
    for after, names in _not_begun(system.screen, reached.keys()).items():
        told.append(f"there was no mark {after}, behind which {', '.join(names)} would have come")
    return "; ".join(told) or None


def screen_remarks(config: str, trace: PluginTrace, pictures: Sequence[PictureRecord]) -> Iterator[str]:
    """Yield why a mark of the screen could not come, or is not the only one of its name.

    `config`: what the plugin was told.
    """
    if SCREEN not in trace.exact:
        return
    sizes = {(one.width, one.height) for one in pictures}
    words = [line.split(" ") for line in config.splitlines()]
    for name, *numbers in (line[1:] for line in words if line[0] == "region"):
        x, y, width, height = map(int, numbers)
        if name in trace.guest_marks or not sizes or any(x + width <= w and y + height <= h for w, h in sizes):
            continue
        seen = ", ".join(f"{w} x {h}" for w, h in sorted(sizes))
        yield f"screen.marks.{name}: its region, {width} x {height} at {x}, {y}, is not on the screen: it was {seen}"
    own = {line[1] for line in words if line[0] in _MARKS}
    for name in trace.said_again:
        if name in own:
            yield f"{name}: a mark of the screen, and the guest makes one of this name, too: the first of both counts"


def _not_begun(screen: GuestScreen, reached: Container[str]) -> dict[str, list[str]]:
    """Return what waits for a mark that never came and that is none of the screen's own, by that mark."""
    found: dict[str, list[str]] = {}
    for name, after in screen.after.items():
        if after is not None and after not in screen.after and after not in reached:
            found.setdefault(after, []).append(name)
    return found
