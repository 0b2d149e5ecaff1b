"""What is written to the console, and how many terminals are looked for or made."""

import re

from bootlab.system import System
from bootlab.techniques.changes.command_line import kernel_words
from bootlab.techniques.changes.kernel_options import option_value
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import any_of, console_falls_silent, fact_falls, never_runs
from bootlab.techniques.model.published import BOOTLIN_SLIDES, CROZAT_2008, Published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Technique, Text


def _obeys_its_level(system: System, measured: Measured) -> str | None:
    if "ignore_loglevel" in system.kernel.cmdline.split():
        return "ignore_loglevel on the command line shows every message all the same"
    return None


def _has_uart_option(system: System, measured: Measured) -> str | None:
    # Ports are looked for at fixed places on x86-64 only (asm/serial.h).
    arch = system.machine.arch
    if arch != "x86_64":
        return f"the kernel looks for serial ports that nothing names on x86-64 only; this system is {arch}"
    if other := re.search(r"(?<!\S)console=(ttyS[1-9]\d*)", system.kernel.cmdline):
        return f"the console is {other[1]}, and the first port alone would stay"
    built = option_value(system, measured, "SERIAL_8250_RUNTIME_UARTS")
    return f"SERIAL_8250_RUNTIME_UARTS is {built} already" if built in ("0", "1") else None


_WRITERS = ("univ8250_console_write", "serial8250_console_write", "pl011_console_write", "hvc_console_print")


def _has_legacy_ptys(system: System, measured: Measured) -> str | None:
    config = measured.kernel_config
    if config and config.get("LEGACY_PTYS") != "y":
        return "the kernel has no legacy ptys (CONFIG_LEGACY_PTYS)"
    return None if measured.facts.get("legacy_ptys") != "0" else "the kernel makes none"


TECHNIQUES = (
    Technique(
        name="cmdline_quiet",
        text=Text(
            summary="keeps the kernel's messages off the console",
            mechanism=(
                "Every message a console shows is written byte by byte by the CPU that logged it, polling "
                "the UART's line status before each byte. printk() still formats and stores the message, "
                "so dmesg keeps it; only the writing is gone. On a real line at 115200 baud each byte is "
                "87 us."
            ),
            cost=(
                "errors during boot are not on the console; they are still in dmesg, and a panic is "
                "printed all the same"
            ),
            risk=Risk.NONE,
            published=(
                Published("-1.07 s on SAMA5D3 (Linux 3.10)", BOOTLIN_SLIDES),
                Published("nested Firecracker 2.71 -> 1.37 s", "ARC: arcboxlabs/arcbox issue 558"),
                Published("about -2.5 s kernel and -2.5 s user", "OPV: Openvario/meta-openvario issue 265"),
            ),
        ),
        change=kernel_words("quiet loglevel=0", _obeys_its_level),
        # A console without stamps (PRINTK_TIME) shows nothing: then the drivers that no longer write do.
        proof=any_of(console_falls_silent(), never_runs(*_WRITERS)),
        removes=Removes(
            "writing of messages to the console",
            functions=(*_WRITERS, "vt_console_print", "record_print_text"),
        ),
    ),
    Technique(
        name="cmdline_8250_nr_uarts",
        text=Text(
            summary="probes one serial port instead of the four that the kernel is built for",
            mechanism=(
                "serial8250_init() registers and probes CONFIG_SERIAL_8250_RUNTIME_UARTS ports, each with "
                "its own device, whether or not there is hardware. The first port stays, because the "
                "console is there."
            ),
            cost=(
                "on 6.1 a second serial port is not found; 6.12 finds one that the firmware names "
                "(serial8250_register_8250_port())"
            ),
            risk=Risk.FUNCTION,
            published=(
                Published(
                    "34 ms upper bound on a laptop",
                    "MENZEL-1: lkml 1804.0/00015; the limit itself is in FC: Firecracker's default command line, as "
                    "8250.nr_uarts=0",
                ),
            ),
        ),
        change=kernel_words("8250.nr_uarts=1", _has_uart_option),
        proof=fact_falls("ttyS_count"),
        removes=Removes("probing of serial ports", functions=("serial8250_init",)),
    ),
    Technique(
        name="cmdline_no_legacy_ptys",
        text=Text(
            summary="makes no legacy pseudo terminals: programs have used /dev/pts since 1998",
            mechanism=(
                "With CONFIG_LEGACY_PTYS the kernel makes up to 256 pairs of BSD-style terminals at start, "
                "each a device of which udev is told, and each of which it looks up in all of its rules."
            ),
            cost="a program that opens /dev/ptyp0 finds none",
            risk=Risk.FUNCTION,
            published=(Published("2 s of full and perceived boot time, for 256 of them", CROZAT_2008),),
        ),
        change=kernel_words("pty.legacy_count=0", _has_legacy_ptys),
        proof=fact_falls("legacy_ptys"),
        removes=Removes("making of legacy pseudo terminals", functions=("legacy_pty_init",)),
    ),
)
