"""[screen]: which marks are seen, what is typed, and what does not fit together."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bootlab.errors import InputError
from bootlab.system import GuestScreen, System, read_system
from bootlab.system.screen.screen import expect_first_display, expect_keyboard
from tests.system.files import GOOD, write

TYPED = {"typed": {"name": {"text": "x"}}}
MACHINE = '[machine]\ntype = "q35"\ndevices = ["VGA"]\n'


def mark(**keys: Any) -> dict[str, Any]:
    return {"marks": {"a": keys}}


def test_a_system_without_one_is_as_it_was(tmp_path: Path) -> None:
    system = read_system(write(tmp_path, GOOD))
    assert system.screen is None
    assert "screen" not in system.model_dump(mode="json")


def test_it_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "desk.png").write_bytes(b"")
    text = GOOD.replace('[machine]\ntype = "q35"\n', MACHINE) + (
        '[screen]\nevery_us = 20000\n[screen.marks.desk]\nkind = "painted"\npicture = "desk.png"\n'
        "region = [0, 0, 4, 2]\n"
        '[screen.typed.go]\nafter = "desk"\nkeys = ["ctrl-alt-f1", "ret"]\n'
        '[screen.marks.went]\nkind = "answers"\nafter = "go"\n'
    )
    screen = read_system(write(tmp_path, text)).screen
    assert screen is not None
    assert screen.marks["desk"].picture == tmp_path / "desk.png"
    assert screen.marks["desk"].region == (0, 0, 4, 2)
    assert screen.typed["go"].chords == (("ctrl", "alt", "f1"), ("ret",))
    assert screen.after == {"desk": None, "went": "go", "go": "desk"}
    assert GuestScreen.model_validate(screen.model_dump()) == screen


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (mark(), "marks.a.kind"),
        (mark(kind="shown"), "'painted', 'answers' or 'idle'"),
        (mark(kind="idle", stays_ms=1), 'stays_ms is of kind = "painted", and kind is "idle"'),
        (mark(kind="painted", quiet_ms=1), 'quiet_ms is of kind = "idle"'),
        (mark(kind="painted", picture="a.png", colours=3), "picture says which frame it is"),
        (mark(kind="painted", region=[0, 0, 0, 1]), "has no pixels"),
        (mark(kind="painted", region=[0, 0, 40000, 1]), "is not 0 to 32767 pixels"),
        (mark(kind="painted", region=[0, 0, 1]), "region"),
        (mark(kind="painted", region=[5, 5, 1, 1]), "region has 1 pixels, and never 2 colours"),
        (mark(kind="painted", region=[0, 0, 4, 4], colours=17), "region has 16 pixels, and never 17 colours"),
        (mark(kind="painted", colours=257), "less than or equal to 256"),
        (mark(kind="painted", after="a"), "marks.a.after: cannot come behind itself"),
        (mark(kind="painted", after="power_on"), 'marks.a.after: leave "power_on" out: without, it is from power-on'),
        ({"typed": {"a": {"text": "x", "after": "-"}}}, 'typed.a.after: leave "-" out'),
        (mark(kind="idle", busy_percent=101), "less than or equal to 100"),
        (mark(kind="answers"), "after is missing"),
        (mark(kind="answers", after="b"), "needs a [screen.typed.b]"),
        ({"marks": {"a b": {"kind": "idle"}}}, "is no mark's name"),
        ({"marks": {"-": {"kind": "idle"}}}, "cannot be called -"),
        ({"typed": {"a": {}}}, "exactly one of text"),
        ({"typed": {"a": {"text": "x", "keys": ["x"]}}}, "exactly one of text"),
        ({"typed": {"a": {"text": "\u00e4"}}}, "no key of a US keyboard types"),
        ({"typed": {"a": {"keys": ["Enter"]}}}, "is not keys by QEMU's names"),
        ({"typed": {"a": {"text": "x", "each_ms": 60}}}, "typed.a.each_ms: 60 ms is less than four looks of 16667 us"),
        (
            {"typed": {"a": {"text": "x" * 1000, "each_ms": 60_000}}},
            "typed.a: after_ms and 1000 keys of each_ms end after 60000000 ms",
        ),
        (
            {"marks": {"a": {"kind": "idle", "after": "b"}}, "typed": {"b": {"text": "x", "after": "a"}}},
            "after: a behind b behind a: each waits for the other",
        ),
        ({**TYPED, "marks": {"name": {"kind": "idle"}}}, "have one name"),
        ({"every_us": 10}, "greater than or equal to 1000"),
        ({"pixels": 10}, "Extra inputs"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as error:
        GuestScreen.model_validate(given)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"machine": {"type": "q35"}}, "this machine has none that can be looked at"),
        ({"machine": {"type": "q35", "devices": ["virtio-vga"]}}, '"virtio-vga" is the first in machine.devices'),
        ({"machine": {"type": "q35", "devices": ["virtio-gpu-pci,xres=9", "VGA"]}}, '"virtio-gpu-pci" is the first'),
        ({"clock": {"kind": "wall"}}, "at times of the virtual clock"),
        ({"machine": {"type": "virt", "devices": ["bochs-display"]}}, 'machine.type "virt" has no keyboard'),
        ({"machine": {"type": "microvm", "options": {"pcie": "on"}, "devices": ["VGA"]}}, '"microvm" has no keyboard'),
        ({"marks": {"name": "do_exit"}}, "screen.typed.name: there is another mark of this name"),
    ],
)
def test_a_machine_has_to_have_it(parts: dict[str, Any], said: str) -> None:
    whole = {
        "name": "x",
        "machine": {"type": "q35", "devices": ["VGA"]},
        "kernel": {"image": "k"},
        "booted": {"mark": "ready"},
        "screen": TYPED,
    }
    assert System.model_validate(whole).screen is not None
    with pytest.raises(ValidationError) as error:
        System.model_validate({**whole, **parts})
    assert said in str(error.value)


def test_a_region_of_one_pixel_does_where_no_colours_are_counted() -> None:
    for keys in ({"kind": "painted", "colours": 1}, {"kind": "painted", "picture": "a.png"}, {"kind": "idle"}):
        marks = GuestScreen.model_validate(mark(**keys, region=[5, 5, 1, 1])).marks
        assert marks["a"].region == (5, 5, 1, 1)


def test_another_screen_behind_the_first_is_none_of_its_business() -> None:
    expect_first_display(["virtio-rng-pci", "VGA,vgamem_mb=32", "virtio-gpu-pci"])


def test_a_keyboard_may_be_one_of_its_devices() -> None:
    for devices in (["virtio-keyboard-pci"], ["qemu-xhci", "usb-kbd,id=k"]):
        expect_keyboard("virt", ["bochs-display", *devices])


def test_a_mark_behind_a_circle_is_no_part_of_it() -> None:
    circle = {"a": {"kind": "idle", "after": "b"}, "b": {"kind": "idle", "after": "c"}}
    with pytest.raises(ValidationError, match="after: b behind c behind b: each waits"):
        GuestScreen.model_validate({"marks": circle, "typed": {"c": {"text": "x", "after": "b"}}})


def test_a_picture_that_is_not_there_is_named(tmp_path: Path) -> None:
    text = GOOD.replace('[machine]\ntype = "q35"\n', MACHINE)
    text += '[screen.marks.desk]\nkind = "painted"\npicture = "no.png"\n'
    with pytest.raises(InputError, match="screen.marks.desk.picture: no such file"):
        read_system(write(tmp_path, text))
