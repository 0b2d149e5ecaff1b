"""What the plugin is told of the screen, and pictures as the pixels of a region."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from bootlab.errors import InputError
from bootlab.system import System
from bootlab.targets.qemu.screen import picture_hashes, screen_lines, write_pictures


def system(**screen: Any) -> System:
    machine = {"type": "q35", "devices": ["VGA"]}
    values = {"name": "x", "machine": machine, "kernel": {"image": "k"}, "booted": {"mark": "ready"}, "screen": screen}
    return System.model_validate(values)


def picture(path: Path, mode: str = "RGB") -> Path:
    """Write 4 x 2 pixels, each of another colour."""
    colours = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    Image.fromarray(colours, "RGB").convert(mode).save(path)
    return path


def test_nobody_looks_where_nobody_asks() -> None:
    machine = {"type": "q35", "devices": ["VGA"]}
    plain = System.model_validate({"name": "x", "machine": machine, "kernel": {"image": "k"}, "booted": {"mark": "r"}})
    assert screen_lines(plain) == ""
    assert picture_hashes(plain) == {}


def test_every_part_has_its_lines() -> None:
    given = system(
        marks={
            "window": {"kind": "painted", "after": "begun", "region": [1, 2, 3, 4]},
            "answers": {"kind": "answers", "after": "name"},
            "rest": {"kind": "idle", "busy_percent": 2.5, "quiet_ms": 300},
        },
        typed={"name": {"after": "window", "after_ms": 10, "text": "aB", "each_ms": 100}},
    )
    assert screen_lines(given).splitlines() == [
        "screen 16667000 500000000",
        "painted window begun 500000000 2",
        "region window 1 2 3 4",
        "answers answers name",
        "idle rest - 300000000 25",
        "typed name window",
        "key name 10000000 a down",
        "key name 60000000 a up",
        "key name 110000000 shift down",
        "key name 110000000 b down",
        "key name 160000000 b up",
        "key name 160000000 shift up",
    ]


def test_a_picture_is_its_pixels(tmp_path: Path) -> None:
    path = picture(tmp_path / "desk.png")
    given = system(marks={"desk": {"kind": "painted", "picture": path}})
    assert screen_lines(given).splitlines()[1:] == ["pictured desk -", "region desk 0 0 4 2"]
    assert write_pictures(given, tmp_path) == f"picture desk {tmp_path}/picture-1.pixels\n"
    pixels = np.frombuffer((tmp_path / "picture-1.pixels").read_bytes(), dtype="<u4")
    assert [f"{pixel:06x}" for pixel in pixels[:3]] == ["000102", "030405", "060708"]
    assert len(pixels) == 8


def test_of_a_whole_screen_the_region_is_cut_out(tmp_path: Path) -> None:
    path = picture(tmp_path / "desk.png", "RGBA")
    part = system(marks={"desk": {"kind": "painted", "picture": path, "region": [1, 1, 2, 1]}})
    write_pictures(part, tmp_path)
    pixels = np.frombuffer((tmp_path / "picture-1.pixels").read_bytes(), dtype="<u4")
    assert [f"{pixel:06x}" for pixel in pixels] == ["0f1011", "121314"]
    whole = system(marks={"desk": {"kind": "painted", "picture": path}})
    assert picture_hashes(part).keys() == {"picture:desk"}
    assert picture_hashes(part) != picture_hashes(whole)


def test_a_picture_that_cannot_be_one_is_named(tmp_path: Path) -> None:
    path = picture(tmp_path / "desk.png")
    beside = system(marks={"desk": {"kind": "painted", "picture": path, "region": [3, 0, 2, 1]}})
    with pytest.raises(InputError, match="has 4 x 2 pixels, and the region 2 x 1 at 3, 0 is not in it"):
        screen_lines(beside)
    path.write_bytes(path.read_bytes()[:45])
    for content in (path.read_bytes(), b"GIF89a", b""):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"screen.marks.desk.picture: .*desk.png: not a PNG that can be read"):
            screen_lines(system(marks={"desk": {"kind": "painted", "picture": path}}))


def test_of_a_damaged_picture_nothing_is_taken_for_black(tmp_path: Path) -> None:
    path = picture(tmp_path / "desk.png")
    whole, given = path.read_bytes(), system(marks={"desk": {"kind": "painted", "picture": path}})
    at = whole.index(b"IDAT") + 8
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    with pytest.raises(
        InputError, match=r"screen.marks.desk.picture: .*: not a PNG that can be read: its pixels are damaged"
    ):
        screen_lines(given)


def test_two_pictures_are_two_files_whatever_their_marks_are_called(tmp_path: Path) -> None:
    path = picture(tmp_path / "desk.png")
    one, other = ({"kind": "painted", "picture": path, "region": [x, 0, 1, 1]} for x in (0, 1))
    lines = write_pictures(system(marks={"a/b": one, "a_b": other}), tmp_path).splitlines()
    files = [Path(line.split(" ", 2)[2]).read_bytes() for line in lines]
    assert [line.split()[1] for line in lines] == ["a/b", "a_b"] and files[0] != files[1]


def test_a_picture_that_no_frame_can_be_as_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "desk.png"
    given = system(marks={"desk": {"kind": "painted", "picture": path}})
    for image, said in (
        (Image.new("I;16", (2, 1), 0x1234), "it has 16 bits a colour, and a screen's pixels have 8"),
        (Image.new("RGBA", (2, 1), (1, 2, 3, 254)), "has pixels that are transparent"),
        (Image.new("RGB", (32768, 1)), "32768 x 1 is larger than any screen"),
    ):
        image.save(path)
        with pytest.raises(InputError, match=f"screen.marks.desk.picture: .*{said}"):
            screen_lines(given)
    Image.new("RGBA", (2, 1), (1, 2, 3, 255)).save(path)
    assert screen_lines(given)


def test_marks_of_our_own_are_not_the_screens() -> None:
    for name in ("ready", "kernel_entry", "panic"):
        with pytest.raises(InputError, match=f"screen.marks.{name}: bootlab has a mark of this name"):
            screen_lines(system(marks={name: {"kind": "idle"}}))


def test_requests_of_a_disk_that_is_not_seen_are_no_rest() -> None:
    disks = {"disks": [{"size_mib": 16, "attach": "ahci"}]}
    given = system(marks={"rest": {"kind": "idle"}}).model_copy(update={})
    given = System.model_validate({**given.model_dump(), **disks})
    with pytest.raises(InputError, match="screen.marks.rest: kind = .idle. sees no request of disks.0 on ahci"):
        screen_lines(given)
