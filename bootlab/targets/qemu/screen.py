"""System -> what the plugin is told of the screen: how often to look, which marks to see, what to type.

screen 16667000 500000000
painted login-window - 500000000 16
typed password login-window
key password 100000000 s down
"""

import hashlib
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from bootlab.errors import InputError
from bootlab.system import GuestScreen, ScreenMark, Seen, System, Typed
from bootlab.system.screen.screen import FEWEST_COLOURS
from bootlab.targets.qemu.exact_devices import is_inexact
from bootlab.targets.qemu.whole_png import expect_whole_png
from bootlab.timeline import marks as m

_STAYS_MS = 500
_QUIET_MS = 500
_BUSY_PERCENT = 10.0
_FROM_POWER_ON = "-"
_LARGEST_PIXELS = 1 << 26
_LONGEST_SIDE = 32767
_MS = 10**6
_SAVE_IT = "save it as an RGB PNG of 8 bits a colour"


def screen_lines(system: System) -> str:
    """Return what the plugin is told, but for the places of pictures; empty for a system that is not looked at.

    Raises InputError for the name of a mark that bootlab has itself, for a picture that does not fit its region, and
    for a disk whose requests are not seen where rest is waited for.
    """
    screen = system.screen
    if screen is None:
        return ""
    for table, names in (("marks", screen.marks), ("typed", screen.typed)):
        for name in names:
            if name in m.OWN or name == m.READY:
                raise InputError(f"screen.{table}.{name}: bootlab has a mark of this name; give yours another")
    unseen = [f"disks.{index} on {disk.attach.value}" for index, disk in enumerate(system.disks) if is_inexact(disk)]
    idle = [name for name, mark in screen.marks.items() if mark.kind is Seen.IDLE]
    if unseen and idle:
        raise InputError(
            f'screen.marks.{idle[0]}: kind = "idle" sees no request of {", ".join(unseen)}',
            hint='attach = "virtio" is seen, and repeats exactly',
        )
    lines = [f"screen {screen.every_us * 1000} {screen.film_ms * _MS}"]
    for name, mark in screen.marks.items():
        lines += _mark_lines(name, mark)
    for name, typed in screen.typed.items():
        lines.append(f"typed {name} {typed.after or _FROM_POWER_ON}")
        lines += [f"key {name} {t_ns} {key} {'down' if down else 'up'}" for t_ns, key, down in _presses(typed)]
    return "".join(f"{line}\n" for line in lines)


def picture_hashes(system: System) -> dict[str, str]:
    """Return the sha256 of the pixels of each picture that a mark is compared with."""
    pictures = _pictures(system.screen)
    return {
        f"picture:{name}": hashlib.sha256(_read_pixels(name, mark).tobytes()).hexdigest() for name, mark in pictures
    }


def write_pictures(system: System, directory: Path) -> str:
    """Write the pixels that marks are compared with, and return the lines that say where they are."""
    lines = []
    for number, (name, mark) in enumerate(_pictures(system.screen), 1):
        # By number: two names may differ in what no file can be called.
        path = directory / f"picture-{number}.pixels"
        path.write_bytes(_read_pixels(name, mark).tobytes())
        lines.append(f"picture {name} {path}\n")
    return "".join(lines)


def _pictures(screen: GuestScreen | None) -> list[tuple[str, ScreenMark]]:
    marks = {} if screen is None else screen.marks
    return [(name, mark) for name, mark in marks.items() if mark.picture is not None]


def _mark_lines(name: str, mark: ScreenMark) -> Iterator[str]:
    after = mark.after or _FROM_POWER_ON
    region = mark.region
    if mark.kind is Seen.ANSWERS:
        yield f"answers {name} {after}"
    elif mark.kind is Seen.IDLE:
        quiet_ms = _QUIET_MS if mark.quiet_ms is None else mark.quiet_ms
        busy = _BUSY_PERCENT if mark.busy_percent is None else mark.busy_percent
        yield f"idle {name} {after} {quiet_ms * _MS} {round(busy * 10)}"
    elif mark.picture is not None:
        height, width = _read_pixels(name, mark).shape
        region = (*(region or (0, 0))[:2], width, height)
        yield f"pictured {name} {after}"
    else:
        stays_ms = _STAYS_MS if mark.stays_ms is None else mark.stays_ms
        yield f"painted {name} {after} {stays_ms * _MS} {mark.colours or FEWEST_COLOURS}"
    if region is not None:
        yield f"region {name} {' '.join(map(str, region))}"


def _presses(typed: Typed) -> Iterator[tuple[int, str, bool]]:
    for index, chord in enumerate(typed.chords):
        at_ns = (typed.after_ms + index * typed.each_ms) * _MS
        yield from ((at_ns, key, True) for key in chord)
        yield from ((at_ns + typed.each_ms * _MS // 2, key, False) for key in reversed(chord))


def _expect_pixels_of_a_screen(key: str, path: Path, image: Image.Image) -> None:
    """Raise InputError for a picture that no frame can be as: one that would be another when made into one."""
    if image.has_transparency_data and image.convert("RGBA").getchannel("A").getextrema() != (255, 255):
        raise InputError(f"{key}: {path}: has pixels that are transparent; a screen has none", hint=_SAVE_IT)


def _read_pixels(name: str, mark: ScreenMark) -> np.ndarray[tuple[int, int], np.dtype[np.uint32]]:
    """Return the pixels of a mark's region, row by row, as 0x00RRGGBB."""
    key, path = f"screen.marks.{name}.picture", mark.picture
    assert path is not None
    try:
        # Pillow tells of a limit of its own, above this one, and of what it leaves out of a file: none of it is pixels.
        with (
            warnings.catch_warnings(action="ignore"),
            path.open("rb") as file,
            Image.open(path, formats=["PNG"]) as image,
        ):
            if image.width * image.height > _LARGEST_PIXELS or max(image.size) > _LONGEST_SIDE:
                raise InputError(f"{key}: {path}: {image.width} x {image.height} is larger than any screen")
            expect_whole_png(file)
            _expect_pixels_of_a_screen(key, path, image)
            rows = image.convert("RGB").tobytes("raw", "BGRX")
            pixels = np.frombuffer(rows, dtype="<u4").reshape(image.height, image.width)
    except (OSError, UnidentifiedImageError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(f"{key}: {path}: not a PNG that can be read: {error}", hint=_SAVE_IT) from error
    whole = pixels.shape
    if mark.region is not None and pixels.shape != (mark.region[3], mark.region[2]):
        # Of a picture of the whole screen the region is cut out.
        x, y, width, height = mark.region
        pixels = pixels[y : y + height, x : x + width]
        if pixels.shape != (height, width):
            raise InputError(
                f"{key}: {path} has {whole[1]} x {whole[0]} pixels, and the region {width} x {height} "
                f"at {x}, {y} is not in it"
            )
    return np.ascontiguousarray(pixels)
