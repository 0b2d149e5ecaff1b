"""The kinds of traps are those of the plugin, each with its word, and each is some architecture's."""

import re
from pathlib import Path

from bootlab.price.classes import CLASSES_OF
from bootlab.price.traps import TRAPS_OF, TrapKind

PLUGIN = Path(__file__).parents[2] / "plugin"


def test_numbers_and_words_are_the_plugins() -> None:
    numbers = re.findall(r"^\tTRAP_(\w+) = (\d+),", (PLUGIN / "profile_format.h").read_text(), re.MULTILINE)
    assert [(name, int(number)) for name, number in numbers] == [(kind.name, kind.value) for kind in TrapKind]
    words = re.findall(r"\[TRAP_(\w+)\] = \"(\w+)\"", (PLUGIN / "config" / "price_lines.c").read_text())
    assert dict(words) == {kind.name: kind.word for kind in TrapKind if kind is not TrapKind.LOST}


def test_each_kind_is_of_an_architecture_and_registers_of_devices_of_both() -> None:
    assert TRAPS_OF.keys() == CLASSES_OF.keys()
    assert {kind for kinds in TRAPS_OF.values() for kind in kinds} == set(TrapKind) - {TrapKind.LOST}
    assert set(TRAPS_OF["x86_64"]) & set(TRAPS_OF["aarch64"]) == {TrapKind.MMIO_READ, TrapKind.MMIO_WRITE}
