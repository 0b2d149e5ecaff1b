"""What a system file says of the screen: how often it is looked at, which marks are seen, what is typed when."""

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from bootlab.system.booted import POWER_ON
from bootlab.system.part import MARK, TEXT, Part
from bootlab.system.screen.keyboard import Chord, chord, chords_of_text

DISPLAYS: Final = ("VGA", "bochs-display")
"""QEMU's devices whose picture follows from the guest's memory alone, so that a look at it repeats."""

_OTHERS: Final = re.compile(
    r"(virtio|vhost-user)-(vga|gpu)\b.*|qxl(-vga)?|(isa-)?cirrus-vga|isa-vga|secondary-vga|vmware-svga|ati-vga|ramfb"
)
"""Its other devices with a picture (`-device help`): they draw when its main loop lets them, or nobody has tried."""

_WITH_KEYBOARD: Final = ("q35", "pc")
"""Machines of QEMU's that have a PS/2 keyboard by themselves."""
_KEYBOARD: Final = re.compile(r"virtio-keyboard(-.*)?|usb-kbd|i8042")

FEWEST_COLOURS: Final = 2
"""That a frame has at least that is painted, where a mark does not say how many."""
_HOUR_MS: Final = 3600 * 1000
_SIDE: Final = 32767
_OF_KINDS: Final = {
    "stays_ms": ("painted",),
    "colours": ("painted",),
    "picture": ("painted",),
    "quiet_ms": ("idle",),
    "busy_percent": ("idle",),
}
"""Keys of a mark, and the kinds that have them."""


class Seen(StrEnum):
    """What makes a mark of the screen."""

    PAINTED = "painted"
    """A frame that is as a picture, or one of some colours that stays."""
    ANSWERS = "answers"
    """The frame changes behind a key."""
    IDLE = "idle"
    """The frame stays, no disk is asked for anything, and the processor has next to nothing to do."""


def _expect_side(value: int) -> int:
    if not 0 <= value <= _SIDE:
        raise ValueError(f"is not 0 to {_SIDE} pixels")
    return value


Pixels = Annotated[int, AfterValidator(_expect_side)]


class ScreenMark(Part):
    """A mark that is seen on the screen, from the mark `after` on."""

    kind: Annotated[Seen, TEXT]
    after: Annotated[str, MARK] | None = None
    """The mark behind which it is looked for; without, from power-on."""
    region: Annotated[tuple[Pixels, Pixels, Pixels, Pixels], TEXT] | None = None
    """x, y, width, height: only this part of the screen counts; without, all of it."""
    stays_ms: int | None = Field(default=None, ge=0, le=_HOUR_MS)
    """How long the frame must be the same; 500 without a picture."""
    colours: int | None = Field(default=None, ge=1, le=256)
    """How many different colours it has at least; 2: a screen of one colour is not painted."""
    picture: Path | None = Field(default=None, strict=False)
    """A PNG: the frame is as this one, to the pixel."""
    quiet_ms: int | None = Field(default=None, ge=1, le=_HOUR_MS)
    """How long all must be quiet; 500."""
    busy_percent: float | None = Field(default=None, ge=0, le=100)
    """How busy the processor may be between two looks, and count as quiet; 10."""

    @model_validator(mode="after")
    def _keys_of_its_kind(self) -> Self:
        for name, kinds in _OF_KINDS.items():
            if getattr(self, name) is not None and self.kind.value not in kinds:
                raise ValueError(f'{name} is of kind = "{kinds[0]}", and kind is "{self.kind.value}"')
        if self.picture is not None and (self.stays_ms is not None or self.colours is not None):
            raise ValueError("picture says which frame it is: without stays_ms and colours")
        if self.kind is Seen.ANSWERS and self.after is None:
            raise ValueError(
                'after is missing: kind = "answers" is the answer to what [screen.typed] of that name types'
            )
        if self.region is not None and 0 in self.region[2:]:
            raise ValueError("region is x, y, width, height, and has no pixels")
        if self.kind is Seen.PAINTED and self.picture is None and self.region is not None:
            colours, pixels = self.colours or FEWEST_COLOURS, self.region[2] * self.region[3]
            if colours > pixels:
                raise ValueError(
                    f"region has {pixels} pixels, and never {colours} colours: take a larger one, or fewer colours"
                )
        return self


class Typed(Part):
    """What is typed behind a mark. It is a mark itself, at the moment its last key is pressed."""

    after: Annotated[str, MARK] | None = None
    """The mark behind which it is typed; without, power-on."""
    after_ms: int = Field(default=0, ge=0, le=_HOUR_MS)
    """How long behind that."""
    text: Annotated[str, Field(min_length=1, max_length=1000)] | None = None
    """On a US keyboard; a line feed is Enter, a tab Tab."""
    keys: tuple[str, ...] = Field(default=(), strict=False, max_length=1000)
    """Keys by QEMU's names (`ret`, `esc`, `f2`), those that are down together with `-`: `ctrl-alt-f2`."""
    each_ms: int = Field(default=100, ge=1, le=60_000)
    """From one key to the next; a key is down for half of it."""

    @field_validator("text")
    @classmethod
    def _has_keys(cls, value: str | None) -> str | None:
        if value is not None:
            chords_of_text(value)
        return value

    @field_validator("keys")
    @classmethod
    def _are_keys(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for words in value:
            chord(words)
        return value

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.text is None) == (not self.keys):
            raise ValueError('give exactly one of text ("secret\\n") and keys (["tab", "ret"])')
        return self

    @property
    def chords(self) -> tuple[Chord, ...]:
        """Return what is pressed, one after the other."""
        return chords_of_text(self.text) if self.text is not None else tuple(chord(words) for words in self.keys)

    @property
    def lasts_ms(self) -> int:
        """Return how long behind its mark the last key is let go."""
        return self.after_ms + len(self.chords) * self.each_ms


def expect_first_display(devices: Sequence[str]) -> None:
    """Raise ValueError unless the first of these devices that has a picture is one that can be looked at."""
    names = (device.split(",")[0] for device in devices)
    first = next((name for name in names if name in DISPLAYS or _OTHERS.fullmatch(name)), None)
    if first in DISPLAYS:
        return
    known = " or ".join(f'"{name}"' for name in DISPLAYS)
    if first is None:
        raise ValueError(f"screen: this machine has none that can be looked at; machine.devices: {known}")
    raise ValueError(
        f'screen: "{first}" is the first in machine.devices, and cannot be looked at: '
        f"that would not repeat; {known} can, in its place or ahead of it"
    )


def expect_keyboard(machine: str, devices: Sequence[str]) -> None:
    """Raise ValueError for a machine without a keyboard: what is typed would go nowhere, and be marks all the same."""
    names = [device.split(",")[0] for device in devices]
    if machine not in _WITH_KEYBOARD and not any(_KEYBOARD.fullmatch(name) for name in names):
        raise ValueError(
            f'screen.typed: machine.type "{machine}" has no keyboard; machine.devices: "virtio-keyboard-pci", '
            'or "qemu-xhci" and "usb-kbd", with the guest\'s driver for it'
        )


class GuestScreen(Part):
    """The first screen of the machine, and its keyboard. All times are of the virtual clock."""

    every_us: int = Field(default=16_667, ge=1000, le=10**6)
    """How long from one look to the next; keys are pressed at looks."""
    film_ms: int = Field(default=500, ge=0, le=_HOUR_MS)
    """How often a frame is kept for the film, where it has changed; 0: never."""
    marks: dict[Annotated[str, MARK], ScreenMark] = {}
    typed: dict[Annotated[str, MARK], Typed] = {}

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        for name in self.marks:
            if name in self.typed:
                raise ValueError(f"marks.{name} and typed.{name} have one name: each is a mark")
        if "-" in self.marks or "-" in self.typed:
            raise ValueError("a mark of the screen cannot be called -")
        for table, parts in (("marks", self.marks), ("typed", self.typed)):
            for name, part in parts.items():
                if part.after == name:
                    raise ValueError(f"{table}.{name}.after: cannot come behind itself")
                if part.after in (POWER_ON, "-"):
                    raise ValueError(f'{table}.{name}.after: leave "{part.after}" out: without, it is from power-on')
        for name, mark in self.marks.items():
            if mark.kind is Seen.ANSWERS and mark.after not in self.typed:
                raise ValueError(f'marks.{name}.after: kind = "answers" needs a [screen.typed.{mark.after}]')
        for name, typed in self.typed.items():
            if typed.each_ms * 1000 < 4 * self.every_us:
                raise ValueError(
                    f"typed.{name}.each_ms: {typed.each_ms} ms is less than four looks of {self.every_us} us: "
                    "a key is pressed at one and let go at another"
                )
            if typed.lasts_ms > _HOUR_MS:
                raise ValueError(
                    f"typed.{name}: after_ms and {len(typed.chords)} keys of each_ms end after {typed.lasts_ms} ms; "
                    "an hour is the most"
                )
        for name in self.after:
            if circle := self._circle_from(name):
                raise ValueError(f"after: {' behind '.join(circle)}: each waits for the other, and none is looked for")
        return self

    def _circle_from(self, name: str) -> list[str]:
        """Return the names from this one back to itself, each behind the next; empty where it leads elsewhere."""
        after, path = self.after, [name]
        while (before := after.get(path[-1])) is not None and before not in path:
            path.append(before)
        return [*path, name] if before == name else []

    @property
    def after(self) -> dict[str, str | None]:
        """Return the mark that each mark and each typing comes behind; None: power-on."""
        marks = {name: mark.after for name, mark in self.marks.items()}
        return {**marks, **{name: typed.after for name, typed in self.typed.items()}}
