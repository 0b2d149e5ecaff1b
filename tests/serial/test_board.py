"""A board on a serial line: an emulated PC that only a power command, a delivery and a pty connect with bootlab."""

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.cli.app import run
from bootlab.errors import InputError, MissingTool
from bootlab.importers.kernel import dmesg
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import read_system
from tests.serial.conftest import BANNER, WriteBoard
from tests.serial.null_modem import NullModem

pytestmark = [pytest.mark.boot, pytest.mark.network]

GUEST_LATE_NS = 5_000_000
"""From printk's stamp of a line to QEMU's serial port, on a busy machine: no property of the line or of its reader."""


def assert_between(record: BootRecord, modem: NullModem, one: tuple[str, bytes], other: tuple[str, bytes]) -> None:
    """The time between two marks is that between the lines that left the machine, within what the record states."""
    assert record.stamps is not None and record.stamps.uncertainty_ns is not None
    (begun,), (ended,) = modem.times_of(one[1]), modem.times_of(other[1])
    # How exactly the far end itself knows is no property of the target.
    within_ns = record.stamps.uncertainty_ns + max(begun.doubt_ns, ended.doubt_ns)
    measured_ns = record.marks[other[0]] - record.marks[one[0]]
    assert measured_ns == pytest.approx(ended.t_ns - begun.t_ns, abs=within_ns), record.stamps


def boot_once(path: Path, directory: Path) -> BootRecord:
    directory.mkdir()
    return boot(prepare(Workshop(Cache.default()), read_system(path)), directory)


@pytest.mark.promise("real board")
def test_marks_agree_with_the_guests_own_clock(write_board: WriteBoard, tmp_path: Path) -> None:
    target = '[target.marks]\nmemory = "Memory: .* available"'
    with NullModem(pipe=tmp_path / "line") as modem:
        board = write_board(modem, 'mark = "ready"\ndeadline_s = 240', target)
        record = boot_once(board, tmp_path / "boot")
    assert record.outcome is Outcome.READY, record.detail
    assert (record.clock, record.accelerator, record.argv[:2]) == ("console", "board", ["sh", "-c"])
    assert list(record.marks) == ["power_on", "kernel_banner", "memory", "init_exec", "ready"]
    assert record.stamps is not None
    assert record.stamps.byte_ns == 0
    # Against the machine's end of the line, which stamps what it passes on.
    for name, text in (("memory", b"Memory: "), ("init_exec", b"as init process"), ("ready", b"bootlab: mark ready")):
        assert_between(record, modem, ("kernel_banner", b"Linux version"), (name, text))
    # Against printk, whose clock a plain TCG guest has from the host's.
    clock = record.guest_clock
    assert clock is not None
    said = dmesg.parse((tmp_path / "boot" / "console.log").read_text(errors="replace")).lines
    (stamp_ns,) = [line.t_ns for line in said if line.t_ns is not None and "as init process" in line.text]
    assert record.marks["init_exec"] == pytest.approx(
        stamp_ns + clock.offset_ns, abs=clock.uncertainty_ns + GUEST_LATE_NS
    )


@pytest.mark.promise("real board")
def test_a_line_of_115200_baud_costs_what_its_bytes_take(write_board: WriteBoard, tmp_path: Path) -> None:
    with NullModem(115200, pipe=tmp_path / "line") as modem:
        board = write_board(modem, BANNER, 'baud = 115200\nzero = "^Probing EDD"')
        record = boot_once(board, tmp_path / "boot")
        assert record.outcome is Outcome.READY, record.detail
        assert record.stamps is not None
        assert (record.stamps.byte_ns, record.stamps.power_ns) == (86806, 0)
        # QEMU's UART is infinitely fast, this line is not: what lies between is what the bytes take, and more.
        assert_between(record, modem, ("power_on", b"Probing EDD"), ("ready", b"Linux version"))


@pytest.mark.promise("real board")
def test_a_series_and_a_trial(
    write_board: WriteBoard, modem: NullModem, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board, runs = write_board(modem), str(tmp_path / "runs")
    assert run(["measure", str(board), "-n", "3", "--json", "--runs", runs]) == 0
    series = json.loads(capsys.readouterr().out)
    assert (series["clock"], series["ready"]["n"]) == ("console", 3)
    assert len((tmp_path / "flash" / "delivered").read_text().splitlines()) == 1, "the same is not brought twice"
    words = ["cmdline_nokaslr", "machine_memory_half", "firmware_pvh", "--no-stack", "--seeds", "5", "--json"]
    assert run(["try", str(board), *words, "--runs", runs]) == 0
    alone = {row["technique"]: row for row in json.loads(capsys.readouterr().out)["alone"]}
    assert alone["machine_memory_half"]["verdict"] == alone["firmware_pvh"]["verdict"] == "does not apply"
    assert "emulated machine" in alone["machine_memory_half"]["detail"]
    assert alone["cmdline_nokaslr"]["verdict"] in ("faster", "slower", "no difference shown")
    assert alone["cmdline_nokaslr"]["ready_ns"] > 0
    delivered = (tmp_path / "flash" / "delivered").read_text().splitlines()
    assert any(line.endswith(" nokaslr") for line in delivered)
    assert not (tmp_path / "flash" / "pid").exists(), "the board is off"


def test_a_board_that_boots_what_is_on_it(modem: NullModem, tmp_path: Path) -> None:
    board = tmp_path / "installed.toml"
    board.write_text(
        f'[machine]\ntype = "armv7-board"\n[target]\nkind = "serial"\nport = "{modem.port}"\noff_s = 0\n'
        f"power_on = ['sh', '-c', 'printf \"U-Boot 2023.01\\nlogin: \" >{modem.machine}']\n"
        '[target.marks]\nuboot = "^U-Boot"\n[booted]\nconsole = "login:"\ndeadline_s = 20\n'
    )
    record = boot_once(board, tmp_path / "boot")
    assert record.outcome is Outcome.READY, record.detail
    assert list(record.marks) == ["power_on", "uboot", "ready"]
    assert (record.sizes, record.hashes) == ({}, {})


def bad_boot(write_board: WriteBoard, modem: NullModem, directory: Path, **words: Any) -> BootRecord:
    return boot_once(write_board(modem, 'console = "never"\ndeadline_s = 1.5', **words), directory)


@pytest.mark.promise("real board")
def test_bad_lines_and_bad_power_are_named(write_board: WriteBoard, modem: NullModem, tmp_path: Path) -> None:
    record = bad_boot(write_board, modem, tmp_path / "1", power_on="true")
    assert record.outcome is Outcome.HUNG
    assert "the console said nothing; is this the board's port" in record.detail

    power = "head -c 400 /dev/zero | tr '\\\\0' '\\\\370' >{machine}"
    record = bad_boot(write_board, modem, tmp_path / "2", power_on=power)
    assert record.outcome is Outcome.HUNG
    assert "garbage, as from a wrong baud rate" in record.detail

    record = bad_boot(write_board, modem, tmp_path / "3", power_on="echo relay: no such channel >&2; exit 7")
    assert record.outcome is Outcome.NOT_STARTED
    assert "target.power_on" in record.detail
    assert "exit status 7" in record.detail
    assert "relay: no such channel" in record.detail

    record = bad_boot(write_board, modem, tmp_path / "4", power_on="sleep 60", target="power_deadline_s = 0.5")
    assert record.outcome is Outcome.NOT_STARTED
    assert "not done after 0.5 s" in record.detail

    def unplug_when_it_has_spoken() -> None:
        while not modem.times_of(b"U-Boot"):
            time.sleep(0.05)
        # What nobody has read when a pty hangs up is thrown away.
        time.sleep(0.5)
        modem.unplug()

    unplugging = threading.Thread(target=unplug_when_it_has_spoken)
    unplugging.start()
    record = boot_once(
        write_board(modem, 'console = "never"\ndeadline_s = 60', power_on="echo U-Boot >{machine}"), tmp_path / "5"
    )
    unplugging.join()
    assert record.outcome is Outcome.TARGET_DIED
    assert "was the adapter unplugged?" in record.detail
    assert b"U-Boot" in (tmp_path / "5" / "console.log").read_bytes()


def test_ports_that_are_missing_and_places_without_labgrid(
    write_board: WriteBoard, modem: NullModem, tmp_path: Path
) -> None:
    board = write_board(modem)
    text = board.read_text()
    board.write_text(text.replace(modem.port, "/dev/ttyUSB99"))
    with pytest.raises(InputError, match="/dev/ttyUSB99: no such port"):
        boot_once(board, tmp_path / "1")
    lines = [line for line in text.splitlines() if not line.startswith("power_o")]
    board.write_text("\n".join(lines).replace('kind = "serial"', 'kind = "serial"\nlabgrid = "board-3"'))
    with pytest.raises(MissingTool, match="labgrid-client"):
        boot_once(board, tmp_path / "2")
