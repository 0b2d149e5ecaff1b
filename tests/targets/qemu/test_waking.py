"""What the plugin is told of a machine that sleeps: how it is known to wake, and what wakes it in its own time."""

from typing import Any

import pytest

from bootlab.errors import InputError
from bootlab.sources import EXAMPLES
from bootlab.symbols.table import SymbolTable
from bootlab.system import PowerOn, PowerOnKind, System, read_system
from bootlab.targets.qemu.waking import is_woken_by_host, waking_lines

SYSTEM: dict[str, Any] = {
    "name": "sleeper",
    "machine": {"type": "q35"},
    "kernel": {"package": "linux-image-cloud-amd64"},
    "initramfs": {"bootlab_init": True, "sleep_agent": True},
    "booted": {"mark": "ready"},
}
RESET = f"image wake fffffff0 {'??' * 8} after suspending\n"


def read(**parts: Any) -> System:
    return System.model_validate({**SYSTEM, **parts})


def test_a_machine_that_its_host_wakes_has_no_time_of_its_own_while_it_sleeps() -> None:
    system = read(power_on={"kind": "suspended"})
    assert waking_lines(system, None) == RESET and is_woken_by_host(system)
    for awake in (read(), read(power_on={"kind": "cold"}, wake={"at_s": 5})):
        assert waking_lines(awake, None) == "" and not is_woken_by_host(awake)


def test_one_that_is_woken_later_goes_on_until_then() -> None:
    by_alarm = read(power_on={"kind": "suspended"}, wake={"by": "rtc", "at_s": 5})
    assert waking_lines(by_alarm, None) == RESET + "asleep suspending\n" and not is_woken_by_host(by_alarm)
    behind = read(power_on={"kind": "suspended"}, wake={"by": "key", "at": "asleep", "at_s": 3})
    assert waking_lines(behind, None).endswith("press wake 3000000000 asleep\n")
    by_key = read(power_on={"kind": "suspended"}, wake={"by": "key", "at_s": 0.5})
    assert waking_lines(by_key, None) == RESET + "asleep suspending\npress wake 500000000 suspending\n"


class Symbols(SymbolTable):
    """Functions of a kernel, and what they begin with."""

    def __init__(self) -> None:
        self.known = {"do_suspend_lowlevel": 0x1000, "wakeup_long64": 0x1100, "syscore_resume": 0x1200}

    def address(self, name: str) -> int | None:
        return self.known.get(name)

    def code(self, name: str, size: int) -> bytes | None:
        return b"\x0f" * size if name in self.known else None


def test_where_a_kernel_falls_asleep_is_a_mark() -> None:
    lines = waking_lines(read(power_on={"kind": "suspended"}), Symbols()).splitlines()
    assert "mark asleep 1000 0f0f0f0f0f0f0f0f after suspending" in lines
    assert "mark kernel_wakes 1100 0f0f0f0f0f0f0f0f" in lines


def test_a_kernel_that_nobody_sees_leave_its_idle_is_refused() -> None:
    with pytest.raises(InputError, match="no function s2idle_wake") as caught:
        waking_lines(read(power_on={"kind": "s2idle"}), None)
    assert "CONFIG_SUSPEND" in (caught.value.hint or "")


def test_where_a_kernel_goes_on_that_a_board_wakes_out_of_an_image_is_a_mark() -> None:
    board = read_system(EXAMPLES / "persistence/hibernated-board.toml")
    assert waking_lines(board, Symbols()) == ""
    woken = board.model_copy(update={"power_on": PowerOn(kind=PowerOnKind.HIBERNATED)})
    assert waking_lines(woken, Symbols()) == "mark kernel_wakes 1200 0f0f0f0f0f0f0f0f\n"
