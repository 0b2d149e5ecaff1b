"""The kernel's messages, and the terminals and serial ports that they are written to."""

from bootlab.system import ClockKind, System
from bootlab.techniques.changes.kernel_options import WantedOptions, if_above, off, rebuilt_kernel
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import initcalls_gone, line_appears, never_runs
from bootlab.techniques.model.published import BOOTLIN_2019, BOOTLIN_SLIDES, LINUX_612, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Text

_SHIFT = 15


def _is_said_without(system: System, measured: Measured) -> str | None:
    check = system.check
    if system.booted.console is not None or (check is not None and check.console is not None):
        return "it is ready or checked by a line of its console, which goes too: booted.mark and check.mark do without"
    if system.clock.kind is not ClockKind.VIRTUAL:
        return "only the virtual clock sees the marks of a guest without a console"
    return None


TECHNIQUES = (
    rebuilt_kernel(
        "kernel_printk_off",
        Text(
            summary="builds a kernel without messages: none is formatted, kept or printed",
            mechanism=(
                "Every printk() is compiled out with its text, so nothing is formatted, stored or sent to "
                "a slow console, and the kernel is smaller."
            ),
            cost="no kernel log at all, not even of a crash",
            risk=Risk.FUNCTION,
            published=(
                Published(
                    "-190 ms together with BUG and KALLSYMS, on top of quiet (767 - 577 ms); -118 KB with BUG",
                    BOOTLIN_2019,
                ),
                Published('"same effect as quiet", smaller kernel', BOOTLIN_SLIDES),
            ),
        ),
        WantedOptions(off("PRINTK"), gates={"EXPERT": "y"}, drops=("LOG_BUF_SHIFT",)),
        shows=never_runs("vprintk_emit"),
        removes=Removes("kernel messages", functions=("vprintk_emit", "vprintk_store", "console_unlock")),
    ),
    rebuilt_kernel(
        "kernel_log_buffer_small",
        Text(
            summary="builds with a log buffer of 32 KiB",
            mechanism=(
                "The buffer and the records that describe it lie in memory that is cleared before the "
                "kernel starts; distributions take 128 KiB to 2 MiB."
            ),
            cost="older messages are overwritten sooner",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, init/Kconfig"),),
        ),
        WantedOptions({"LOG_BUF_SHIFT": str(_SHIFT)}, needs=("PRINTK",), applies=if_above("LOG_BUF_SHIFT", _SHIFT)),
    ),
    rebuilt_kernel(
        "kernel_serial_fewer",
        Text(
            summary="builds the 8250 driver for one port, without plug and play and variants",
            mechanism=(
                "For each port the driver probes registers of a chip and waits for answers; a port that "
                "PNP finds is registered a second time, and the variants of the 16550A are told apart by "
                "more probing."
            ),
            cost="only the first serial port",
            risk=Risk.FUNCTION,
            published=(
                Published("660 ms in omap8250_platform_driver_init, not removed", BOOTLIN_2019),
                Published(
                    "serial8250_init 34 ms (laptop); univ8250_console_init 1.3 s (server)",
                    "MENZEL: lkml 1804.0/00015 and 2210.1/02811",
                ),
            ),
        ),
        WantedOptions(
            {
                "SERIAL_8250_NR_UARTS": "1",
                "SERIAL_8250_RUNTIME_UARTS": "1",
                **off("SERIAL_8250_PNP", "SERIAL_8250_16550A_VARIANTS", "SERIAL_8250_DEPRECATED_OPTIONS"),
            },
            gates={"EXPERT": "y"},
            needs=("SERIAL_8250",),
        ),
        shows=line_appears(r"8250/16550 driver, 1 ports"),
        removes=Removes(
            "probing of serial ports by PNP", functions=("serial8250_pnp_init",), shortens=("serial8250_init",)
        ),
    ),
    rebuilt_kernel(
        "kernel_tty_off",
        Text(
            summary="builds without terminals: no serial driver, no virtual terminals, no console",
            mechanism=(
                "The terminal layer, its line disciplines and the drivers beneath it are set up in "
                "initcalls, and a serial port's driver waits for its chip; without them nothing is "
                "printed, either."
            ),
            cost="no console, no shell and no message of the kernel's, not even of a crash",
            risk=Risk.FUNCTION,
            published=(
                none_published("named as a lead by D. Ventura, sequel of 'Minimizing Linux boot times' (draft, 2025)"),
            ),
        ),
        WantedOptions(
            off("TTY"),
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
        ),
        shows=initcalls_gone("tty_class_init", "pty_init"),
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
    ),
)
