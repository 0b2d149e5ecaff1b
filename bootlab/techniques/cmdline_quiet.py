"""Keep the kernel log off the console."""

from bootlab.techniques.cmdline import kernel_words
from bootlab.techniques.evidence import fact_is
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_quiet",
    words="quiet loglevel=0",
    summary="keeps the kernel's messages off the console",
    mechanism=(
        "Every message a console shows is written byte by byte by the CPU that logged it, polling the UART's "
        "line status before each byte. printk() still formats and stores the message, so dmesg keeps it; only "
        "the writing is gone. On a real line at 115200 baud each byte is 87 us."
    ),
    cost=("errors during boot are not on the console; they are still in dmesg, and a panic is printed all the same"),
    risk=Risk.NONE,
    sources=(
        Source(
            "-1.07 s on SAMA5D3 (Linux 3.10)",
            "BL: Bootlin boot-time training slides, bootlin/training-materials 3d3e192",
        ),
        Source("nested Firecracker 2.71 -> 1.37 s", "ARC: arcboxlabs/arcbox issue 558"),
        Source("about -2.5 s kernel and -2.5 s user", "OPV: Openvario/meta-openvario issue 265"),
    ),
    prove=fact_is("printk", r"^0\b"),
    removes=Removes(
        "writing of messages to the console",
        functions=(
            "univ8250_console_write",
            "serial8250_console_write",
            "pl011_console_write",
            "vt_console_print",
            "hvc_console_print",
            "record_print_text",
        ),
    ),
)
