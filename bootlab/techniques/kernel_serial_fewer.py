"""Build with one serial port."""

from bootlab.techniques.build_options import BOOTLIN_2019, off, option_technique
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_serial_fewer",
    options={
        "SERIAL_8250_NR_UARTS": "1",
        "SERIAL_8250_RUNTIME_UARTS": "1",
        **off("SERIAL_8250_PNP", "SERIAL_8250_16550A_VARIANTS", "SERIAL_8250_DEPRECATED_OPTIONS"),
    },
    gates={"EXPERT": "y"},
    needs=("SERIAL_8250",),
    summary="builds the 8250 driver for one port, without plug and play and variants",
    mechanism=(
        "For each port the driver probes registers of a chip and waits for answers; a port that PNP "
        "finds is registered a second time, and the variants of the 16550A are told apart by more "
        "probing."
    ),
    cost="only the first serial port",
    risk=Risk.FUNCTION,
    sources=(
        Source("660 ms in omap8250_platform_driver_init, not removed", BOOTLIN_2019),
        Source(
            "serial8250_init 34 ms (laptop); univ8250_console_init 1.3 s (server)",
            "MENZEL: lkml 1804.0/00015 and 2210.1/02811",
        ),
    ),
    shows=line_appears(r"8250/16550 driver, 1 ports"),
    removes=Removes(
        "probing of serial ports by PNP", functions=("serial8250_pnp_init",), shortens=("serial8250_init",)
    ),
)
