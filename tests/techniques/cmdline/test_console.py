"""Techniques of the console on the command line: which serial ports are looked for."""

from bootlab.system import System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured

ALL = {technique.name: technique for technique in load_catalogue()}
NOTHING = Measured({}, {}, {}, "")


def test_ports_that_nothing_names_are_looked_for_on_x86_alone(camera: System, system: System) -> None:
    # Its console is an 8250, which the device tree names.
    why = ALL["cmdline_8250_nr_uarts"].change.applies(camera, NOTHING)
    assert why == "the kernel looks for serial ports that nothing names on x86-64 only; this system is armv7"
    assert ALL["cmdline_8250_nr_uarts"].change.applies(system, NOTHING) is None
