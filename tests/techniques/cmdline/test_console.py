"""Techniques of the console on the command line: which serial ports are looked for, and what is written to one."""

from collections.abc import Callable
from dataclasses import replace

from bootlab.system import System
from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, NOTHING

Make = Callable[..., Evidence]


def test_ports_that_nothing_names_are_looked_for_on_x86_alone(camera: System, system: System) -> None:
    # Its console is an 8250, which the device tree names.
    why = ALL["cmdline_8250_nr_uarts"].change.applies(camera, NOTHING)
    assert why == "the kernel looks for serial ports that nothing names on x86-64 only; this system is armv7"
    assert ALL["cmdline_8250_nr_uarts"].change.applies(system, NOTHING) is None


def test_the_port_that_the_console_is_on_stays(system: System) -> None:
    applies = ALL["cmdline_8250_nr_uarts"].change.applies
    other = system.with_part("kernel", cmdline="console=tty0 console=ttyS1,115200")
    assert applies(other, NOTHING) == "the console is ttyS1, and the first port alone would stay"
    one = replace(NOTHING, kernel_config={"SERIAL_8250_RUNTIME_UARTS": "1"})
    assert applies(system, one) == "SERIAL_8250_RUNTIME_UARTS is 1 already"


def test_ports_are_counted_and_not_what_the_driver_was_told(evidence: Make) -> None:
    prove = ALL["cmdline_8250_nr_uarts"].proof.prove
    said = "Serial: 8250/16550 driver, 1 ports, IRQ sharing enabled"
    assert prove(evidence(said, ttyS_count="1"), evidence(ttyS_count="4")) is Effect.PROVEN
    assert prove(evidence(said, ttyS_count="4"), evidence(ttyS_count="4")) is Effect.NONE
    assert prove(evidence(said), evidence()) is Effect.NOT_SHOWN


def test_silence_is_seen_on_the_console_itself(evidence: Make, system: System) -> None:
    technique = ALL["cmdline_quiet"]
    loud = "".join(f"[    0.0000{number:02}] message {number}\r\n" for number in range(20))
    facts = "bootlab: fact dmesg.1 [    0.000000] message 0\r\n" * 20
    quiet, before = (replace(evidence(printk=level), console=console + facts) for level, console in (
        ("0 4 1 7", "SeaBIOS\r\n"), ("7 4 1 7", loud)
    ))  # fmt: skip
    assert technique.proof.prove(quiet, before) is Effect.PROVEN
    # Told to be quiet, and loud all the same.
    assert technique.proof.prove(replace(quiet, console=loud), before) is Effect.NONE
    # A console without stamps: whether a driver writes to it. The level alone is what the word asked for.
    silent = evidence(printk="0 4 1 7")
    writes = replace(evidence(printk="7 4 1 7"), marks={"watch:serial8250_console_write": 5})
    assert technique.proof.prove(silent, writes) is Effect.PROVEN
    assert technique.proof.prove(replace(silent, marks=writes.marks), writes) is Effect.NONE
    assert technique.proof.prove(silent, evidence(printk="7 4 1 7")) is Effect.NOT_SHOWN
    stubborn = system.with_part("kernel", cmdline="console=ttyS0 ignore_loglevel")
    assert "shows every message" in (technique.change.applies(stubborn, NOTHING) or "")
