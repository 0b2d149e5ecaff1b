"""A system's target: a real board, its clock and its own kernel."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import System, read_system
from tests.system.files import _read_board

SERIAL_BOARD = """
[machine]
type = "armv7-board"
[target]
kind = "serial"
port = "/dev/ttyUSB0"
power_on = ["usbrelay", "1=1"]
[booted]
console = "login:"
"""


def serial_board(tmp_path: Path, *changes: tuple[str, str]) -> System:
    text = SERIAL_BOARD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return _read_board(tmp_path, text)


def test_a_board_has_its_console_for_a_clock_and_its_own_kernel(tmp_path: Path) -> None:
    system = serial_board(tmp_path)
    assert (system.clock.kind.value, system.machine.arch, system.machine.cpu) == ("console", "armv7", "unknown")
    assert system.kernel.installed
    assert system.target is not None
    assert system.target.words("a && b") == ["sh", "-c", "a && b"]
    assert read_system(tmp_path / "board.toml") == system


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("armv7-board", "q35"), "machine.type 'q35' must be a board"),
        (("[machine]", '[clock]\nkind = "wall"\n[machine]'), 'clock.kind = "console" is the clock of a board'),
        (("power_on = [", "power_off = ["), "give exactly one of power_on"),
        (('"serial"', '"serial"\nlabgrid = "place"'), "give exactly one of power_on"),
        (('"serial"', '"serial"\nzero = "("'), "target.zero: zero: not a regular expression"),
        (('"serial"', '"serial"\nmarks = { a = "(" }'), "target.marks: a: not a regular expression"),
        (('"serial"', '"serial"\ndeliver = "true"'), "kernel.installed is for a board that boots what is on it"),
        (("[booted]", '[kernel]\npackage = "linux"\n[booted]'), "target.deliver is missing"),
        (("[booted]", "[network]\n[booted]"), "are of an emulated machine"),
        (
            ("serial", "jtag"),
            "target.kind: input should be 'serial' or 'host' or 'ec2' or 'cloud' or 'firecracker' or "
            "'cloud-hypervisor' or 'replay', got 'jtag'",
        ),
        (('kind = "serial"\n', ""), "target.kind: missing"),
        (('"serial"', '"serial"\nbauds = 9600'), "target.bauds: unknown key"),
    ],
)
def test_a_board_that_cannot_be_is_named(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    with pytest.raises(InputError) as refused:
        serial_board(tmp_path, change)
    assert said in refused.value.message
    assert "board.toml:" in refused.value.message
