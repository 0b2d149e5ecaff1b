"""Probe one serial port instead of four."""

from bootlab.techniques.cmdline import has_uart_option, kernel_words
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_8250_nr_uarts",
    words="8250.nr_uarts=1",
    summary="probes one serial port instead of the four that the kernel is built for",
    mechanism=(
        "serial8250_init() registers and probes CONFIG_SERIAL_8250_RUNTIME_UARTS ports, each with its own "
        "device, whether or not there is hardware. The first port stays, because the console is there."
    ),
    cost="a second serial port is not found",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "34 ms upper bound on a laptop",
            (
                "MENZEL-1: lkml 1804.0/00015; the limit itself is in FC: Firecracker's default command line, as "
                "8250.nr_uarts=0"
            ),
        ),
    ),
    prove=line_appears(r"8250/16550 driver, 1 port"),
    applies=has_uart_option,
    removes=Removes("probing of serial ports", functions=("serial8250_init",)),
)
