"""A host of this very machine: its power, its answers, and marks from lines of its hardware."""

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError, MissingTool
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import read_system
from tests.serial.null_modem import NullModem


def boot_host(folder: Path, target: str, booted: str = "answered", deadline_s: float = 20) -> BootRecord:
    path, directory = folder / "host.toml", folder / "boot"
    directory.mkdir()
    path.write_text(
        f'[booted]\nmark = "{booted}"\ndeadline_s = {deadline_s}\n[target]\nkind = "host"\nhost = "127.0.0.1"\n'
        f'ping = false\nby = "connect"\n{target}\n'
    )
    return boot(prepare(Workshop(Cache(folder / "cache")), read_system(path)), directory)


def test_power_is_given_and_taken_and_a_machine_that_was_on_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = int(server.getsockname()[1])
        switch = f"power_on = 'echo on >>{tmp_path}/power'\npower_off = 'echo off >>{tmp_path}/power'\noff_s = 0"
        record = boot_host(tmp_path, f"ports = [{port}]\n{switch}")
    assert record.outcome is Outcome.READY, record.detail
    assert (tmp_path / "power").read_text().split() == ["off", "on", "off"]
    assert any("may have been up before time 0" in line for line in record.remarks)
    assert record.facts["asked"] == "127.0.0.1 every 10 ms by connect()"
    assert (record.clock, record.accelerator, record.argv[:2]) == ("outside", "host", ["sh", "-c"])


def test_power_that_fails_is_a_boot_not_started(tmp_path: Path) -> None:
    record = boot_host(tmp_path, "ports = [1]\npower_on = 'echo no relay >&2; exit 3'")
    assert record.outcome is Outcome.NOT_STARTED and "target.power_on" in record.detail and "no relay" in record.detail


def test_a_light_sensor_on_a_serial_line_marks_the_first_picture(tmp_path: Path) -> None:
    with NullModem(pipe=tmp_path / "line") as modem:

        def light_up() -> None:
            with open(modem.machine, "wb", buffering=0) as line:
                line.write(b"dark\n")
                time.sleep(0.3)
                line.write(b"light 812 lx\n")

        threading.Timer(1.0, light_up).start()
        lines = f'[target.lines.first_picture]\nport = "{modem.port}"\npattern = "^light"'
        record = boot_host(tmp_path, lines, "first_picture")
        (left,) = modem.times_of(b"light 812")
        (dark,) = modem.times_of(b"dark")
    assert record.outcome is Outcome.READY, record.detail
    assert record.marks["ready"] == record.marks["first_picture"] > left.t_ns - dark.t_ns


def test_a_gpio_line_that_is_not_there_is_said_before_anything_is_switched(tmp_path: Path) -> None:
    target = f"power_on = 'touch {tmp_path}/on'\n[target.lines.sound]\ngpio = \"/dev/gpiochip77:3\""
    with pytest.raises((InputError, MissingTool), match=r"target\.lines\.sound\.gpio"):
        boot_host(tmp_path, target)
    assert not (tmp_path / "on").exists()


@pytest.mark.skipif(not Path("/sys/bus/gpio").exists(), reason="needs the kernel's GPIO chips: gpio-sim")
@pytest.mark.hardware
def test_an_edge_of_a_simulated_gpio_line_is_a_mark(tmp_path: Path) -> None:
    """gpio-sim: a chip of eight lines in configfs, whose third is pulled up a second after the power."""
    pytest.importorskip("gpiod")
    config = Path("/sys/kernel/config/gpio-sim/bootlab")
    if not config.parent.is_dir():
        pytest.skip("needs the module gpio-sim")
    (config / "bank0").mkdir(parents=True)
    try:
        (config / "bank0" / "num_lines").write_text("8")
        (config / "live").write_text("1")
        chip = (config / "bank0" / "chip_name").read_text().strip()
        pull = f"/sys/devices/platform/{(config / 'dev_name').read_text().strip()}/{chip}/sim_gpio3/pull"
        target = f"power_on = '(sleep 1; echo pull-up >{pull}) &'\n[target.lines.picture]\ngpio = \"{chip}:3\""
        record = boot_host(tmp_path, target, "picture")
        assert record.outcome is Outcome.READY and record.marks["picture"] > 1_000_000_000
    finally:
        (config / "live").write_text("0")
        (config / "bank0").rmdir()
        config.rmdir()


def test_a_name_that_nobody_knows_is_a_boot_not_started(tmp_path: Path) -> None:
    (tmp_path / "boot").mkdir()
    path = tmp_path / "host.toml"
    path.write_text('[target]\nkind = "host"\nhost = "nobody.invalid"\nports = [22]\n')
    record = boot(prepare(Workshop(Cache(tmp_path / "cache")), read_system(path)), tmp_path / "boot")
    assert record.outcome is Outcome.NOT_STARTED and "no address" in record.detail
    assert os.listdir(tmp_path / "boot")
