"""Build without terminals."""

from bootlab.system import ClockKind, System
from bootlab.techniques.build_options import off, option_technique
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Measured, Removes, Risk, Source


def _is_said_without(system: System, measured: Measured) -> str | None:
    check = system.check
    if system.booted.console is not None or (check is not None and check.console is not None):
        return "it is ready or checked by a line of its console, which goes too: booted.mark and check.mark do without"
    if system.clock.kind is not ClockKind.VIRTUAL:
        return "only the virtual clock sees the marks of a guest without a console"
    return None


TECHNIQUE = option_technique(
    name="kernel_tty_off",
    options=off("TTY"),
    gates={
        "EXPERT": "y",
        **off(
            "VT",
            "UNIX98_PTYS",
            "LEGACY_PTYS",
            "SERIAL_8250",
            "SERIAL_8250_CONSOLE",
            "SERIAL_8250_DW",
            "SERIAL_8250_NR_UARTS",
            "SERIAL_8250_RUNTIME_UARTS",
            "SERIAL_8250_16550A_VARIANTS",
            "SERIAL_8250_DEPRECATED_OPTIONS",
            "SERIAL_8250_PNP",
            "SERIAL_AMBA_PL011",
            "SERIAL_AMBA_PL011_CONSOLE",
        ),
    },
    needs=("TTY",),
    applies=_is_said_without,
    summary="builds without terminals: no serial driver, no virtual terminals, no console",
    mechanism=(
        "The terminal layer, its line disciplines and the drivers beneath it are set up in initcalls, and a "
        "serial port's driver waits for its chip; without them nothing is printed, either."
    ),
    cost="no console, no shell and no message of the kernel's, not even of a crash",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "none published", "named as a lead by D. Ventura, sequel of 'Minimizing Linux boot times' (draft, 2025)"
        ),
    ),
    shows=initcalls_gone("tty_init"),
    removes=Removes(
        "terminals",
        functions=(
            "tty_init",
            "pty_init",
            "vty_init",
            "serial8250_init",
            "of_platform_serial_driver_init",
            "pl011_init",
        ),
        shortens=("console_init",),
    ),
)
