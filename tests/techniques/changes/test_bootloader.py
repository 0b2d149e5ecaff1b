"""Bootloaders built anew: where that is possible, what is asked for, and what their console proves."""

from pathlib import Path

import pytest

from bootlab.system import Card, System
from bootlab.techniques.changes.bootloader import (
    console_changes,
    console_loses,
    finished_medium,
    no_uboot_proper,
    not_built,
    options_applies,
    with_bootloader_options,
)
from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import NOTHING

DELAY = {"BOOTDELAY": "0", "CMD_USB": "n"}


def said(console: str) -> Evidence:
    return Evidence({}, {}, {}, console, None)


def test_only_a_board_whose_medium_is_composed_has_a_bootloader_to_build(system: System, board: System) -> None:
    assert not_built(board) is None and finished_medium(board) is None
    assert not_built(system) == "machine.type 'q35' has no bootloader"
    finished = board.model_copy(update={"card": Card(path=Path("card.img")), "bootloader": None})
    assert not_built(finished) == "what the board boots from is finished (card.path)"
    assert no_uboot_proper(finished) == "what the board boots from is finished (card.path)"


def test_in_falcon_mode_uboot_proper_never_runs(board: System) -> None:
    falcon = board.with_part("bootloader", falcon=True)
    assert no_uboot_proper(board) is None
    assert no_uboot_proper(falcon) == "in Falcon mode U-Boot proper never runs"
    # Options of SPL mean something there.
    assert options_applies(lambda system: DELAY, unless=not_built)(falcon, NOTHING) is None


def test_options_are_asked_for_beside_those_of_the_system(board: System) -> None:
    applies, apply = options_applies(lambda system: DELAY), with_bootloader_options(lambda system: DELAY)
    some = board.with_part("bootloader", options={"BOOTDELAY": "3", "LOG": "y"})
    assert applies(some, NOTHING) is None
    changed = apply(some, NOTHING)
    assert changed.bootloader is not None
    assert changed.bootloader.options == {"BOOTDELAY": "0", "LOG": "y", "CMD_USB": "n"}
    assert applies(changed, NOTHING) == "bootloader.options say so already"


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ("baud 115200", "baud 921600", Effect.PROVEN),
        ("baud 115200", "baud 115200", Effect.NONE),
        ("baud 921600", "baud 921600", Effect.NOT_SHOWN),
        ("silence", "baud 921600", Effect.NOT_SHOWN),
        ("baud 115200", "silence", Effect.NOT_SHOWN),
    ],
)
def test_a_console_that_says_something_else(before: str, after: str, effect: Effect) -> None:
    assert console_changes(r"baud (\d+)", "9216..").prove(said(after), said(before)) is effect


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ("Hit any key", "Starting", Effect.PROVEN),
        ("Hit any key", "Hit any key", Effect.NONE),
        ("Starting", "Hit any key", Effect.NONE),
        ("Starting", "Starting", Effect.NOT_SHOWN),
    ],
)
def test_a_console_that_no_longer_says_it(before: str, after: str, effect: Effect) -> None:
    assert console_loses("any key").prove(said(after), said(before)) is effect
